import type { ActorKind } from '@trellis/contract'
import type { Selectable } from 'kysely'
import type { Db, Tx } from '../schema.ts'

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

/**
 * Takes the next number of a log. The counter's row stays locked until the transaction ends, so numbers follow the
 * order of commit, and a transaction that fails gives its number back.
 */
export async function takeNextSeq(tx: Tx, scope: string): Promise<number> {
  const { last_seq } = await tx
    .insertInto('event_counters')
    .values({ scope, last_seq: 1 })
    .onConflict((conflict) =>
      conflict
        .column('scope')
        .doUpdateSet((eb) => ({ last_seq: eb('event_counters.last_seq', '+', eb.lit(1)) })),
    )
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  return last_seq
}

export async function insertEvent(tx: Tx, row: EventRow): Promise<void> {
  await tx.insertInto('events').values(row).execute()
}

export interface EventRange {
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
