import * as z from 'zod'
import { Commit } from './git-commits.ts'
import { Oid, RepoName, Revision } from './names.ts'
import { operation } from './operation.ts'
import { NextCursor, Page } from './paging.ts'

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
const errors = ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'] as const
const Total = z.object({ files: z.int(), additions: z.int(), deletions: z.int() })
const Mode = z
  .enum(['three-dot', 'two-dot'])
  .default('three-dot')
  .describe('What head did since it left base (three-dot), or the two as they are (two-dot).')

export const compare = operation('/git/compare', {
  summary: 'Compare two revisions: commits, files and patches, bounded',
  tag: 'Git commits',
  needs: 'repo:read',
  errors,
})
  .input(
    z.object({
      name: RepoName,
      base: Revision,
      head: Revision.meta({ examples: ['topic'] }),
      mode: Mode,
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
      total: Total,
    }),
  )

export const diff = operation('/git/diff', {
  summary: 'Read what a commit changed, or how two revisions differ, a page of files at a time',
  tag: 'Git commits',
  needs: 'repo:read',
  errors,
})
  .input(
    Page.extend({
      name: RepoName,
      head: Revision,
      base: Revision.optional().describe(
        'Left out, the first parent of head: what that commit changed. A first commit has everything in it.',
      ),
      mode: Mode,
      path: z
        .string()
        .min(1)
        .optional()
        .meta({
          description: 'Only this file, with a longer patch than in a page.',
          examples: ['src/hello.ts'],
        }),
      context: z.int().min(0).max(10_000).default(3).describe('Lines around a change that are shown, too.'),
      ignoreWhitespace: z
        .boolean()
        .default(false)
        .describe('Leave out lines, and files, that differ in blanks alone.'),
      patches: z.boolean().default(true).describe('Whether to give the patch of each file.'),
    }),
  )
  .output(
    z.object({
      base: Oid.nullable().describe('The commit that head was held against; null for none.'),
      head: Oid,
      files: z.array(FileChange),
      nextCursor: NextCursor,
      total: Total.describe('Of all pages.'),
      filesTruncated: z.boolean().describe('There are more than all pages have.'),
    }),
  )
