import * as z from 'zod'
import { Commit } from './git-commits.ts'
import { Oid, RepoName, Revision } from './names.ts'
import { operation } from './operation.ts'

const FileMode = z
  .string()
  .meta({ description: 'As git writes it; zeros for no file.', examples: ['100644'] })

export const FileChange = z.object({
  path: z.string().meta({ examples: ['src/hello.ts'] }),
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'type-changed']),
  previousPath: z.string().optional().describe('Where a renamed file was.'),
  oldMode: FileMode,
  newMode: FileMode,
  oldOid: z.string(),
  newOid: z.string(),
  additions: z.int().describe('Lines.'),
  deletions: z.int().describe('Lines.'),
  binary: z.boolean(),
  patch: z.string().optional().describe('Unified diff; absent beyond the limits.'),
})
export const compare = operation('/git/compare', {
  summary: 'Compare two revisions: commits, files and patches, bounded',
  tag: 'Git commits',
  needs: 'repo:read',
  errors: ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'],
})
  .input(
    z.object({
      name: RepoName,
      base: Revision,
      head: Revision.meta({ examples: ['topic'] }),
      mode: z
        .enum(['three-dot', 'two-dot'])
        .default('three-dot')
        .describe('What head did since it left base (three-dot), or the two as they are (two-dot).'),
      patches: z.boolean().default(true).describe('Whether to give the patch of each file.'),
    }),
  )
  .output(
    z.object({
      base: Oid,
      head: Oid,
      mergeBase: Oid.nullable().describe('Null when the two share no history.'),
      ahead: z.int().describe('Commits of head that base does not have.'),
      behind: z.int().describe('Commits of base that head does not have.'),
      commits: z.array(Commit),
      moreCommits: z.boolean().describe('There are more than are listed.'),
      files: z.array(FileChange),
      filesTruncated: z.boolean().describe('There are more than are listed.'),
      total: z.object({ files: z.int(), additions: z.int(), deletions: z.int() }),
    }),
  )
