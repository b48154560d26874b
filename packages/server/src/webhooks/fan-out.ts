import { createHash, randomUUIDv7 } from 'node:crypto'
import type { NumberedEvent, Subscription } from '@trellis/contract'
import type { Subscriber } from '../events/service.ts'
import { compileSubscription, type Listens } from '../events/subscriptions.ts'
import { repoIdOf } from '../events/types.ts'
import { createRecent } from '../platform/recent.ts'
import type { Database } from '../schema.ts'
import * as lines from './line-store.ts'
import * as store from './store.ts'

/** How many compiled subscriptions are kept at hand. */
const COMPILED = 1_000

/** Writes a delivery for every webhook that listens to an event, in the transaction of the event itself. */
export function createFanOut({ database, wake }: { database: Database; wake(): void }): Subscriber {
  const compiled = createRecent<string, Listens>({ maxEntries: COMPILED })

  function listens(subscription: string): Listens {
    let found = compiled.get(subscription)
    if (!found) {
      found = compileSubscription(JSON.parse(subscription) as Subscription)
      compiled.set(subscription, found)
    }
    return found
  }

  return async (tx, scope, events) => {
    const repoId = repoIdOf(scope)
    if (!repoId) return
    const webhooks = await store.listListening(tx, { repoId })
    const messages: store.MessageRow[] = []
    const deliveries: lines.NewDelivery[] = []
    for (const event of events) {
      const hearing = webhooks.filter(({ subscription }) => listens(subscription)(event))
      const [first] = hearing
      if (!first) continue
      // Of a repository that is being deleted only the event still knows the name.
      const repo = { id: repoId, name: first.repo_name ?? event.subject ?? '', owner: first.owner ?? '' }
      const message = messageOf(event, repo)
      messages.push(message)
      for (const { id, name } of hearing)
        deliveries.push({
          id: randomUUIDv7(),
          webhook_id: id,
          webhook_name: name,
          repo_id: repoId,
          message_id: message.id,
          event_type: event.type,
          subject: event.subject ?? null,
          seq: event.seq,
          created_at: event.ts,
        })
    }
    const [now = 0] = events.map(({ ts }) => ts)
    if (deliveries.length > 0) {
      await lines.insertMessages(tx, messages)
      await lines.enqueue(tx, deliveries, now)
      database.afterCommit(tx, wake)
    }
    if (events.some(({ type }) => type === 'repo.deleted')) await store.removeWebhooks(tx, repoId, now)
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
