import { randomUUIDv7 } from 'node:crypto'
import type { NewWebhook, Subscription, Webhook, WebhookSecretResult } from '@trellis/contract'
import { type Caller, requireThawed } from '../access/caller.ts'
import { type Author, by, bySystem, type EventsService } from '../events/service.ts'
import { subscriptionIssues } from '../events/subscriptions.ts'
import type { Clock } from '../platform/clock.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import type { Egress } from '../platform/egress.ts'
import { Fault, invalid, NotThere } from '../platform/fault.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { dropIn } from './dropping.ts'
import * as lines from './line-store.ts'
import type { GivenUp } from './line-worker.ts'
import { removeWebhook } from './pruning.ts'
import { parseReceiver, requireReachable } from './receivers.ts'
import type { Signing } from './signing.ts'
import * as store from './store.ts'
import { told } from './telling.ts'

interface WebhooksDeps {
  database: Database
  events: EventsService
  repos: ReposService
  egress: Egress
  signing: Signing
  clock: Clock
  limits: { webhooksPerRepo: number }
}

interface ByName {
  name: string
  webhook: string
}

interface WebhookInput extends ByName {
  url: string
  on: Subscription
  contentType: string
}

export type WebhooksService = ReturnType<typeof createWebhooksService>

/** Where events of a repository are delivered to, and what for. */
export function createWebhooksService(deps: WebhooksDeps) {
  const { database, events, repos, egress, signing, clock, limits } = deps

  /** A webhook of a repository the caller may administer. */
  async function open(caller: Caller, { name, webhook }: ByName): Promise<store.WebhookRow> {
    const find = async ({ id }: RepoRow) => {
      const found = await store.findWebhook(database.db, id, webhook)
      if (!found) throw unknownWebhook()
      return found
    }
    return find(await repos.open(caller, name, 'repo:admin', find))
  }

  async function openToChange(caller: Caller, input: ByName): Promise<store.WebhookRow> {
    const webhook = await open(caller, input)
    requireThawed(caller)
    return webhook
  }

  async function createIn(
    tx: Tx,
    caller: Caller,
    repo: RepoRow,
    { webhook, url, on, contentType }: WebhookInput,
  ) {
    const { secret, columns } = signing.first()
    const now = clock()
    await repos.lockIn(tx, repo.id)
    const count = await store.countWebhooks(tx, repo.id)
    const [created] = await store.insertWebhooks(tx, [
      {
        id: randomUUIDv7(),
        repo_id: repo.id,
        org_id: repo.org_id,
        name: webhook,
        url,
        subscription: JSON.stringify(on),
        content_type: contentType,
        module_hash: null,
        status: 'active',
        active: 1,
        ...columns,
        secret_shown: 1,
        removed_at: null,
        created_at: now,
        updated_at: now,
      },
    ])
    if (!created) throw invalid(['webhook'], 'This repository has a webhook of that name')
    const limit = limits.webhooksPerRepo
    if (count >= limit) throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit, observed: count })
    await events.append(tx, { ...told(by(caller), created), type: 'webhook.created' })
    return { ...present(created), secret }
  }

  /** The event comes before the line is touched: whoever appends events locks in that order. */
  async function disableIn(
    tx: Tx,
    author: Author,
    id: string,
    reason: 'requested' | GivenUp,
  ): Promise<boolean> {
    const webhook = await store.deactivate(tx, id, clock())
    if (!webhook) return false
    if (webhook.removed_at === null)
      await events.append(tx, { ...told(author, webhook, { reason }), type: 'webhook.disabled' })
    await dropIn(tx, [id])
    return true
  }

  return {
    open,

    async create(caller: Caller, input: WebhookInput): Promise<NewWebhook> {
      requireSubscription(input.on)
      const url = parseReceiver(input.url)
      const repo = await repos.open(caller, input.name, 'repo:admin')
      requireThawed(caller)
      await requireReachable(egress, url)
      return database.transact((tx) => createIn(tx, caller, repo, { ...input, url: url.href }))
    },

    async list(
      caller: Caller,
      { name, cursor, limit }: { name: string; cursor?: string | undefined; limit: number },
    ) {
      const repo = await repos.open(caller, name, 'repo:admin')
      const after = textCursor.decode(cursor) ?? ''
      const rows = await store.listWebhooks(database.db, { repoId: repo.id, after, limit: limit + 1 })
      const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.name))
      return { items: items.map(present), nextCursor }
    },

    get: async (caller: Caller, input: ByName): Promise<Webhook> => present(await open(caller, input)),

    /** What the repository declares is changed there. */
    async update(
      caller: Caller,
      input: ByName & {
        url?: string | undefined
        on?: Subscription | undefined
        contentType?: string | undefined
      },
    ): Promise<Webhook> {
      if (input.on) requireSubscription(input.on)
      const url = input.url === undefined ? undefined : parseReceiver(input.url)
      const webhook = await openToChange(caller, input)
      if (webhook.declared === 1) throw isDeclared(webhook, 'change it there, and promote that')
      const { id } = webhook
      if (url) await requireReachable(egress, url)
      return database.transact(async (tx) => {
        // What is not given stays out of the statement: somebody else may be changing it.
        const updated = await store.updateWebhook(tx, id, {
          url: url?.href,
          subscription: input.on && JSON.stringify(input.on),
          content_type: input.contentType,
          updated_at: clock(),
        })
        if (!updated) throw unknownWebhook()
        await events.append(tx, { ...told(by(caller), updated), type: 'webhook.updated' })
        // Another receiver has failed nobody yet.
        if (url) await lines.updateLine(tx, id, { origin: url.origin, failing_since: null })
        return present(updated)
      })
    },

    async enable(caller: Caller, input: ByName): Promise<Webhook> {
      const webhook = await openToChange(caller, input)
      if (webhook.active === 1) return present(webhook)
      return database.transact(async (tx) => {
        const enabled = await store.updateWebhook(tx, webhook.id, { active: 1, updated_at: clock() })
        if (!enabled) throw unknownWebhook()
        await events.append(tx, { ...told(by(caller), enabled), type: 'webhook.enabled' })
        await lines.updateLine(tx, webhook.id, { failing_since: null })
        return present(enabled)
      })
    },

    async disable(caller: Caller, input: ByName): Promise<Webhook> {
      const { id } = await openToChange(caller, input)
      return database.transact(async (tx) => {
        // One that is off may still have a redelivery pending.
        if (!(await disableIn(tx, by(caller), id, 'requested'))) await dropIn(tx, [id])
        const disabled = await store.findWebhookById(tx, id)
        if (!disabled) throw unknownWebhook()
        return present(disabled)
      })
    },

    /** Stops a webhook whose receiver is gone for good. */
    giveUp: (id: string, reason: GivenUp): Promise<boolean> =>
      database.transact((tx) => disableIn(tx, bySystem, id, reason)),

    async delete(caller: Caller, input: ByName): Promise<{ deleted: boolean }> {
      const webhook = await openToChange(caller, input)
      await database.transact(async (tx) => {
        if ((await store.hideWebhooks(tx, [webhook.id], clock())) === 0)
          throw webhook.declared === 1
            ? isDeclared(webhook, 'remove it there, and promote that, or disable it')
            : unknownWebhook()
        await events.append(tx, { ...told(by(caller), webhook), type: 'webhook.deleted' })
        await dropIn(tx, [webhook.id])
      })
      // Should this be cut short, pruning does the rest.
      await removeWebhook(database, webhook.id)
      return { deleted: true }
    },

    /** Gives a secret that nobody has seen, or a new one; the old one signs beside it for a day. */
    async secret(caller: Caller, input: ByName): Promise<WebhookSecretResult> {
      const { id } = await openToChange(caller, input)
      const now = clock()
      return database.transact(async (tx) => {
        const webhook = await store.updateWebhook(tx, id, { updated_at: now })
        if (!webhook) throw unknownWebhook()
        if (webhook.secret_shown === 0) {
          await store.updateWebhook(tx, id, { secret_shown: 1 })
          return { secret: signing.current(webhook) }
        }
        const { columns, ...result } = signing.rotate(webhook, now)
        await store.updateWebhook(tx, id, columns)
        const { previousSecretRetiresAt } = result
        await events.append(tx, {
          ...told(by(caller), webhook, { previousSecretRetiresAt }),
          type: 'webhook.secret.rotated',
        })
        return result
      })
    },
  }
}

function requireSubscription(on: Subscription): void {
  const issues = subscriptionIssues(on, ['on'])
  if (issues.length > 0) throw new Fault('BAD_REQUEST', { issues })
}

const isDeclared = ({ name }: store.WebhookRow, advice: string) =>
  invalid(['webhook'], `The repository declares this in webhooks/${name}/webhook.json: ${advice}`)

const unknownWebhook = () => new NotThere('WEBHOOK_NOT_FOUND', 'This repository has no webhook of that name')

function present(webhook: store.WebhookRow): Webhook {
  return {
    name: webhook.name,
    url: webhook.url,
    on: JSON.parse(webhook.subscription),
    contentType: webhook.content_type,
    hasPayload: webhook.module_hash !== null,
    moduleHash: webhook.module_hash,
    id: webhook.id,
    repoId: webhook.repo_id,
    secretPrefix: webhook.secret_prefix,
    active: webhook.active === 1,
    status: webhook.status,
    createdAt: webhook.created_at,
    updatedAt: webhook.updated_at,
  }
}
