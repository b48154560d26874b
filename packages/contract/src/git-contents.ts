import * as z from 'zod'
import { RepoName } from './names.ts'
import { operation } from './operation.ts'
import { Page } from './paging.ts'

export const TreeEntry = z.object({
  name: z.string(),
  path: z.string(),
  mode: z.string(),
  type: z.enum(['blob', 'tree', 'commit']),
  oid: z.string(),
  /** Of blobs. */
  size: z.int().optional(),
})
export type TreeEntry = z.infer<typeof TreeEntry>

/** The largest blob a read gives whole. */
export const MAX_BLOB_BYTES = 10 * 1024 * 1024

const tag = 'Git contents'
const RevisionText = z.string().min(1)
const errors = ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'] as const

export const trees = {
  get: operation('/git/trees/get', {
    summary: 'List a directory at a revision',
    tag,
    needs: 'repo:read',
    errors,
  })
    .input(
      Page.extend({
        name: RepoName,
        ref: RevisionText.optional(),
        /** The root when left out. */
        path: z.string().min(1).optional(),
      }),
    )
    .output(
      z.object({
        commit: z.string(),
        items: z.array(TreeEntry),
        nextCursor: z.string().nullable(),
      }),
    ),
}

export const blobs = {
  get: operation('/git/blobs/get', {
    summary: 'Read a file, by path at a revision or by blob id',
    tag,
    needs: 'repo:read',
    errors,
  })
    .input(
      z.object({
        name: RepoName,
        oid: z.string().min(1).optional(),
        ref: RevisionText.optional(),
        path: z.string().min(1).optional(),
      }),
    )
    .output(
      z.object({
        oid: z.string(),
        size: z.int(),
        /** Text is given as text, anything else as base64. */
        encoding: z.enum(['utf-8', 'base64']),
        content: z.string(),
      }),
    ),
}
