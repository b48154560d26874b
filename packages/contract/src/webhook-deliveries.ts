import * as z from 'zod'
import { ExtensionName, RepoName, Timestamp, Uuid } from './names.ts'
import { operation } from './operation.ts'
import { Page, pageOf } from './paging.ts'

export const DeliveryStatus = z
  .enum(['pending', 'success', 'failed', 'dropped'])
  .describe('All but pending are final.')

export const WebhookDelivery = z.object({
  id: Uuid,
  webhookId: Uuid,
  webhookName: ExtensionName,
  eventType: z
    .string()
    .min(1)
    .meta({ examples: ['git.push'] }),
  subject: z
    .string()
    .nullable()
    .meta({ examples: ['refs/heads/main'] }),
  requestBodyDigest: z.string().describe('Of the whole body.'),
  requestBodyTruncated: z.string().describe('How the body begins.'),
  responseStatus: z.int().nullable().describe('Of the last attempt; null when there was no answer.'),
  responseBodyTruncated: z.string().nullable().describe('How the last answer began.'),
  durationMs: z.int().nullable().describe('Of the last attempt.'),
  attempt: z.int().min(0).describe('How many were made.'),
  status: DeliveryStatus,
  createdAt: Timestamp,
  deliveredAt: Timestamp.nullable(),
})
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

/** A delivery with what only its own listing tells. */
export const WebhookDeliveryDetail = WebhookDelivery.extend({
  error: z.string().nullable().describe('Why there was no answer to the last attempt.'),
  nextAttemptAt: Timestamp.nullable().describe(
    'When the next attempt is due, while the delivery is pending.',
  ),
})
export type WebhookDeliveryDetail = z.infer<typeof WebhookDeliveryDetail>

const tag = 'Webhooks'
const family = ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE'] as const

export const deliveries = {
  list: operation('/webhooks/deliveries/list', {
    summary: 'List deliveries, the newest first: of one webhook, or of all of the repository',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(
      Page.extend({
        name: RepoName,
        webhook: ExtensionName.optional(),
        status: DeliveryStatus.optional(),
      }),
    )
    .output(pageOf(WebhookDeliveryDetail)),
  get: operation('/webhooks/deliveries/get', {
    summary: 'Read one delivery',
    tag,
    needs: 'repo:admin',
    errors: [...family, 'WEBHOOK_DELIVERY_NOT_FOUND'],
  })
    .input(z.object({ name: RepoName, deliveryId: Uuid }))
    .output(WebhookDeliveryDetail),
}
