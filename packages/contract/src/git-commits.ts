import * as z from 'zod'
import { Message, Person, RepoName, Timestamp } from './names.ts'
import { operation } from './operation.ts'
import { Page, pageOf } from './paging.ts'

export const Signature = z.object({
  name: z.string(),
  email: z.string(),
  time: Timestamp,
  /** Such as +0200. */
  timezone: z.string(),
})
export type Signature = z.infer<typeof Signature>

export const Commit = z.object({
  oid: z.string(),
  tree: z.string(),
  parents: z.array(z.string()),
  author: Signature,
  committer: Signature,
  message: z.string(),
  /** Whether it carries a signature; not whether that is good. */
  signed: z.boolean(),
})
export type Commit = z.infer<typeof Commit>

export const FileChange = z.object({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'type-changed']),
  /** Where a renamed file was. */
  previousPath: z.string().optional(),
  oldMode: z.string(),
  newMode: z.string(),
  oldOid: z.string(),
  newOid: z.string(),
  additions: z.int(),
  deletions: z.int(),
  binary: z.boolean(),
  /** Unified diff; absent beyond the limits. */
  patch: z.string().optional(),
})

const tag = 'Git commits'
/** A commit id, a branch, a tag or a full ref name. */
const RevisionText = z.string().min(1)
const Path = z.string().min(1)
export const Change = z.discriminatedUnion('op', [
  z.object({
    op: z.literal('put'),
    path: Path,
    content: z.string(),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8'),
    /** Without one a file keeps its mode, and a new one is ordinary. */
    mode: z.enum(['100644', '100755', '120000']).optional(),
  }),
  z.object({ op: z.literal('delete'), path: Path }),
  z.object({ op: z.literal('move'), from: Path, to: Path }),
])

const readErrors = ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'] as const
const writeErrors = [
  'REPO_NOT_FOUND',
  'STALE_REF',
  'QUOTA_EXCEEDED',
  'GIT_REMOTE_WRITE_FAILED',
  'REPO_WORKSPACE_REQUIRED',
] as const

export const commits = {
  list: operation('/git/commits/list', {
    summary: 'List commits from a revision back, newest first',
    tag,
    needs: 'repo:read',
    errors: readErrors,
  })
    .input(Page.extend({ name: RepoName, ref: RevisionText.optional(), path: Path.optional() }))
    .output(pageOf(Commit)),
  get: operation('/git/commits/get', {
    summary: 'Read one commit',
    tag,
    needs: 'repo:read',
    errors: readErrors,
  })
    .input(z.object({ name: RepoName, ref: RevisionText }))
    .output(Commit),
  create: operation('/git/commits/create', {
    summary: 'Commit file changes to a branch without a clone',
    tag,
    needs: 'repo:write',
    errors: [...writeErrors, 'NON_FAST_FORWARD', 'INVALID_TREE', 'INVALID_PARENT'],
  })
    .input(
      z.object({
        name: RepoName,
        branch: z.string().min(1),
        message: Message,
        changes: z.array(Change).min(1).max(10_000),
        /** Where the branch must be: null for one that does not exist yet. Not checked when left out. */
        expectedHead: z.string().min(1).nullable().optional(),
        /** The commit to build on when the branch does not exist yet. */
        parent: z.string().min(1).optional(),
        author: Person.optional(),
        committer: Person.optional(),
      }),
    )
    .output(
      z.object({
        branch: z.string(),
        before: z.string().nullable(),
        /** Where the branch is now: the new commit, or the old one when the changes change nothing. */
        oid: z.string(),
        tree: z.string(),
        unchanged: z.boolean(),
      }),
    ),
}

export const compare = operation('/git/compare', {
  summary: 'Compare two revisions: commits, files and patches, bounded',
  tag,
  needs: 'repo:read',
  errors: readErrors,
})
  .input(
    z.object({
      name: RepoName,
      base: RevisionText,
      head: RevisionText,
      /** What head did since it left base (three-dot), or the two as they are (two-dot). */
      mode: z.enum(['three-dot', 'two-dot']).default('three-dot'),
      patches: z.boolean().default(true),
    }),
  )
  .output(
    z.object({
      base: z.string(),
      head: z.string(),
      mergeBase: z.string().nullable(),
      ahead: z.int(),
      behind: z.int(),
      commits: z.array(Commit),
      moreCommits: z.boolean(),
      files: z.array(FileChange),
      filesTruncated: z.boolean(),
      total: z.object({ files: z.int(), additions: z.int(), deletions: z.int() }),
    }),
  )

export const merge = operation('/git/merge', {
  summary: 'Merge a revision into a branch on the server; conflicts come back as data',
  tag,
  needs: 'repo:write',
  errors: [...writeErrors, 'GIT_OBJECT_NOT_FOUND'],
})
  .input(
    z.object({
      name: RepoName,
      branch: z.string().min(1),
      from: RevisionText,
      strategy: z.enum(['merge', 'fast-forward', 'squash']).default('fast-forward'),
      message: Message.optional(),
      expectedHead: z.string().min(1).optional(),
      author: Person.optional(),
    }),
  )
  .output(
    z.object({
      outcome: z.enum(['up-to-date', 'fast-forward', 'merged', 'conflict', 'unrelated']),
      branch: z.string(),
      /** Where the branch is now. */
      oid: z.string(),
      conflicts: z.array(z.object({ path: z.string(), kinds: z.array(z.string()) })),
      conflictsTruncated: z.boolean(),
    }),
  )
