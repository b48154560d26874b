import * as z from 'zod'
import { Oid, RepoName, Revision } from './names.ts'
import { operation } from './operation.ts'
import { NextCursor, Page } from './paging.ts'

export const grep = operation('/git/grep', {
  summary: 'Find lines with a text in the files of a commit',
  tag: 'Git contents',
  needs: 'repo:read',
  errors: ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'],
})
  .input(
    Page.extend({
      name: RepoName,
      ref: Revision.optional().describe('The default branch when left out.'),
      query: z
        .string()
        .min(1)
        .max(256)
        .regex(/^[^\0\r\n]*$/, 'Give a part of one line')
        .meta({ description: 'A part of a line, which stands for itself: no pattern.', examples: ['hello'] }),
      path: z
        .string()
        .min(1)
        .optional()
        .meta({ description: 'Only in this file, or below this directory.', examples: ['src'] }),
      globs: z
        .array(z.string().min(1).max(256))
        .max(16)
        .optional()
        .meta({
          description: 'Only in files whose paths match one of these, and none of those that begin with `!`.',
          examples: [['**/*.ts']],
        }),
      caseSensitive: z
        .boolean()
        .default(false)
        .describe('Whether `A` is another letter than `a`; of other alphabets it always is.'),
    }),
  )
  .output(
    z.object({
      commit: Oid.describe('What the revision stood for.'),
      items: z
        .array(
          z.object({
            path: z.string().meta({ examples: ['src/hello.ts'] }),
            line: z.int().min(1),
            text: z.string().describe('The line; of a long one, what is around the first match in it.'),
            clipped: z.boolean().describe('The line is longer than that.'),
          }),
        )
        .describe('In the order of the paths; binary files are left out.'),
      nextCursor: NextCursor,
      truncated: z
        .boolean()
        .describe('There may be more: a thousand lines were found, or it took longer than is allowed.'),
    }),
  )
