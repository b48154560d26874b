import { randomUUIDv7 } from 'node:crypto'
import type { WebhookDelivery, WebhookDeliveryDetail } from '@trellis/contract'
import { type Caller, requireThawed } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import { ORPHANED } from './declared.ts'
import * as lines from './line-store.ts'
import type { WebhooksService } from './service.ts'
import * as store from './store.ts'

interface DeliveriesDeps {
  database: Database
  repos: ReposService
  webhooks: WebhooksService
  clock: Clock
  /** Something is due. */
  wake(): void
}

interface ById {
  name: string
  deliveryId: string
}

export type DeliveriesService = ReturnType<typeof createDeliveriesService>

/** What was delivered, what is still to be, and once more. */
export function createDeliveriesService({ database, repos, webhooks, clock, wake }: DeliveriesDeps) {
  async function open(caller: Caller, { name, deliveryId: id }: ById): Promise<store.ShownDeliveryRow> {
    const find = async (repo: RepoRow) => {
      const delivery = await store.findDelivery(database.db, repo.id, id)
      if (!delivery) throw new Fault('WEBHOOK_DELIVERY_NOT_FOUND', { id })
      return delivery
    }
    return find(await repos.open(caller, name, 'repo:admin', find))
  }

  return {
    async list(
      caller: Caller,
      {
        name,
        webhook,
        status,
        cursor,
        limit,
      }: {
        name: string
        webhook?: string | undefined
        status?: WebhookDelivery['status'] | undefined
        cursor?: string | undefined
        limit: number
      },
    ) {
      const listed = webhook === undefined ? undefined : await webhooks.open(caller, { name, webhook })
      const repo = await repos.open(caller, name, 'repo:admin')
      const rows = await store.listDeliveries(database.db, {
        repoId: repo.id,
        webhookId: listed?.id,
        status,
        before: textCursor.decode(cursor),
        limit: limit + 1,
      })
      const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.id))
      return { items: items.map(presentDetail), nextCursor }
    },

    get: async (caller: Caller, input: ById): Promise<WebhookDeliveryDetail> =>
      presentDetail(await open(caller, input)),

    /**
     * A new delivery of the same body. It is made even if the webhook is off: somebody asks for it. What no repository
     * declares any more is sent nowhere.
     */
    async redeliver(caller: Caller, input: ById): Promise<WebhookDelivery> {
      const earlier = await open(caller, input)
      requireThawed(caller)
      if (earlier.status === 'pending')
        throw new Fault('WEBHOOK_DELIVERY_NOT_TERMINAL', { id: input.deliveryId })
      if (earlier.digest === null)
        throw invalid(
          ['deliveryId'],
          'Its body was not kept: too much was pending. events/list has the event',
        )
      const { webhook_id, webhook_name, repo_id, message_id, made, bytes, event_type, subject, seq } = earlier
      const id = randomUUIDv7()
      return database.transact(async (tx) => {
        const now = clock()
        const delivery = {
          ...{ id, webhook_id, webhook_name, repo_id, message_id, made, bytes, event_type, subject, seq },
          created_at: now,
        }
        const webhook = await store.findWebhookById(tx, webhook_id)
        if (webhook?.status === 'orphaned') await lines.insertDropped(tx, [delivery], ORPHANED)
        else {
          await lines.enqueue(tx, [delivery], now)
          database.afterCommit(tx, wake)
        }
        const shown = await store.findDelivery(tx, repo_id, id)
        if (!shown) throw new Error('a delivery that was just made is not there')
        return present(shown)
      })
    },
  }
}

function present(row: store.ShownDeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    webhookName: row.webhook_name,
    eventType: row.event_type,
    subject: row.subject,
    // Until a module has made it there is none.
    requestBodyDigest: (row.made === 1 && row.digest) || '',
    requestBodyTruncated: (row.made === 1 && row.body_start) || '',
    responseStatus: row.response_status,
    responseBodyTruncated: row.response_body,
    durationMs: row.duration_ms,
    attempt: row.attempt,
    status: row.status,
    createdAt: row.created_at,
    deliveredAt: row.delivered_at,
  }
}

const presentDetail = (row: store.ShownDeliveryRow): WebhookDeliveryDetail => ({
  ...present(row),
  error: row.error,
  nextAttemptAt: row.due_at,
})
