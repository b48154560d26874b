import * as z from 'zod'
import { ExtensionName, RepoName, Timestamp, Uuid } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageOf } from './paging.ts'
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

const DeliveryStatus = z.enum(['pending', 'success', 'failed', 'dropped'])

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
  status: DeliveryStatus,
  createdAt: Timestamp,
  deliveredAt: Timestamp.nullable(),
})
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

/** A delivery with what only its own listing tells. */
export const WebhookDeliveryDetail = WebhookDelivery.extend({
  /** Why there was no answer to the last attempt. */
  error: z.string().nullable(),
  /** When the next attempt is due, while the delivery is pending. */
  nextAttemptAt: Timestamp.nullable(),
})
export type WebhookDeliveryDetail = z.infer<typeof WebhookDeliveryDetail>

/** As answered at creation, with the secret that signs every delivery. */
export const NewWebhook = Webhook.extend({ secret: WebhookSecret })
export type NewWebhook = z.infer<typeof NewWebhook>

export const WebhookSecretResult = z.object({
  secret: WebhookSecret,
  previousSecret: WebhookSecret.optional(),
  previousSecretRetiresAt: Timestamp.optional(),
})
export type WebhookSecretResult = z.infer<typeof WebhookSecretResult>

const tag = 'Webhooks'
const byName = z.object({ name: RepoName, webhook: ExtensionName })
const WebhookUrl = z.url({ protocol: /^https?$/, error: 'Give an http or https URL' }).max(2048)
const ContentType = z
  .string()
  .max(100)
  .regex(
    /^application\/([a-z0-9!#$&^_.+-]+\+)?json$/,
    'Bodies are JSON: use application/json or application/…+json',
  )
const family = ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE'] as const
/** The published interface lists these on all of its operations with webhooks. */
const published = [
  ...family,
  'WEBHOOK_DELIVERY_NOT_FOUND',
  'WEBHOOK_DELIVERY_NOT_TERMINAL',
  ...unready,
] as const

export const webhooks = {
  create: operation('/webhooks/create', {
    summary: 'Deliver events of a repository to a URL; the answer carries the signing secret, this once',
    tag,
    needs: 'repo:admin',
    errors: [...family, 'QUOTA_EXCEEDED'],
  })
    .input(
      z.object({
        name: RepoName,
        webhook: ExtensionName,
        url: WebhookUrl,
        /** Left out or empty: every event of the repository. */
        on: Subscription.default({}),
        contentType: ContentType.default('application/json'),
      }),
    )
    .output(NewWebhook),
  list: operation('/webhooks/list', {
    summary: 'List the webhooks of a repository by name',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(Page.extend({ name: RepoName }))
    .output(pageOf(Webhook)),
  get: operation('/webhooks/get', {
    summary: 'Read one webhook',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(byName)
    .output(Webhook),
  update: operation('/webhooks/update', {
    summary: 'Change where a webhook delivers to, or what it listens to',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(
      byName.extend({
        url: WebhookUrl.optional(),
        on: Subscription.optional(),
        contentType: ContentType.optional(),
      }),
    )
    .output(Webhook),
  enable: operation('/webhooks/enable', {
    summary: 'Let a disabled webhook deliver again; what was dropped stays dropped',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(byName)
    .output(Webhook),
  delete: operation('/webhooks/delete', {
    summary: 'Delete a webhook, with everything that is pending for it and the list of its deliveries',
    tag,
    needs: 'repo:admin',
    errors: family,
  })
    .input(byName)
    .output(z.object({ deleted: z.boolean() })),
  deliveries: {
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
  },
  redeliver: operation('/webhooks/redeliver', {
    summary: 'Deliver the same body once more',
    tag,
    needs: 'repo:admin',
    errors: published,
  })
    .input(z.object({ name: RepoName, deliveryId: Uuid }))
    .output(WebhookDelivery),
  disable: operation('/webhooks/disable', {
    summary: 'Stop a webhook and drop what is pending for it',
    tag,
    needs: 'repo:admin',
    errors: published,
  })
    .input(byName)
    .output(Webhook),
  secret: operation('/webhooks/secret', {
    summary: 'Rotate the signing secret of a webhook; the old one keeps signing beside it for a day',
    tag,
    needs: 'repo:admin',
    errors: published,
  })
    .input(byName)
    .output(WebhookSecretResult),
}
