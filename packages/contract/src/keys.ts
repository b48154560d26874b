import * as z from 'zod'
import { DisplayName, Id, Scope, StringList } from './names.ts'
import { operation, unready } from './operation.ts'
import { listOf } from './paging.ts'

export const ApiKey = z.object({
  id: z.string(),
  name: z.string().meta({ examples: ['Build server'] }),
  prefix: z
    .string()
    .meta({ description: 'Its first characters, to tell it from others.', examples: ['trk_4yHk09Qm'] }),
  scopes: StringList.meta({ examples: [['repo:write', 'org:read']] }),
  enabled: z.boolean().describe('One that is disabled is refused until it is enabled again.'),
  expiresAt: z.int().nullable().describe('Unix milliseconds; null for a key without an end.'),
  lastUsedAt: z.int().nullable().describe('Unix milliseconds; null before the first use.'),
  createdAt: z.int().describe('Unix milliseconds.'),
})
export type ApiKey = z.infer<typeof ApiKey>

export const NewApiKey = ApiKey.extend({ secret: z.string().describe('The key itself. Shown this once.') })
export type NewApiKey = z.infer<typeof NewApiKey>

const tag = 'Keys'
const KeyId = Id.meta({ examples: ['key_01kdvt6x3c8m4q9r'] })
const Scopes = z
  .array(Scope)
  .min(1)
  .max(16)
  .meta({ examples: [['repo:write', 'org:read']] })
const ExpiresAt = z
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .nullable()
  .describe('Unix milliseconds; null for a key without an end.')

export const keys = {
  list: operation('/keys/list', {
    summary: "List the caller's own API keys in the acting organization",
    tag,
    needs: 'keys:read',
    errors: unready,
  })
    .input(z.object({}).optional())
    .output(listOf(ApiKey)),
  create: operation('/keys/create', {
    summary: 'Create an API key for the acting organization',
    tag,
    needs: 'keys:write',
    errors: ['QUOTA_EXCEEDED'],
  })
    .input(
      // A word that is mistyped here would give more than was meant.
      z.strictObject({
        name: DisplayName,
        scopes: Scopes.optional().describe(
          'Those of the credential that makes it, when left out, but for `account`, which has to be named. Sessions and keys with `account` can give it.',
        ),
        expiresAt: ExpiresAt.optional().describe(
          'Unix milliseconds. When left out, or null, it ends with the credential that makes it, or never.',
        ),
      }),
    )
    .output(NewApiKey),
  update: operation('/keys/update', {
    summary: 'Rename, narrow, expire, disable or enable an API key',
    tag,
    needs: 'keys:write',
    errors: ['KEY_NOT_FOUND'],
  })
    .input(
      z
        .strictObject({
          id: KeyId,
          name: DisplayName.optional(),
          scopes: Scopes.optional(),
          enabled: z.boolean().optional(),
          expiresAt: ExpiresAt.optional(),
        })
        .meta({ examples: [{ id: 'key_01kdvt6x3c8m4q9r', enabled: false }] }),
    )
    .output(ApiKey),
  revoke: operation('/keys/revoke', {
    summary: 'Revoke an API key for good',
    tag,
    needs: 'keys:write',
    errors: ['KEY_NOT_FOUND'],
  })
    .input(z.object({ id: KeyId }))
    .output(z.object({ revoked: z.boolean() })),
}
