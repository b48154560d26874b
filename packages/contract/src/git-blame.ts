import * as z from 'zod'
import { CommitSummary } from './git-commits.ts'
import { Oid, RepoName, Revision } from './names.ts'
import { operation } from './operation.ts'

const Line = z.int().min(1)

export const blame = operation('/git/blame', {
  summary: 'Tell which commit each line of a file comes from, up to 1,000 lines at a time',
  tag: 'Git contents',
  needs: 'repo:read',
  errors: ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'],
})
  .input(
    z.object({
      name: RepoName,
      ref: Revision.optional().describe('The default branch when left out.'),
      path: z
        .string()
        .min(1)
        .meta({ description: 'A text of up to 2 MiB.', examples: ['src/hello.ts'] }),
      startLine: Line.default(1),
      endLine: Line.optional().describe('The last one, and that of the file when left out.'),
    }),
  )
  .output(
    z.object({
      commit: Oid.describe('What the revision stood for.'),
      path: z.string(),
      oid: Oid.describe('Of the contents.'),
      lines: z.int().min(0).describe('How many the file has.'),
      ranges: z
        .array(
          z.object({
            startLine: Line,
            endLine: Line,
            commit: Oid,
            originalPath: z.string().describe('What the file was called then.'),
            originalLine: Line.describe('Where the first of the lines was then.'),
          }),
        )
        .describe('In the order of the lines.'),
      commits: z.array(CommitSummary).describe('Those of the ranges, each once.'),
      nextLine: Line.nullable().describe('Give it as `startLine` to read on; null at the end.'),
    }),
  )
