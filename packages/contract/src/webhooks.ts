import * as z from 'zod'
import { ExtensionName, RepoName, Timestamp, Uuid } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageOf } from './paging.ts'
import { Subscription, WrittenSubscription } from './subscriptions.ts'
import { deliveries, WebhookDelivery } from './webhook-deliveries.ts'

const WebhookSecret = z.string().regex(/^webhsec_.*/)

export const Webhook = z.object({
  name: ExtensionName,
  url: z.url().meta({ examples: ['https://ci.example.com/hooks/trellis'] }),
  on: Subscription.default({}),
  contentType: z.unknown().default('application/json'),
  hasPayload: z.boolean().describe('Whether a module of the repository makes the body.'),
  moduleHash: z.string().nullable().describe('Of that module.'),
  id: Uuid,
  repoId: z.string(),
  secretPrefix: WebhookSecret.meta({
    description: 'How the signing secret begins.',
    examples: ['webhsec_4yHk'],
  }),
  active: z.boolean().describe('Whether events are delivered.'),
  status: z.enum(['active', 'orphaned']).describe('Orphaned: the repository no longer declares it.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Webhook = z.infer<typeof Webhook>

export const NewWebhook = Webhook.extend({
  secret: WebhookSecret.describe('Signs every delivery. Shown this once.'),
})
export type NewWebhook = z.infer<typeof NewWebhook>

export const WebhookSecretResult = z.object({
  secret: WebhookSecret,
  previousSecret: WebhookSecret.optional().describe('Signs beside the new one for a day.'),
  previousSecretRetiresAt: Timestamp.optional(),
})
export type WebhookSecretResult = z.infer<typeof WebhookSecretResult>

const tag = 'Webhooks'
const WebhookName = ExtensionName.meta({ examples: ['ci'] })
const byName = z.object({ name: RepoName, webhook: WebhookName })
const WebhookUrl = z
  .url({ protocol: /^https?$/, error: 'Give an http or https URL' })
  .max(2048)
  .meta({ examples: ['https://ci.example.com/hooks/trellis'] })
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
      z.strictObject({
        name: RepoName,
        webhook: WebhookName,
        url: WebhookUrl,
        on: WrittenSubscription.default({}).describe('Left out or empty: every event of the repository.'),
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
      byName
        .extend({
          url: WebhookUrl.optional(),
          on: WrittenSubscription.optional(),
          contentType: ContentType.optional(),
        })
        .strict()
        .meta({ examples: [{ name: 'hello', webhook: 'ci', on: { push: { branches: ['main'] } } }] }),
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
  deliveries,
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
