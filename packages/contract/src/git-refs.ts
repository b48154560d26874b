import * as z from 'zod'
import { Apart, CommitSummary } from './git-commits.ts'
import { Message, Oid, Person, RepoName, Revision } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageLimit, pageOf } from './paging.ts'

export const GitRef = z
  .object({
    name: z.string().meta({ examples: ['main', 'v1.0', 'refs/notes/commits'] }),
    oid: z.string().meta({ examples: ['8ab686eafeb1f44702738c8b0f24f2567c36da6d'] }),
    type: z.enum(['branch', 'tag', 'other']),
  })
  .describe('Branches and tags by their short names, everything else by its full one.')
export type GitRef = z.infer<typeof GitRef>

const tag = 'Git refs'
const BranchName = z
  .string()
  .min(1)
  .meta({ examples: ['topic'] })
const TagName = z
  .string()
  .min(1)
  .meta({ examples: ['v1.0'] })
const ExpectedOid = Oid.optional().describe('Where it must be now. Not checked when left out.')
const refPage = Page.extend({ name: RepoName })
const refList = pageOf(GitRef).extend({ hasMore: z.boolean().describe('Whether there is a next page.') })
const deleted = z.object({ deleted: z.boolean() })

const listing = { tag, needs: 'repo:read', errors: ['REPO_NOT_FOUND'] } as const

export const refs = {
  list: operation('/git/refs/list', { ...listing, summary: 'List all refs of a repository by full name' })
    .input(refPage)
    .output(refList),
  search: operation('/git/refs/search', {
    ...listing,
    summary: 'Find branches and tags by a part of their name',
  })
    .input(
      z.object({
        name: RepoName,
        query: z
          .string()
          .trim()
          .min(1)
          .max(256)
          .meta({ description: 'In large or small letters.', examples: ['fix'] }),
        type: z.enum(['branch', 'tag']).optional().describe('Both when left out.'),
        limit: pageLimit(100, 50),
      }),
    )
    .output(
      z.object({
        items: z
          .array(GitRef)
          .describe(
            'The very name first, then those that begin with it, and last those that have it elsewhere.',
          ),
        truncated: z.boolean().describe('Whether more match than were asked for.'),
      }),
    ),
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
      'QUOTA_EXCEEDED',
      'REPO_WORKSPACE_REQUIRED',
    ],
  })
    .input(
      z.object({
        name: RepoName,
        ref: z
          .string()
          .min(1)
          .meta({ description: 'The full name.', examples: ['refs/heads/main'] }),
        oid: Oid.nullable().describe('Where to; null deletes.'),
        expectedOid: Oid.nullable()
          .optional()
          .describe(
            'Where it must be now; null for a ref that does not exist yet. Not checked when left out.',
          ),
        force: z.boolean().default(false).describe('Allow a branch to lose commits.'),
      }),
    )
    .output(GitRef.extend({ oid: z.string().nullable().describe('Null when it was deleted.') })),
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
    errors: [
      'REPO_NOT_FOUND',
      'GIT_OBJECT_NOT_FOUND',
      'REF_ALREADY_EXISTS',
      'QUOTA_EXCEEDED',
      'REPO_WORKSPACE_REQUIRED',
    ],
  })
    .input(
      z.object({
        name: RepoName,
        branch: BranchName,
        from: Revision.optional().describe('Where it begins; the default branch when left out.'),
      }),
    )
    .output(GitRef),
  compare: operation('/git/branches/compare', {
    summary: 'Tell how far branches are from another, and the last commit of each',
    tag,
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'],
  })
    .input(
      z.object({
        name: RepoName,
        base: Revision.optional().describe('What they are held against; the default branch when left out.'),
        branches: z
          .array(BranchName)
          .min(1)
          .max(100)
          .describe('Those that do not exist are left out of the answer.'),
      }),
    )
    .output(
      z.object({
        base: z
          .object({ name: z.string().meta({ examples: ['main'] }), oid: Oid })
          .nullable()
          .describe('Null where the default branch does not exist yet.'),
        items: z.array(
          z.object({
            name: z.string().meta({ examples: ['topic'] }),
            oid: Oid,
            ahead: Apart.describe('Commits it has that the base has not.'),
            behind: Apart.describe('Commits of the base that it has not.'),
            lastCommit: CommitSummary,
          }),
        ),
      }),
    ),
  delete: operation('/git/branches/delete', {
    summary: 'Delete a branch; false when there is none',
    tag,
    needs: 'repo:write',
    errors: ['REPO_NOT_FOUND', 'STALE_REF'],
  })
    .input(z.object({ name: RepoName, branch: BranchName, expectedOid: ExpectedOid }))
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
        tag: TagName,
        oid: Oid,
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
    .input(z.object({ name: RepoName, tag: TagName, expectedOid: ExpectedOid }))
    .output(deleted),
}
