import type { ActorKind } from '@trellis/contract'
import type { Selectable, SelectQueryBuilder } from 'kysely'
import { prepared, preparedChange, preparedInsert } from '../db/prepared.ts'
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

const FIRST_SEQ = 1

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

const firstSeq = preparedChange((db: Db, { scope }: { scope: string }) =>
  db.insertInto('event_counters').values({ scope, last_seq: FIRST_SEQ }),
)

/** Begins a log, of what was just made. */
export async function takeFirstSeq(tx: Tx, scope: string): Promise<number> {
  await firstSeq(tx, { scope })
  return FIRST_SEQ
}

export const insertEvents = preparedInsert<Schema, 'events'>('events')

export interface EventRange {
  scope: string
  order: 'oldest' | 'newest'
  /** Exclusive bounds. */
  above?: number
  below?: number
  types?: string[]
  limit: number
}

export async function listEvents(q: Db, { types, ...range }: EventRange): Promise<EventRow[]> {
  const { scope, order, limit } = range
  const ordered = q
    .selectFrom('events')
    .selectAll()
    .where('scope', '=', scope)
    .orderBy('seq', order === 'oldest' ? 'asc' : 'desc')
  if (!types) return within(ordered, range).limit(limit).execute()
  const seqs = await listSeqs(q, range, types)
  return seqs.length === 0 ? [] : ordered.where('seq', 'in', seqs).execute()
}

/**
 * The first events of a log are in no index by type. Most logs are no longer, and every change would pay for the index;
 * to read so few takes no time. The index is made with this number.
 */
const UNINDEXED = 100

/** Numbers and types from a place on: enough to choose by, and never large. */
export const listTypes = (
  q: Db,
  { scope, above, limit }: { scope: string; above: number; limit: number },
): Promise<Pick<EventRow, 'seq' | 'type'>[]> =>
  q
    .selectFrom('events')
    .select(['seq', 'type'])
    .where('scope', '=', scope)
    .where('seq', '>', above)
    .orderBy('seq')
    .limit(limit)
    .execute()

/** When events happened, between two of them; the newest first unless told otherwise. */
export const listTimes = (
  q: Db,
  {
    scope,
    above,
    below,
    limit,
    oldest = false,
  }: { scope: string; above: number; below: number; limit: number; oldest?: boolean },
): Promise<Pick<EventRow, 'seq' | 'ts' | 'type'>[]> =>
  q
    .selectFrom('events')
    .select(['seq', 'ts', 'type'])
    .where('scope', '=', scope)
    .where('seq', '>', above)
    .where('seq', '<', below)
    .orderBy('seq', oldest ? 'asc' : 'desc')
    .limit(limit)
    .execute()

/** What the payloads of events take, in their order. */
export const listSizes = (
  q: Db,
  scope: string,
  seqs: readonly number[],
): Promise<{ seq: number; bytes: number | null }[]> =>
  q
    .selectFrom('events')
    .select('seq')
    .select((eb) => eb.fn<number | null>('octet_length', ['payload']).as('bytes'))
    .where('scope', '=', scope)
    .where('seq', 'in', [...seqs])
    .orderBy('seq')
    .execute()

export const listAt = (q: Db, scope: string, seqs: readonly number[]): Promise<EventRow[]> =>
  q
    .selectFrom('events')
    .selectAll()
    .where('scope', '=', scope)
    .where('seq', 'in', [...seqs])
    .orderBy('seq')
    .execute()

/** The number of the last event of a log; undefined when there is no such log. */
export async function findLast(q: Db, scope: string): Promise<number | undefined> {
  const [counter] = await listLast(q, [scope])
  return counter?.last_seq
}

export const listLast = (q: Db, scopes: readonly string[]): Promise<Selectable<EventCountersTable>[]> =>
  q
    .selectFrom('event_counters')
    .selectAll()
    .where('scope', 'in', [...scopes])
    .execute()

/** Each type is asked for by itself: of all that are common only as many are looked at as a page can have. */
export async function listSeqs(q: Db, range: EventRange, types: readonly string[]): Promise<number[]> {
  const { scope, order, limit } = range
  const inOrder = within(q.selectFrom('events').select('seq').where('scope', '=', scope), range).orderBy(
    'seq',
    order === 'oldest' ? 'asc' : 'desc',
  )
  const pages = [inOrder.where((eb) => eb('seq', '<=', eb.lit(UNINDEXED))).where('type', 'in', [...types])]
  for (const type of new Set(types))
    pages.push(inOrder.where((eb) => eb('seq', '>', eb.lit(UNINDEXED))).where('type', '=', type))
  const seqs: number[] = []
  for (const page of pages) for (const { seq } of await page.limit(limit).execute()) seqs.push(seq)
  return seqs.sort((a, b) => (order === 'oldest' ? a - b : b - a)).slice(0, limit)
}

function within<Row>(
  query: SelectQueryBuilder<Schema, 'events', Row>,
  { above, below }: EventRange,
): SelectQueryBuilder<Schema, 'events', Row> {
  let bounded = query
  if (above !== undefined) bounded = bounded.where('seq', '>', above)
  if (below !== undefined) bounded = bounded.where('seq', '<', below)
  return bounded
}

/** The last first, so that a log of which some is gone has no gap either. */
export async function deleteSome(tx: Tx, scope: string, limit: number): Promise<number> {
  const counter = await tx
    .selectFrom('event_counters')
    .select('last_seq')
    .where('scope', '=', scope)
    .executeTakeFirst()
  if (!counter) return 0
  const last_seq = Math.max(0, counter.last_seq - limit)
  await tx.deleteFrom('events').where('scope', '=', scope).where('seq', '>', last_seq).execute()
  if (last_seq === 0) await tx.deleteFrom('event_counters').where('scope', '=', scope).execute()
  else await tx.updateTable('event_counters').set({ last_seq }).where('scope', '=', scope).execute()
  return counter.last_seq - last_seq
}

/** What a log has been given numbers up to, and what is in it. */
interface EventTally {
  scope: string
  last_seq: number
  events: number
  highest: number | null
}

/** A page of all logs, each looked at in one moment. */
export async function listTallies(
  q: Db,
  { after, limit }: { after: string; limit: number },
): Promise<EventTally[]> {
  const rows = await q
    .selectFrom('event_counters')
    .select(['scope', 'last_seq'])
    .select((eb) => [
      eb
        .selectFrom('events')
        .select((inner) => inner.fn.countAll<number>().as('events'))
        .whereRef('events.scope', '=', 'event_counters.scope')
        .as('events'),
      eb
        .selectFrom('events')
        .select((inner) => inner.fn.max('seq').as('highest'))
        .whereRef('events.scope', '=', 'event_counters.scope')
        .as('highest'),
    ])
    .where('scope', '>', after)
    .orderBy('scope')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...row, events: Number(row.events) }))
}

/** Logs that nobody counts. */
export async function listUncounted(q: Db, limit: number): Promise<string[]> {
  const rows = await q
    .selectFrom('events')
    .select('scope')
    .distinct()
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('event_counters')
            .select('last_seq')
            .whereRef('event_counters.scope', '=', 'events.scope'),
        ),
      ),
    )
    .limit(limit)
    .execute()
  return rows.map(({ scope }) => scope)
}
