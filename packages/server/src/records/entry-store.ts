import type { Insertable } from 'kysely'
import { prepared, preparedInsert } from '../db/prepared.ts'
import type { Db, Schema, Tx } from '../schema.ts'
import type { IndexesTable } from './store.ts'

export const insertEntries = preparedInsert<Schema, 'record_entries'>('record_entries')

export async function deleteEntries(
  tx: Tx,
  recordIds: readonly string[],
  indexIds: readonly string[],
): Promise<void> {
  if (recordIds.length === 0 || indexIds.length === 0) return
  await tx
    .deleteFrom('record_entries')
    .where('record_id', 'in', recordIds)
    // Not as it stands: SQLite would rather go through all entries of an index than look up many rows.
    .where((eb) => eb(eb(eb.ref('index_id'), '||', eb.val('')), 'in', indexIds))
    .execute()
}

const otherWithKey = prepared((db: Db, wanted: { indexId: string; key: string; seq: number }) =>
  db
    .selectFrom('record_entries')
    .select('seq')
    .where('index_id', '=', wanted.indexId)
    .where('key', '=', wanted.key)
    .where('seq', '<>', wanted.seq)
    .limit(1),
)

/** Whether a row other than that of `seq` has the key. */
export const isKeyTaken = async (q: Db, wanted: { indexId: string; key: string; seq: number }) =>
  (await otherWithKey(q, wanted)).length > 0

/** Those of the keys that more than one row has. */
export async function listShared(
  q: Db,
  indexId: string,
  keys: readonly string[],
): Promise<{ key: string }[]> {
  if (keys.length === 0) return []
  return q
    .selectFrom('record_entries')
    .select('key')
    .where('index_id', '=', indexId)
    .where('key', 'in', keys)
    .groupBy('key')
    .having((eb) => eb.fn.countAll<number>(), '>', 1)
    .execute()
}

interface KeyPage {
  indexId: string
  key: string
  after: number
  limit: number
}

const withKey = (db: Db, page: KeyPage) =>
  db
    .selectFrom('record_entries')
    .where('record_entries.index_id', '=', page.indexId)
    .where('record_entries.key', '=', page.key)
    .where('record_entries.seq', '>', page.after)
    .orderBy('record_entries.seq')
    .limit(page.limit)

/** The places of rows with exactly this key, in order. */
export const listByKey = prepared((db: Db, page: KeyPage) => withKey(db, page).select('record_entries.seq'))

/** The rows with exactly this key, in order. */
export const listRecordsByKey = prepared((db: Db, page: KeyPage) =>
  withKey(db, page).innerJoin('records', 'records.id', 'record_entries.record_id').selectAll('records'),
)

/** The places of rows with a key in a range, in the order of keys. */
export const listByRange = prepared(
  (db: Db, range: { indexId: string; from: string; to: string; limit: number }) =>
    db
      .selectFrom('record_entries')
      .select('seq')
      .where('index_id', '=', range.indexId)
      .where('key', '>=', range.from)
      .where('key', '<', range.to)
      .orderBy('key')
      .limit(range.limit),
)

interface SortedPage {
  indexId: string
  key: string
  seq: number
  /** Where to stop: the highest key in one direction, the lowest in the other. */
  end: string
  limit: number
}

const sorted = (db: Db, { indexId, limit }: SortedPage) =>
  db
    .selectFrom('record_entries')
    .innerJoin('records', 'records.id', 'record_entries.record_id')
    .selectAll('records')
    .select('record_entries.key as entry_key')
    .where('record_entries.index_id', '=', indexId)
    .limit(limit)

/** Rows in the order of their keys, and among equals in the order they were made, after a place and before a key. */
export const listUpwards = prepared((db: Db, page: SortedPage) =>
  sorted(db, page)
    .where((eb) =>
      eb(eb.refTuple('record_entries.key', 'record_entries.seq'), '>', eb.tuple(page.key, page.seq)),
    )
    .where('record_entries.key', '<', page.end)
    .orderBy('record_entries.key')
    .orderBy('record_entries.seq'),
)

/** The other way round. */
export const listDownwards = prepared((db: Db, page: SortedPage) =>
  sorted(db, page)
    .where((eb) =>
      eb(eb.refTuple('record_entries.key', 'record_entries.seq'), '<', eb.tuple(page.key, page.seq)),
    )
    .where('record_entries.key', '>=', page.end)
    .orderBy('record_entries.key', 'desc')
    .orderBy('record_entries.seq', 'desc'),
)

export async function insertIndex(tx: Tx, row: Insertable<IndexesTable>): Promise<void> {
  await tx.insertInto('record_indexes').values(row).execute()
}

/** How many of the indexes were in the state they are taken out of. */
export async function setIndexState(
  tx: Tx,
  ids: readonly string[],
  { from, to, now }: { from: IndexesTable['state']; to: IndexesTable['state']; now: number },
): Promise<number> {
  if (ids.length === 0) return 0
  const { numUpdatedRows } = await tx
    .updateTable('record_indexes')
    .set({ state: to, touched_at: now })
    .where('id', 'in', ids)
    .where('state', '=', from)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Indexes that were dropped before one time, or that nobody has gone on preparing since the other. */
export const listIdleIndexes = (
  q: Db,
  { droppedBefore, preparingBefore }: { droppedBefore: number; preparingBefore: number },
): Promise<{ id: string }[]> =>
  q
    .selectFrom('record_indexes')
    .select('id')
    .where((eb) =>
      eb.or([
        eb.and([eb('state', '=', 'dropped'), eb('touched_at', '<', droppedBefore)]),
        eb.and([eb('state', '=', 'preparing'), eb('touched_at', '<', preparingBefore)]),
      ]),
    )
    .limit(1000)
    .execute()

export async function deleteSomeEntries(tx: Tx, indexId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('record_entries')
    .where('index_id', '=', indexId)
    .where((eb) =>
      eb(
        eb.refTuple('key', 'seq'),
        'in',
        eb
          .selectFrom('record_entries')
          .select(['key', 'seq'])
          .where('index_id', '=', indexId)
          .orderBy('key')
          .limit(limit)
          .$asTuple('key', 'seq'),
      ),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export async function deleteIndex(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('record_indexes').where('id', '=', id).execute()
}
