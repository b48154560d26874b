import * as z from 'zod'
import { RepoName, Timestamp } from './names.ts'
import { operation } from './operation.ts'
import { listOf } from './paging.ts'

export const SecretName = z
  .string()
  .max(64)
  .regex(/^[A-Z][A-Z0-9_]*$/, 'Use capital letters, digits and underscores, starting with a letter')
  .meta({
    description: 'What an extension names in `secret:NAME` and reads as `ctx.secrets.NAME`.',
    examples: ['API_TOKEN'],
  })

/** That a secret is there. Its value is never shown. */
export const RepoSecret = z.object({ secret: SecretName, updatedAt: Timestamp })
export type RepoSecret = z.infer<typeof RepoSecret>

const MAX_BYTES = 32 * 1024

const tag = 'Secrets'
const needs = 'repo:admin'
const ofSecret = z.object({ name: RepoName, secret: SecretName })

export const secrets = {
  set: operation('/secrets/set', {
    summary: 'Give the extensions of a repository a secret, or change it',
    tag,
    needs,
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE', 'QUOTA_EXCEEDED'],
  })
    .input(
      ofSecret.extend({
        value: z
          .string()
          .min(1)
          .refine(
            (value) => new TextEncoder().encode(value).length <= MAX_BYTES,
            `May have up to ${MAX_BYTES} bytes`,
          )
          .meta({ description: 'Up to 32 KiB. It is kept encrypted.', examples: ['s3cr3t'] }),
      }),
    )
    .output(RepoSecret),
  list: operation('/secrets/list', {
    summary: 'List the secrets of a repository, without their values',
    tag,
    needs,
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE'],
  })
    .input(z.object({ name: RepoName }))
    .output(listOf(RepoSecret)),
  delete: operation('/secrets/delete', {
    summary: 'Remove a secret',
    tag,
    needs,
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE'],
  })
    .input(ofSecret)
    .output(z.object({ deleted: z.boolean().describe('False when there was none.') })),
}
