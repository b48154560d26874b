import * as z from 'zod'
import { OrgSlug, RepoName, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageOf } from './paging.ts'

export const Repo = z.object({
  name: z.string(),
  ownerId: z.string(),
  defaultBranch: z.string(),
  artifactId: z.string().nullable(),
  remote: z.string().nullable(),
  readOnly: z.boolean(),
  canWrite: z.boolean(),
  canAdmin: z.boolean(),
  sizeBytes: z.int().min(0),
  lastPushAt: z.string().nullable(),
  source: z.string().nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Repo = z.infer<typeof Repo>

const tag = 'Repositories'
const DefaultBranch = z.string().min(1).max(139)
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
        url: z.string().min(1).max(2048),
        /** Used for this import and kept nowhere. */
        credentials: z
          .object({ username: z.string().max(256), password: z.string().min(1).max(4096) })
          .optional(),
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
        newName: RepoName,
        /** The organization to fork into; the acting one when left out. */
        toOrg: OrgSlug.optional(),
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
  update: operation('/repos/update', {
    summary: 'Rename a repository, choose its default branch, make it read-only or writable again',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND', 'REPO_ALREADY_EXISTS'],
  })
    .input(
      z.object({
        name: RepoName,
        newName: RepoName.optional(),
        defaultBranch: DefaultBranch.optional(),
        readOnly: z.boolean().optional(),
      }),
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
}
