import type { ActorKind } from '@trellis/contract'
import type { Selectable } from 'kysely'
import { prepared, preparedInsert } from '../db/prepared.ts'
import type { Db, Schema, Tx } from '../schema.ts'

interface EventsTable {
  scope: string
  seq: number
  id: string
  type: string
  ts: number
  actor_kind: ActorKind
  actor_id: string
  credential_id: string | null
  subject: string | null
  /** JSON. */
  payload: string | null
  /** JSON. */
  cause: string | null
}

interface EventCountersTable {
  scope: string
  last_seq: number
}

export interface EventTables {
  events: EventsTable
  event_counters: EventCountersTable
}

export type EventRow = Selectable<EventsTable>

const nextSeqs = prepared((db: Db, { scope, count }: { scope: string; count: number }) =>
  db
    .insertInto('event_counters')
    .values({ scope, last_seq: count })
    .onConflict((conflict) =>
      conflict.column('scope').doUpdateSet((eb) => ({ last_seq: eb('event_counters.last_seq', '+', count) })),
    )
    .returning('last_seq'),
)

/**
 * Takes the next numbers of a log and gives the first. The counter's row stays locked until the transaction ends, so
 * numbers follow the order of commit, and a transaction that fails gives its numbers back.
 */
export async function takeSeqs(tx: Tx, scope: string, count: number): Promise<number> {
  const [taken] = await nextSeqs(tx, { scope, count })
  if (!taken) throw new Error('an event counter gave no number')
  return taken.last_seq - count + 1
}

export const insertEvents = preparedInsert<Schema, 'events'>('events')

interface EventRange {
  scope: string
  order: 'oldest' | 'newest'
  /** Exclusive bounds. */
  above?: number
  below?: number
  types?: string[]
  limit: number
}

export async function listEvents(
  q: Db,
  { scope, order, above, below, types, limit }: EventRange,
): Promise<EventRow[]> {
  let query = q
    .selectFrom('events')
    .selectAll()
    .where('scope', '=', scope)
    .orderBy('seq', order === 'oldest' ? 'asc' : 'desc')
    .limit(limit)
  if (above !== undefined) query = query.where('seq', '>', above)
  if (below !== undefined) query = query.where('seq', '<', below)
  if (types) query = query.where('type', 'in', types)
  return query.execute()
}
