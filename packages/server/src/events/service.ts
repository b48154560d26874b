import type { Actor, Cause, NumberedEvent } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { Clock } from '../clock.ts'
import { numberCursor, pageFrom } from '../cursors.ts'
import type { NewId } from '../ids.ts'
import type { Database, Tx } from '../schema.ts'
import * as store from './store.ts'
import type { EventScope, ServiceEventType } from './types.ts'

/** Who did it, and with which credential. */
export interface Author {
  actor: Actor
  credentialId: string | null
}

export interface NewEvent extends Author {
  scope: EventScope
  type: ServiceEventType
  subject?: string
  payload?: unknown
  cause?: Cause
}

export interface EventPage {
  scope: EventScope
  types?: string[]
  since?: number
  order: 'oldest' | 'newest'
  cursor?: string
  limit: number
}

export type EventsService = ReturnType<typeof createEventsService>

export const by = ({ actor, credential }: Caller): Author => ({ actor, credentialId: credential.id })

export const bySystem: Author = { actor: { kind: 'system', id: 'trellis' }, credentialId: null }

export function createEventsService({
  database,
  clock,
  newId,
}: {
  database: Database
  clock: Clock
  newId: NewId
}) {
  return {
    /** Adds an event to its log, in the transaction of the change it tells of: both are kept, or neither. */
    async append(tx: Tx, event: NewEvent): Promise<void> {
      await this.appendAll(tx, event.scope, [event])
    },

    /** Adds several events to one log, in their order. */
    async appendAll(tx: Tx, scope: EventScope, events: readonly Omit<NewEvent, 'scope'>[]): Promise<void> {
      if (events.length === 0) return
      const first = await store.takeSeqs(tx, scope, events.length)
      const ts = clock()
      const rows = events.map((event, i) => ({
        scope,
        seq: first + i,
        id: newId('evt'),
        type: event.type,
        ts,
        actor_kind: event.actor.kind,
        actor_id: event.actor.id,
        credential_id: event.credentialId,
        subject: event.subject ?? null,
        payload: event.payload === undefined ? null : JSON.stringify(event.payload),
        cause: event.cause ? JSON.stringify(event.cause) : null,
      }))
      await store.insertEvents(tx, rows)
    },

    async list({ scope, types, since, order, cursor, limit }: EventPage) {
      const last = numberCursor.decode(cursor)
      const rows = await store.listEvents(database.db, {
        scope,
        order,
        above: Math.max(since ?? 0, order === 'oldest' ? (last ?? 0) : 0),
        ...(order === 'newest' && last !== undefined && { below: last }),
        ...(types && { types }),
        limit: limit + 1,
      })
      const { items, nextCursor } = pageFrom(rows, limit, (row) => numberCursor.encode(row.seq))
      return { items: items.map(present), nextCursor }
    },
  }
}

function present(row: store.EventRow): NumberedEvent {
  return {
    id: row.id,
    seq: row.seq,
    ts: row.ts,
    scope: row.scope,
    type: row.type,
    actor: { kind: row.actor_kind, id: row.actor_id },
    credentialId: row.credential_id,
    ...(row.subject !== null && { subject: row.subject }),
    ...(row.payload !== null && { payload: JSON.parse(row.payload) }),
    ...(row.cause !== null && { cause: JSON.parse(row.cause) }),
  }
}
