import * as z from 'zod'
import { ExtensionName, RepoName, Timestamp, Uuid } from './names.ts'
import { operation } from './operation.ts'
import { Subscription } from './subscriptions.ts'

const WebhookSecret = z.string().regex(/^webhsec_.*/)

export const Webhook = z.object({
  name: ExtensionName,
  url: z.url(),
  on: Subscription.default({}),
  contentType: z.unknown().default('application/json'),
  hasPayload: z.boolean(),
  moduleHash: z.string().nullable(),
  id: Uuid,
  repoId: z.string(),
  secretPrefix: WebhookSecret,
  active: z.boolean(),
  status: z.enum(['active', 'orphaned']),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Webhook = z.infer<typeof Webhook>

export const WebhookDelivery = z.object({
  id: Uuid,
  webhookId: Uuid,
  webhookName: ExtensionName,
  eventType: z.string().min(1),
  subject: z.string().nullable(),
  requestBodyDigest: z.string(),
  requestBodyTruncated: z.string(),
  responseStatus: z.int().nullable(),
  responseBodyTruncated: z.string().nullable(),
  durationMs: z.int().nullable(),
  attempt: z.int().min(0),
  status: z.enum(['pending', 'success', 'failed', 'dropped']),
  createdAt: Timestamp,
  deliveredAt: Timestamp.nullable(),
})
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

export const WebhookSecretResult = z.object({
  secret: WebhookSecret,
  previousSecret: WebhookSecret.optional(),
  previousSecretRetiresAt: Timestamp.optional(),
})
export type WebhookSecretResult = z.infer<typeof WebhookSecretResult>

const tag = 'Webhooks'
const byName = z.object({ name: RepoName, webhook: ExtensionName })
const family = [
  'REPO_NOT_FOUND',
  'FEATURE_UNAVAILABLE',
  'WEBHOOK_DELIVERY_NOT_FOUND',
  'WEBHOOK_DELIVERY_NOT_TERMINAL',
] as const

export const webhooks = {
  redeliver: operation('/webhooks/redeliver', {
    summary: 'Deliver the same body once more',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(z.object({ name: RepoName, deliveryId: Uuid }))
    .output(WebhookDelivery),
  disable: operation('/webhooks/disable', {
    summary: 'Stop a webhook and drop what is pending for it',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(byName)
    .output(Webhook),
  secret: operation('/webhooks/secret', {
    summary: 'Rotate the signing secret of a webhook; the old one keeps signing beside it for a day',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(byName)
    .output(WebhookSecretResult),
}
