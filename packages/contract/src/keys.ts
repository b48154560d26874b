import * as z from 'zod'
import { DisplayName, Id, Scope, StringList } from './names.ts'
import { operation, unready } from './operation.ts'
import { listOf } from './paging.ts'

export const ApiKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  scopes: StringList,
  enabled: z.boolean(),
  expiresAt: z.int().nullable(),
  lastUsedAt: z.int().nullable(),
  createdAt: z.int(),
})
export type ApiKey = z.infer<typeof ApiKey>

/** Shown once, in the answer that made it. */
export const NewApiKey = ApiKey.extend({ secret: z.string() })
export type NewApiKey = z.infer<typeof NewApiKey>

const tag = 'Keys'
const Scopes = z.array(Scope).min(1).max(16)
const ExpiresAt = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable()

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
    .input(z.object({ name: DisplayName, scopes: Scopes.optional(), expiresAt: ExpiresAt.optional() }))
    .output(NewApiKey),
  update: operation('/keys/update', {
    summary: 'Rename, narrow, expire, disable or enable an API key',
    tag,
    needs: 'keys:write',
    errors: ['KEY_NOT_FOUND'],
  })
    .input(
      z.object({
        id: Id,
        name: DisplayName.optional(),
        scopes: Scopes.optional(),
        enabled: z.boolean().optional(),
        expiresAt: ExpiresAt.optional(),
      }),
    )
    .output(ApiKey),
  revoke: operation('/keys/revoke', {
    summary: 'Revoke an API key for good',
    tag,
    needs: 'keys:write',
    errors: ['KEY_NOT_FOUND'],
  })
    .input(z.object({ id: Id }))
    .output(z.object({ revoked: z.boolean() })),
}
