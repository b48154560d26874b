import * as z from 'zod'
import { CommitSummary } from './git-commits.ts'
import { Oid, RepoName, Revision } from './names.ts'
import { operation } from './operation.ts'
import { NextCursor, Page, pageLimit } from './paging.ts'

export const TreeEntry = z.object({
  name: z.string().meta({ examples: ['hello.ts'] }),
  path: z.string().meta({ examples: ['src/hello.ts'] }),
  mode: z.string().meta({ description: 'As git writes it.', examples: ['100644'] }),
  type: z.enum(['blob', 'tree', 'commit']).describe('A file, a directory or a submodule.'),
  oid: Oid,
  size: z.int().optional().describe('In bytes, of files.'),
})
export type TreeEntry = z.infer<typeof TreeEntry>

/** The largest blob a read gives whole. */
export const MAX_BLOB_BYTES = 10 * 1024 * 1024

const tag = 'Git contents'
const At = Revision.optional().describe('The default branch when left out.')
const Path = z
  .string()
  .min(1)
  .meta({ examples: ['src/hello.ts'] })
const directoryPage = Page.extend({
  name: RepoName,
  ref: At,
  path: Path.optional().describe('The root when left out.'),
})
const errors = ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'] as const

export const trees = {
  get: operation('/git/trees/get', {
    summary: 'List a directory at a revision',
    tag,
    needs: 'repo:read',
    errors,
  })
    .input(directoryPage)
    .output(
      z.object({
        commit: Oid.describe('What the revision stood for.'),
        items: z.array(TreeEntry),
        nextCursor: NextCursor,
      }),
    ),
  lastChanges: operation('/git/trees/lastChanges', {
    summary: 'Tell for each entry of a directory which commit changed it last',
    tag,
    needs: 'repo:read',
    errors,
  })
    .input(directoryPage)
    .output(
      z.object({
        commit: Oid.describe('What the revision stood for.'),
        items: z
          .array(
            z.object({
              name: z.string().meta({ examples: ['hello.ts'] }),
              commit: CommitSummary.nullable().describe('Null where it is not known.'),
            }),
          )
          .describe('As `git/trees/get` lists them, with the same pages.'),
        complete: z
          .boolean()
          .describe('False when history was followed only so far. Ask again: it goes on from there.'),
        nextCursor: NextCursor,
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
      z
        .object({
          name: RepoName,
          oid: Oid.optional(),
          ref: At,
          path: Path.optional(),
        })
        .meta({
          description: 'Either `oid`, or `path` with an optional `ref`.',
          examples: [{ name: 'hello', path: 'src/hello.ts' }],
        }),
    )
    .output(
      z.object({
        oid: Oid,
        size: z.int().describe('In bytes.'),
        encoding: z.enum(['utf-8', 'base64']).describe('Text is given as text, anything else as base64.'),
        content: z.string().meta({ examples: ['hello\n'] }),
      }),
    ),
}

export const files = operation('/git/files', {
  summary: 'Find files by name, or list the paths of all',
  tag,
  needs: 'repo:read',
  errors,
})
  .input(
    Page.extend({
      name: RepoName,
      ref: At,
      query: z
        .string()
        .max(256)
        .optional()
        .meta({
          description:
            'Words that are all in the path, in any case; a single one may be spread over it. All paths, page by page, when left out.',
          examples: ['hello'],
        }),
      limit: pageLimit(1000, 100),
    }),
  )
  .output(
    z.object({
      commit: Oid.describe('What the revision stood for.'),
      paths: z
        .array(z.string())
        .describe('The best matches first; without a query in the order of the tree.'),
      total: z.int().describe('How many files there are to find.'),
      truncated: z
        .boolean()
        .describe('More match than are listed, or there are more files than are looked at.'),
      nextCursor: NextCursor,
    }),
  )
