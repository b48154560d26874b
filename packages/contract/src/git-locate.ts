import * as z from 'zod'
import { TreeEntry } from './git-contents.ts'
import { Oid, RepoName } from './names.ts'
import { operation } from './operation.ts'

export const locate = operation('/git/locate', {
  summary: 'Take an address apart: the ref it begins with, which may have slashes, and the path behind it',
  tag: 'Git contents',
  needs: 'repo:read',
  errors: ['REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'],
})
  .input(
    z.object({
      name: RepoName,
      address: z
        .string()
        .min(1)
        .max(8192)
        .meta({ description: 'A ref, or a ref and a path.', examples: ['main/src/hello.ts'] }),
    }),
  )
  .output(
    z.object({
      ref: z.string().meta({ description: 'The longest beginning that is one.', examples: ['main'] }),
      type: z.enum(['branch', 'tag', 'other', 'commit']).describe('What kind of ref, or a commit id.'),
      commit: Oid,
      path: z.string().meta({ description: 'Empty at the root.', examples: ['src/hello.ts'] }),
      entry: TreeEntry.nullable().describe('What is at the path; null at the root, and where nothing is.'),
    }),
  )
