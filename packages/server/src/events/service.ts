import type { Actor, Cause, NumberedEvent } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import { numberCursor } from '../platform/cursors.ts'
import { invalid } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Tx } from '../schema.ts'
import { countEvents } from './counting.ts'
import { readPage } from './pages.ts'
import { numbered } from './presenting.ts'
import { readSome } from './reading.ts'
import * as store from './store.ts'
import type { EmittedType, EventScope, ServiceEventType } from './types.ts'

/** Who did it, with which credential, and, for a run, why. */
export interface Author {
  actor: Actor
  credentialId: string | null
  cause?: Cause
  /** Throws when they may do nothing any more: then what the event tells of is not to be. */
  requireGoingOnIn?(tx: Tx): Promise<void>
}

export interface NewEvent extends Author {
  scope: EventScope
  type: ServiceEventType | EmittedType
  subject?: string
  payload?: unknown
}

interface EventPage {
  scope: EventScope
  types?: string[]
  since?: number
  order: 'oldest' | 'newest'
  cursor?: string
  limit: number
}

interface EventSpan {
  scope: EventScope
  types?: string[] | undefined
  from: number
  to: number
  bucket: 'hour' | 'day'
}

const BUCKET_MS = { hour: 3_600_000, day: 24 * 3_600_000 }
/** A week of hours. */
const MAX_BUCKETS = 168

/**
 * Somebody who hears of events in the transaction that appends them, and writes there what they set off: kept together
 * with the event, or not at all.
 */
export type Subscriber = (
  tx: Tx,
  scope: EventScope,
  events: readonly NumberedEvent[],
  /** For those who have something to add. */
  log: Appending,
) => Promise<void>

/** What adds to logs. */
export interface Appending {
  append(tx: Tx, event: NewEvent): Promise<void>
  appendAll(tx: Tx, scope: EventScope, events: readonly Omit<NewEvent, 'scope'>[]): Promise<void>
}

export type EventsService = ReturnType<typeof createEventsService>

export const by = ({ actor, credential, cause, requireGoingOnIn }: Caller): Author => ({
  actor,
  credentialId: credential.id,
  ...(cause && { cause }),
  ...(requireGoingOnIn && { requireGoingOnIn }),
})

export const bySystem: Author = { actor: { kind: 'system', id: 'trellis' }, credentialId: null }

export function createEventsService({
  database,
  clock,
  newId,
  subscribers = [],
}: {
  database: Database
  clock: Clock
  newId: NewId
  subscribers?: readonly Subscriber[]
}) {
  const rowOf = (scope: EventScope, seq: number, ts: number, event: Omit<NewEvent, 'scope'>) => ({
    scope,
    seq,
    id: newId('evt'),
    type: event.type,
    ts,
    actor_kind: event.actor.kind,
    actor_id: event.actor.id,
    credential_id: event.credentialId,
    subject: event.subject ?? null,
    payload: event.payload === undefined ? null : JSON.stringify(event.payload),
    cause: event.cause ? JSON.stringify(event.cause) : null,
  })

  return {
    /**
     * Begins the log of what is made in this transaction. Nobody is told: whoever listens to a log comes after its first
     * event.
     */
    async begin(tx: Tx, event: NewEvent): Promise<void> {
      const first = await store.takeFirstSeq(tx, event.scope)
      await store.insertEvents(tx, [rowOf(event.scope, first, clock(), event)])
    },

    /** Adds an event to its log, in the transaction of the change it tells of: both are kept, or neither. */
    async append(tx: Tx, event: NewEvent): Promise<void> {
      await this.appendAll(tx, event.scope, [event])
    },

    /** Adds several events to one log, in their order. */
    async appendAll(tx: Tx, scope: EventScope, events: readonly Omit<NewEvent, 'scope'>[]): Promise<void> {
      if (events.length === 0) return
      for (const require of new Set(events.map(({ requireGoingOnIn }) => requireGoingOnIn)))
        await require?.(tx)
      const first = await store.takeSeqs(tx, scope, events.length)
      const ts = clock()
      const rows = events.map((event, i) => rowOf(scope, first + i, ts, event))
      await store.insertEvents(tx, rows)
      // Whoever listens to a log came after its first event, which made what the log is about.
      if (first === 1) return
      const appended = rows.map((row, i) => numbered(row, events[i]?.payload, events[i]?.cause))
      for (const tell of subscribers) await tell(tx, scope, appended, this)
    },

    async list({ scope, types, since, order, cursor, limit }: EventPage) {
      const seen = numberCursor.decode(cursor)
      const { events, isMore } = await readPage(database.db, {
        scope,
        order,
        above: Math.max(since ?? 0, order === 'oldest' ? (seen ?? 0) : 0),
        ...(order === 'newest' && seen !== undefined && { below: seen }),
        ...(types && { types }),
        limit,
      })
      const last = events.at(-1)
      return { items: events, nextCursor: isMore && last ? numberCursor.encode(last.seq) : null }
    },

    /** In whole hours or days of UTC, the first with `from` in it. */
    async count({ scope, types, from, to, bucket }: EventSpan, signal: AbortSignal) {
      const bucketMs = BUCKET_MS[bucket]
      const start = Math.floor(from / bucketMs) * bucketMs
      if (to <= from) throw invalid(['to'], 'It ends before it begins')
      if (to - start > MAX_BUCKETS * bucketMs)
        throw invalid(['to'], `Ask for up to ${MAX_BUCKETS} at once: of ${bucket}s these are more`)
      const wanted = { scope, types, from: start, to: start + Math.ceil((to - start) / bucketMs) * bucketMs }
      const { buckets, countedFrom } = await countEvents(database.db, { ...wanted, bucketMs }, signal)
      return { bucket, items: buckets, countedFrom, truncated: countedFrom > start }
    },

    /** Until the transaction ends nobody else adds to the log, or changes what is changed under this lock. */
    async lockIn(tx: Tx, scope: EventScope): Promise<void> {
      await store.takeSeqs(tx, scope, 0)
    },

    readSome,

    /** Removes up to `limit` events of a log that goes with what it is about, and gives how many there were. */
    removeSomeIn: store.deleteSome,
  }
}
