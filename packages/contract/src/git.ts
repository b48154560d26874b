import * as z from 'zod'
import { RepoName } from './names.ts'
import { operation } from './operation.ts'
import { Page, pageOf } from './paging.ts'

export const GitRef = z.object({
  name: z.string(),
  oid: z.string(),
  type: z.enum(['branch', 'tag', 'other']),
})
export type GitRef = z.infer<typeof GitRef>

export const Tagger = z.object({
  name: z.string().min(1),
  email: z.email(),
  timestamp: z.int().optional(),
  timezoneOffset: z.int().optional(),
})

const tag = 'Git'

export const git = {
  branches: {
    list: operation('/git/branches/list', {
      summary: 'List the branches of a repository by name',
      tag,
      needs: 'repo:read',
      errors: ['REPO_NOT_FOUND'],
    })
      .input(Page.extend({ name: RepoName }))
      .output(pageOf(GitRef).extend({ hasMore: z.boolean() })),
  },
  tags: {
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
          oid: z.string().min(1),
          message: z.string().min(1).optional(),
          tagger: Tagger.optional(),
        }),
      )
      .output(GitRef),
  },
}
