import * as z from 'zod'
import { AccessScope, Id, RepoName, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { listOf } from './paging.ts'

export const RepoToken = z.object({
  id: z.string(),
  artifactId: z.string(),
  tokenPrefix: z.string(),
  artifactsTokenId: z.string(),
  scope: AccessScope,
  op: z.string(),
  tokenOps: z.string(),
  createdAt: Timestamp,
  expiresAt: z.string(),
  revokedAt: z.string().nullable(),
})
export type RepoToken = z.infer<typeof RepoToken>

/** Shown once, in the answer that made it. */
export const NewRepoToken = RepoToken.extend({ secret: z.string() })
export type NewRepoToken = z.infer<typeof NewRepoToken>

export const TokenValidation = z.object({
  valid: z.boolean(),
  id: z.string().nullable(),
  artifactId: z.string().nullable(),
  tokenPrefix: z.string().nullable(),
  scope: z.string().nullable(),
  op: z.string().nullable(),
  expiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
})
export type TokenValidation = z.infer<typeof TokenValidation>

export const MAX_TOKEN_TTL_SECONDS = 365 * 24 * 60 * 60

const tag = 'Tokens'

export const tokens = {
  list: operation('/tokens/list', {
    summary: 'List the tokens of a repository',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND', ...unready],
  })
    .input(z.object({ name: RepoName }))
    .output(listOf(RepoToken)),
  validate: operation('/tokens/validate', {
    summary: 'Tell whether a repository token is good, and for what',
    tag,
    admission: 'anyone',
    ignoresCredential: true,
    errors: unready,
  })
    .input(z.object({ token: Id }))
    .output(TokenValidation),
  create: operation('/tokens/create', {
    summary: 'Create an expiring token for one repository',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(
      z.object({
        name: RepoName,
        scope: AccessScope.default('read'),
        ttlSeconds: z.int().min(60).max(MAX_TOKEN_TTL_SECONDS).default(86_400),
      }),
    )
    .output(NewRepoToken),
  revoke: operation('/tokens/revoke', {
    summary: 'Revoke a repository token; false when the repository has no such live token',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(z.object({ name: RepoName, id: Id }))
    .output(z.object({ revoked: z.boolean() })),
}
