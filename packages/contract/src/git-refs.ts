import * as z from 'zod'
import { Message, Person, RepoName } from './names.ts'
import { operation } from './operation.ts'
import { Page, pageOf } from './paging.ts'

/** Branches and tags by their short names, everything else by its full one. */
export const GitRef = z.object({
  name: z.string(),
  oid: z.string(),
  type: z.enum(['branch', 'tag', 'other']),
})
export type GitRef = z.infer<typeof GitRef>

const tag = 'Git refs'
const OidText = z.string().min(1)
const RefText = z.string().min(1)
const refPage = Page.extend({ name: RepoName })
const refList = pageOf(GitRef).extend({ hasMore: z.boolean() })
const deleted = z.object({ deleted: z.boolean() })

const listing = (path: `/${string}`, summary: string) =>
  operation(path, { summary, tag, needs: 'repo:read', errors: ['REPO_NOT_FOUND'] })
    .input(refPage)
    .output(refList)

export const refs = {
  list: listing('/git/refs/list', 'List all refs of a repository by full name'),
  update: operation('/git/refs/update', {
    summary: 'Create, move or delete a ref by its full name, if it is where the caller thinks it is',
    tag,
    needs: 'repo:write',
    errors: [
      'REPO_NOT_FOUND',
      'GIT_OBJECT_NOT_FOUND',
      'REF_ALREADY_EXISTS',
      'STALE_REF',
      'NON_FAST_FORWARD',
      'GIT_REMOTE_WRITE_FAILED',
    ],
  })
    .input(
      z.object({
        name: RepoName,
        ref: RefText,
        /** Where to; null deletes. */
        oid: OidText.nullable(),
        /** Where it is now; null for a ref that does not exist yet. Not checked when left out. */
        expectedOid: OidText.nullable().optional(),
        /** Allow a branch to lose commits. */
        force: z.boolean().default(false),
      }),
    )
    .output(GitRef.extend({ oid: z.string().nullable() })),
}

export const branches = {
  list: listing('/git/branches/list', 'List the branches of a repository by name'),
  create: operation('/git/branches/create', {
    summary: 'Create a branch at a commit, or where another ref is',
    tag,
    needs: 'repo:write',
    errors: ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REF_ALREADY_EXISTS', 'GIT_REMOTE_WRITE_FAILED'],
  })
    .input(
      z.object({
        name: RepoName,
        branch: RefText,
        /** A commit id, branch or tag; the default branch when left out. */
        from: RefText.optional(),
      }),
    )
    .output(GitRef),
  delete: operation('/git/branches/delete', {
    summary: 'Delete a branch; false when there is none',
    tag,
    needs: 'repo:write',
    errors: ['REPO_NOT_FOUND', 'STALE_REF', 'GIT_REMOTE_WRITE_FAILED'],
  })
    .input(z.object({ name: RepoName, branch: RefText, expectedOid: OidText.optional() }))
    .output(deleted),
}

export const tags = {
  list: listing('/git/tags/list', 'List the tags of a repository by name'),
  create: operation('/git/tags/create', {
    summary: 'Create a tag: annotated with a message, lightweight without',
    tag,
    needs: 'repo:write',
    errors: ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REF_ALREADY_EXISTS', 'GIT_REMOTE_WRITE_FAILED'],
  })
    .input(
      z.object({
        name: RepoName,
        tag: z.string().min(1),
        oid: OidText,
        message: Message.optional(),
        tagger: Person.optional(),
      }),
    )
    .output(GitRef),
  delete: operation('/git/tags/delete', {
    summary: 'Delete a tag; false when there is none',
    tag,
    needs: 'repo:write',
    errors: ['REPO_NOT_FOUND', 'STALE_REF', 'GIT_REMOTE_WRITE_FAILED'],
  })
    .input(z.object({ name: RepoName, tag: RefText, expectedOid: OidText.optional() }))
    .output(deleted),
}
