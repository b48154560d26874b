import * as z from 'zod'
import { OrgSlug, RepoName } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageOf } from './paging.ts'
import { Repo } from './repo.ts'
import { RepoOverview } from './repo-overview.ts'

const tag = 'Repositories'
const DefaultBranch = z
  .string()
  .min(1)
  .max(139)
  .meta({ description: 'Need not exist yet.', examples: ['main'] })
const byName = z.object({ name: RepoName })

export const repos = {
  list: operation('/repos/list', {
    summary: 'List the repositories of the acting organization by name',
    tag,
    needs: 'repo:read',
    errors: unready,
  })
    .input(Page)
    .output(pageOf(Repo)),
  search: operation('/repos/search', {
    summary: 'Find repositories of the acting organization by a part of their name',
    tag,
    needs: 'repo:read',
  })
    .input(
      Page.extend({
        query: z
          .string()
          .trim()
          .min(1)
          .max(64)
          .regex(/^[^\0]*$/, 'NUL characters are not allowed')
          .meta({ description: 'In large or small letters.', examples: ['hel'] }),
      }),
    )
    .output(
      pageOf(Repo).describe(
        'Names that begin with it, then those that have it elsewhere. A page may have fewer than there is room for.',
      ),
    ),
  create: operation('/repos/create', {
    summary: 'Create an empty repository',
    tag,
    needs: 'repo:write',
    errors: ['REPO_ALREADY_EXISTS', 'QUOTA_EXCEEDED', ...unready],
  })
    .input(z.object({ name: RepoName, defaultBranch: DefaultBranch.default('main') }))
    .output(Repo),
  import: operation('/repos/import', {
    summary: 'Create a repository from one elsewhere, over HTTPS',
    tag,
    needs: 'repo:write',
    errors: ['REPO_ALREADY_EXISTS', 'QUOTA_EXCEEDED', 'IMPORT_FAILED'],
  })
    .input(
      z.object({
        name: RepoName,
        url: z
          .string()
          .min(1)
          .max(2048)
          .meta({
            description: 'An https address without credentials.',
            examples: ['https://git.example/a.git'],
          }),
        credentials: z
          .object({ username: z.string().max(256), password: z.string().min(1).max(4096) })
          .optional()
          .describe('Used for this import and kept nowhere.'),
      }),
    )
    .output(Repo),
  fork: operation('/repos/fork', {
    summary: 'Create a repository with the history of another, in constant time; independent from then on',
    tag,
    needs: 'repo:write',
    errors: ['REPO_NOT_FOUND', 'REPO_ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  })
    .input(
      z.object({
        name: RepoName,
        newName: RepoName.meta({ examples: ['hello-again'] }),
        toOrg: OrgSlug.optional().describe('The organization to fork into; the acting one when left out.'),
      }),
    )
    .output(Repo),
  get: operation('/repos/get', {
    summary: 'Read one repository',
    tag,
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(byName)
    .output(Repo),
  overview: operation('/repos/overview', {
    summary:
      'Read what the front page of a repository shows: its head, what it has, what is in force, its last runs',
    tag,
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'],
  })
    .input(byName)
    .output(RepoOverview),
  update: operation('/repos/update', {
    summary: 'Rename a repository, choose its default branch, make it read-only or writable again',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND', 'REPO_ALREADY_EXISTS'],
  })
    .input(
      z
        .object({
          name: RepoName,
          newName: RepoName.optional(),
          defaultBranch: DefaultBranch.optional(),
          readOnly: z.boolean().optional(),
        })
        .meta({ examples: [{ name: 'hello', defaultBranch: 'main' }] }),
    )
    .output(Repo),
  delete: operation('/repos/delete', {
    summary: 'Delete a repository and everything in it',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(byName)
    .output(z.object({ deleted: z.boolean() })),
  purge: operation('/repos/purge', {
    summary: 'Remove at once what no ref leads to any more, such as the commits of deleted branches',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND', ...unready],
  })
    .input(byName)
    .output(
      z.object({
        freedBytes: z.int().min(0),
        sizeBytes: z.int().min(0).describe('What the repository takes now.'),
      }),
    ),
}
