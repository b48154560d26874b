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
 * Takes the next numbers of a log and gives the first. The counter's row stays locked until the transaction ends, so
 * numbers follow the order of commit, and a transaction that fails gives its numbers back.
 */
export async function takeSeqs(tx: Tx, scope: string, count: number): Promise<number> {
  const { last_seq } = await tx
    .insertInto('event_counters')
    .values({ scope, last_seq: count })
    .onConflict((conflict) =>
      conflict.column('scope').doUpdateSet((eb) => ({ last_seq: eb('event_counters.last_seq', '+', count) })),
    )
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  return last_seq - count + 1
}

/** How many rows go into one statement; SQLite takes 32,766 values. */
const BATCH = 1000

export async function insertEvents(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  for (let i = 0; i < rows.length; i += BATCH)
    await tx
      .insertInto('events')
      .values(rows.slice(i, i + BATCH))
      .execute()
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
