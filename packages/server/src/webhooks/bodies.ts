import { randomUUIDv7 } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/hashes.ts'
import type { Database } from '../schema.ts'
import * as bodyStore from './body-store.ts'
import { bytesOfDelivery, type DueDelivery } from './line-store.ts'
import type { WebhookRow } from './store.ts'

const MAX_BODY_CHARACTERS = 1024 * 1024

interface BodyOrder {
  deliveryId: string
  webhook: { id: string; name: string }
  /** What different organizations run never shares a process. */
  orgId: string
  repoId: string
  /** Of the payload module, stored as all bundles are. */
  moduleHash: string
  /** What a webhook without a module would send. */
  event: unknown
}

/**
 * Runs a payload module. `dropped` says why there is no body, and there never will be: better no delivery than one of
 * something else. With `pauseMs` nothing was run, and it is to be tried again after so long.
 */
export type MakeBody = (
  order: BodyOrder,
  signal: AbortSignal,
) => Promise<{ body: string } | { dropped: string } | { pauseMs: number }>

export type Bodies = ReturnType<typeof createBodies>

/** What deliveries send: made once, and stored before the first attempt, so that every attempt sends the same bytes. */
export function createBodies({
  database,
  clock,
  makeBody,
}: {
  database: Database
  clock: Clock
  makeBody: MakeBody
}) {
  async function make(
    { id, name, org_id, repo_id, module_hash }: WebhookRow,
    { id: deliveryId, body }: DueDelivery,
    signal: AbortSignal,
  ): ReturnType<MakeBody> {
    // Its webhook had a module when the event happened, and has none any more.
    if (module_hash === null) return { body }
    const order: BodyOrder = {
      deliveryId,
      webhook: { id, name },
      orgId: org_id,
      repoId: repo_id,
      moduleHash: module_hash,
      event: JSON.parse(body),
    }
    const made = await makeBody(order, signal)
    return 'body' in made && made.body.length > MAX_BODY_CHARACTERS
      ? { dropped: `The body has ${made.body.length} characters, and may have ${MAX_BODY_CHARACTERS}` }
      : made
  }

  return {
    /** The body to send, and what it counts for in its line; nothing when there is none, and the delivery has ended. */
    async ensure(
      webhook: WebhookRow,
      delivery: DueDelivery,
      signal: AbortSignal,
    ): Promise<{ ready?: { body: string; bytes: number }; pauseMs?: number }> {
      if (delivery.made === 1) return { ready: { body: delivery.body, bytes: delivery.bytes } }
      const made = await make(webhook, delivery, signal)
      if ('pauseMs' in made) return made
      return database.transact(async (tx) => {
        if ('dropped' in made) {
          await bodyStore.dropUnmade(tx, delivery.id, made.dropped)
          return {}
        }
        const { body } = made
        const message = { id: randomUUIDv7(), body, digest: sha256(body), created_at: clock() }
        const bytes = bytesOfDelivery(body)
        const kept = await bodyStore.keepBody(tx, delivery, { message, bytes })
        return kept ? { ready: { body, bytes } } : {}
      })
    },
  }
}
