import * as z from 'zod'
import { Message, Oid, Person, RepoName, Revision, Timestamp } from './names.ts'
import { operation } from './operation.ts'
import { Page, pageOf } from './paging.ts'

export const Signature = z.object({
  name: z.string().meta({ examples: ['Ana'] }),
  email: z.string().meta({ examples: ['ana@example.com'] }),
  time: Timestamp,
  timezone: z.string().meta({ examples: ['+0200'] }),
})
export type Signature = z.infer<typeof Signature>

export const Commit = z.object({
  oid: Oid,
  tree: Oid,
  parents: z.array(Oid),
  author: Signature,
  committer: Signature,
  message: z.string().meta({ examples: ['Say hello\n'] }),
  signed: z.boolean().describe('Whether it carries a signature; not whether that is good.'),
})
export type Commit = z.infer<typeof Commit>

/** A commit in one line, for lists of something else. */
export const CommitSummary = z.object({
  oid: Oid,
  summary: z
    .string()
    .max(256)
    .meta({ description: 'The first line of the message.', examples: ['Say hello'] }),
  author: Signature.pick({ name: true, email: true }),
  time: Timestamp.meta({ description: 'When it was committed.' }),
})
export type CommitSummary = z.infer<typeof CommitSummary>

/** How many commits one has and another has not. */
export const Apart = z
  .int()
  .nullable()
  .meta({ description: 'Null where it is too far to count.', examples: [2] })

const tag = 'Git commits'
const Path = z
  .string()
  .min(1)
  .meta({ examples: ['src/hello.ts'] })
const BranchName = z
  .string()
  .min(1)
  .meta({ examples: ['main'] })
export const Change = z.discriminatedUnion('op', [
  z.object({
    op: z.literal('put'),
    path: Path,
    content: z.string().meta({ examples: ['hello\n'] }),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('How `content` is written.'),
    mode: z
      .enum(['100644', '100755', '120000'])
      .optional()
      .describe('Without one a file stays executable, and any other is an ordinary file.'),
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
    .input(
      Page.extend({
        name: RepoName,
        ref: Revision.optional().describe('Where to begin; the default branch when left out.'),
        path: Path.optional().describe('Only commits that changed it.'),
      }),
    )
    .output(pageOf(Commit)),
  get: operation('/git/commits/get', {
    summary: 'Read one commit',
    tag,
    needs: 'repo:read',
    errors: readErrors,
  })
    .input(z.object({ name: RepoName, ref: Revision }))
    .output(Commit),
  create: operation('/git/commits/create', {
    summary: 'Commit file changes to a branch without a clone',
    tag,
    needs: 'repo:write',
    body: 'commit',
    errors: [...writeErrors, 'REF_ALREADY_EXISTS', 'NON_FAST_FORWARD', 'INVALID_TREE', 'INVALID_PARENT'],
  })
    .input(
      z.object({
        name: RepoName,
        branch: BranchName,
        message: Message,
        changes: z
          .array(Change)
          .min(1)
          .max(10_000)
          .meta({ examples: [[{ op: 'put', path: 'src/hello.ts', content: 'hello\n' }]] }),
        expectedHead: Oid.nullable()
          .optional()
          .describe(
            'Where the branch must be: null for one that does not exist yet. Not checked when left out.',
          ),
        parent: Revision.optional().describe('What to build on when the branch does not exist yet.'),
        author: Person.optional(),
        committer: Person.optional().describe('The author when left out.'),
      }),
    )
    .output(
      z.object({
        branch: z.string(),
        before: Oid.nullable().describe('Where the branch was; null when it is new.'),
        oid: Oid.describe('Where the branch is now: the new commit, or the old one when nothing changed.'),
        tree: Oid,
        unchanged: z.boolean().describe('The changes change nothing, so there is no new commit.'),
      }),
    ),
}

const MergeOutcome = z.enum(['up-to-date', 'fast-forward', 'merged', 'conflict', 'unrelated'])
const conflicting = {
  conflicts: z.array(
    z.object({
      path: z.string(),
      kinds: z.array(z.string()).meta({ description: "Git's words.", examples: [['contents']] }),
    }),
  ),
  conflictsTruncated: z.boolean().describe('There are more than are listed.'),
}

export const merge = operation('/git/merge', {
  summary: 'Merge a revision into a branch on the server; conflicts come back as data',
  tag,
  needs: 'repo:write',
  errors: [...writeErrors, 'GIT_OBJECT_NOT_FOUND'],
})
  .input(
    z.object({
      name: RepoName,
      branch: BranchName.describe('The branch to merge into.'),
      from: Revision.meta({ examples: ['topic'] }),
      strategy: z
        .enum(['merge', 'fast-forward', 'squash'])
        .default('fast-forward')
        .describe('A merge commit always, only where one is needed, or one commit with all changes.'),
      message: Message.optional(),
      expectedHead: Oid.optional().describe('Where the branch must be. Not checked when left out.'),
      author: Person.optional(),
    }),
  )
  .output(
    z.object({
      outcome: MergeOutcome,
      branch: z.string(),
      oid: Oid.describe('Where the branch is now.'),
      ...conflicting,
    }),
  )

export const mergePreview = operation('/git/mergePreview', {
  summary: 'Tell what a merge would come to, and where it would conflict; nothing changes',
  tag,
  needs: 'repo:read',
  errors: readErrors,
})
  .input(
    z.object({
      name: RepoName,
      branch: BranchName.describe('The branch to merge into.'),
      from: Revision.meta({ examples: ['topic'] }),
    }),
  )
  .output(
    z.object({
      outcome: MergeOutcome.describe(
        'Nothing to do, a fast-forward would do, a merge commit would be made, it would conflict, or the two share no history.',
      ),
      branch: z.string(),
      oid: Oid.describe('Where the branch is.'),
      from: Oid.describe('The commit that would be merged.'),
      ...conflicting,
    }),
  )
