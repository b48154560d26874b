import { createHash, randomUUIDv7 } from 'node:crypto'
import type { NumberedEvent } from '@trellis/contract'
import { createHearings } from '../events/hearing.ts'
import type { Subscriber } from '../events/service.ts'
import { repoIdOf } from '../events/types.ts'
import { createPausesInTransaction } from '../platform/pauses.ts'
import type { Database, Tx } from '../schema.ts'
import * as lines from './line-store.ts'
import * as store from './store.ts'

/** Deliveries that are written together. */
const BATCH = 128
const NO_ROOM = 'Too much was pending for this webhook already'

interface FanOutDeps {
  database: Database
  /** Of what waits for one webhook. Beyond it, deliveries are dropped. */
  maxPendingBytes: number
  /** Something is due. */
  wake(): void
  onDropped(webhookIds: readonly string[], deliveries: number): void
}

/** Writes a delivery for every webhook that listens to an event, in the transaction of the event itself. */
export function createFanOut({ database, maxPendingBytes, wake, onDropped }: FanOutDeps): Subscriber {
  const newHearing = createHearings()

  async function deliver(tx: Tx, repoId: string, { events, webhooks }: Heard): Promise<void> {
    const hears = newHearing()
    const pending = new Map(webhooks.map(({ id, pending_bytes }) => [id, pending_bytes]))
    const pause = createPausesInTransaction()
    const [now = 0] = events.map(({ ts }) => ts)
    let batch = newBatch()
    const full = new Set<string>()
    let dropped = 0
    let isAnyDue = false

    async function write(): Promise<void> {
      await lines.insertMessages(tx, batch.messages)
      await lines.enqueue(tx, batch.deliveries, now)
      await lines.insertDropped(tx, batch.dropped, NO_ROOM)
      isAnyDue ||= batch.deliveries.length > 0
      batch = newBatch()
    }

    for (const event of events) {
      const hearing: typeof webhooks = []
      for (const webhook of webhooks) {
        if (hears(webhook.subscription, event)) hearing.push(webhook)
        await pause()
      }
      const [first] = hearing
      if (!first) continue
      // Of a repository that is being deleted only the event still knows the name.
      const repo = { id: repoId, name: first.repo_name ?? event.subject ?? '', owner: first.owner ?? '' }
      const message = messageOf(event, repo)
      const bytes = lines.bytesOfDelivery(message.body)
      let isWanted = false
      for (const { id, name, module_hash } of hearing) {
        const waiting = (pending.get(id) ?? 0) + bytes
        const hasRoom = waiting <= maxPendingBytes
        const delivery: lines.NewDelivery = {
          id: randomUUIDv7(),
          webhook_id: id,
          webhook_name: name,
          repo_id: repoId,
          message_id: message.id,
          made: module_hash === null ? 1 : 0,
          bytes,
          event_type: event.type,
          subject: event.subject ?? null,
          seq: event.seq,
          created_at: event.ts,
        }
        if (hasRoom) {
          pending.set(id, waiting)
          batch.deliveries.push(delivery)
          isWanted = true
        } else {
          batch.dropped.push(delivery)
          full.add(id)
          dropped++
        }
      }
      // A body that goes nowhere is not kept either.
      if (isWanted) batch.messages.push(message)
      if (batch.deliveries.length + batch.dropped.length >= BATCH) await write()
    }
    await write()
    if (isAnyDue) database.afterCommit(tx, wake)
    if (dropped > 0) database.afterCommit(tx, () => onDropped([...full], dropped))
  }

  return async (tx, scope, events) => {
    const repoId = repoIdOf(scope)
    if (!repoId) return
    const webhooks = await store.listListening(tx, { repoId })
    // To most of what happens nobody listens.
    if (webhooks.length > 0) await deliver(tx, repoId, { events, webhooks })
    const deletion = events.find(({ type }) => type === 'repo.deleted')
    if (deletion) await store.removeWebhooks(tx, repoId, deletion.ts)
  }
}

/** What happened, and the webhooks that may listen to it. */
interface Heard {
  events: readonly NumberedEvent[]
  webhooks: Awaited<ReturnType<typeof store.listListening>>
}

interface Batch {
  messages: store.MessageRow[]
  deliveries: lines.NewDelivery[]
  dropped: lines.NewDelivery[]
}

const newBatch = (): Batch => ({ messages: [], deliveries: [], dropped: [] })

function messageOf(
  event: NumberedEvent,
  repo: { id: string; name: string; owner: string },
): store.MessageRow {
  const body = JSON.stringify({
    id: event.id,
    type: event.type,
    ts: event.ts,
    seq: event.seq,
    scope: event.scope,
    actor: event.actor,
    subject: event.subject ?? null,
    payload: event.payload ?? null,
    cause: event.cause ?? null,
    repo,
  })
  return {
    id: randomUUIDv7(),
    body,
    digest: `sha256:${createHash('sha256').update(body).digest('hex')}`,
    created_at: event.ts,
  }
}
