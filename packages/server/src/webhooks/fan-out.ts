import { createHash, randomUUIDv7 } from 'node:crypto'
import type { NumberedEvent, Subscription } from '@trellis/contract'
import type { Subscriber } from '../events/service.ts'
import { compileSubscription, type Listens } from '../events/subscriptions.ts'
import { repoIdOf } from '../events/types.ts'
import { createPauses } from '../platform/pauses.ts'
import { createRecent } from '../platform/recent.ts'
import type { Database, Tx } from '../schema.ts'
import * as lines from './line-store.ts'
import * as store from './store.ts'

/** How many compiled subscriptions are kept at hand. */
const COMPILED = 1_000
/** How much comparing one webhook with one event may take, and all webhooks with all events of one change: a transaction is open. */
const STEPS_EACH = 1_000_000
const STEPS_TOGETHER = 3_000_000
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
  const compiled = createRecent<string, Listens>({ maxEntries: COMPILED })

  function listens(subscription: string): Listens {
    let found = compiled.get(subscription)
    if (!found) {
      found = compileSubscription(JSON.parse(subscription) as Subscription)
      compiled.set(subscription, found)
    }
    return found
  }

  async function deliver(tx: Tx, repoId: string, { events, webhooks }: Heard): Promise<void> {
    const hears = createHearing(listens)
    const pending = new Map(webhooks.map(({ id, pending_bytes }) => [id, pending_bytes]))
    const pause = createPauses()
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

/**
 * Who hears of which event, within an effort that all webhooks and events of one change share. What could not be found
 * out is heard: one delivery too many is better than one too few.
 */
function createHearing(listens: (subscription: string) => Listens) {
  let left = STEPS_TOGETHER
  let about: NumberedEvent | undefined
  /** Webhooks often listen to the same. */
  const known = new Map<string, boolean>()
  return (subscription: string, event: NumberedEvent): boolean => {
    if (event !== about) known.clear()
    about = event
    const before = known.get(subscription)
    if (before !== undefined) return before
    const given = Math.max(0, Math.min(STEPS_EACH, left))
    const effort = { steps: given }
    const isHeard = listens(subscription)(event, effort)
    left -= given - effort.steps
    known.set(subscription, isHeard)
    return isHeard
  }
}

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
