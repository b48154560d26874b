import * as z from 'zod'
import { Message, Person, RepoName } from './names.ts'
import { operation, unready } from './operation.ts'
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

const listing = { tag, needs: 'repo:read', errors: ['REPO_NOT_FOUND'] } as const

export const refs = {
  list: operation('/git/refs/list', { ...listing, summary: 'List all refs of a repository by full name' })
    .input(refPage)
    .output(refList),
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
      'REPO_WORKSPACE_REQUIRED',
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
  list: operation('/git/branches/list', {
    ...listing,
    summary: 'List the branches of a repository by name',
    errors: ['REPO_NOT_FOUND', ...unready],
  })
    .input(refPage)
    .output(refList),
  create: operation('/git/branches/create', {
    summary: 'Create a branch at a commit, or where another ref is',
    tag,
    needs: 'repo:write',
    errors: ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REF_ALREADY_EXISTS', 'REPO_WORKSPACE_REQUIRED'],
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
    errors: ['REPO_NOT_FOUND', 'STALE_REF'],
  })
    .input(z.object({ name: RepoName, branch: RefText, expectedOid: OidText.optional() }))
    .output(deleted),
}

export const tags = {
  list: operation('/git/tags/list', { ...listing, summary: 'List the tags of a repository by name' })
    .input(refPage)
    .output(refList),
  create: operation('/git/tags/create', {
    summary: 'Create a tag: annotated with a message, lightweight without',
    tag,
    needs: 'repo:write',
    errors: [
      'REPO_NOT_FOUND',
      'GIT_OBJECT_NOT_FOUND',
      'REF_ALREADY_EXISTS',
      'QUOTA_EXCEEDED',
      'GIT_REMOTE_WRITE_FAILED',
      ...unready,
    ],
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
    errors: ['REPO_NOT_FOUND', 'STALE_REF'],
  })
    .input(z.object({ name: RepoName, tag: RefText, expectedOid: OidText.optional() }))
    .output(deleted),
}
