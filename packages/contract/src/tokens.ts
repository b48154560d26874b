import * as z from 'zod'
import { AccessScope, Id, IsoTime, RepoName, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { listOf } from './paging.ts'
import { RefPattern } from './rules.ts'

const TokenPrefix = z
  .string()
  .meta({ description: 'Its first characters, to tell it from others.', examples: ['trt_4yHk09Qm'] })
const TokenPurpose = z
  .string()
  .meta({ description: 'Why it exists.', examples: ['api', 'invite', 'run', 'import'] })

export const RepoToken = z.object({
  id: z.string(),
  artifactId: z.string().describe('The id of the stored git objects it opens.'),
  tokenPrefix: TokenPrefix,
  artifactsTokenId: z.string().describe('Its id in the store of git objects.'),
  scope: AccessScope,
  op: TokenPurpose,
  tokenOps: z.string().meta({ description: 'What git may do with it.', examples: ['fetch', 'fetch,push'] }),
  createdAt: Timestamp,
  expiresAt: IsoTime,
  revokedAt: IsoTime.nullable(),
})
export type RepoToken = z.infer<typeof RepoToken>

export const NewRepoToken = RepoToken.extend({
  secret: z.string().describe('The token itself. Shown this once.'),
  refs: z.array(z.string()).optional().describe('The refs it may move, when not all.'),
})
export type NewRepoToken = z.infer<typeof NewRepoToken>

export const TokenValidation = z
  .object({
    valid: z.boolean().describe('Whether git accepts it now.'),
    id: z.string().nullable(),
    artifactId: z.string().nullable().describe('The id of the stored git objects it opens.'),
    tokenPrefix: TokenPrefix.nullable(),
    scope: z
      .string()
      .nullable()
      .meta({ examples: ['read'] }),
    op: TokenPurpose.nullable(),
    expiresAt: IsoTime.nullable(),
    revokedAt: IsoTime.nullable(),
  })
  .describe('Everything but `valid` is null for a token that was never one.')
export type TokenValidation = z.infer<typeof TokenValidation>

export const MAX_TOKEN_TTL_SECONDS = 365 * 24 * 60 * 60

const tag = 'Tokens'

export const tokens = {
  list: operation('/tokens/list', {
    summary: 'List the tokens of a repository: all that work, and what ended in the last 30 days',
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
    .input(z.object({ token: Id.meta({ examples: ['trt_4yHk09QmZr7bXw2cVn5sLd8fTg1pKj3hUa6eYi'] }) }))
    .output(TokenValidation),
  create: operation('/tokens/create', {
    summary: 'Create an expiring token for one repository',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND', 'QUOTA_EXCEEDED'],
  })
    .input(
      // A word that is mistyped here would give more than was meant.
      z.strictObject({
        name: RepoName,
        scope: AccessScope.default('read'),
        ttlSeconds: z
          .int()
          .min(60)
          .max(MAX_TOKEN_TTL_SECONDS)
          .optional()
          .describe(
            'How long it works: a day when left out, or what is left of the credential that makes it. Never longer than the repository exists.',
          ),
        refs: z
          .array(RefPattern)
          .min(1)
          .max(32)
          .optional()
          .describe('The refs that a token with the scope `write` may move; all when left out.'),
      }),
    )
    .output(NewRepoToken),
  revoke: operation('/tokens/revoke', {
    summary: 'Revoke a repository token; false when the repository has no such live token',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(z.object({ name: RepoName, id: Id.meta({ examples: ['tok_01kdvt6x3c8m4q9r'] }) }))
    .output(z.object({ revoked: z.boolean() })),
}
