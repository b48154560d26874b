import type { Insertable, Selectable, Updateable } from 'kysely'
import { prepared, preparedInsert } from '../db/prepared.ts'
import type { Db, Schema, Tx } from '../schema.ts'

interface CollectionsTable {
  id: string
  repo_id: string
  org_id: string
  name: string
  /** JSON: the schema as it was declared when it was last in force. */
  declared: string
  schema_hash: string
  in_force: number
  /** Counts the schemas it has had. */
  version: number
  /** JSON: what rows of earlier versions are read through. */
  upgrades: string
  /** JSON: what entries are kept for. */
  indexes: string
  row_count: number
  bytes: number
  /** What its organization counts for it: never less than it takes. */
  reserved_bytes: number
  /** Counts the writes. */
  changes: number
  /** Rows made up to there have the version of the schema; null when all of them do. */
  rewritten_to: number | null
  created_at: number
  updated_at: number
}

interface RecordsTable {
  id: string
  collection_id: string
  /** The number of the write that made it: rows are listed in this order. */
  seq: number
  /** The number of the last write. */
  change: number
  /** Of the schema it was written under. */
  version: number
  revision: number
  /** JSON. */
  data: string
  /** What it counts for, with its entries. */
  bytes: number
  created_at: number
  updated_at: number
}

interface EntriesTable {
  index_id: string
  key: string
  seq: number
  record_id: string
}

export interface IndexesTable {
  id: string
  collection_id: string
  state: 'preparing' | 'in force' | 'dropped'
  touched_at: number
}

export interface RecordTables {
  record_collections: CollectionsTable
  records: RecordsTable
  record_entries: EntriesTable
  record_indexes: IndexesTable
}

export type CollectionRow = Selectable<CollectionsTable>
export type RecordTableRow = Selectable<RecordsTable>
export type EntryRow = Insertable<EntriesTable>

const collectionByName = prepared((db: Db, place: { repoId: string; name: string }) =>
  db
    .selectFrom('record_collections')
    .selectAll()
    .where('repo_id', '=', place.repoId)
    .where('name', '=', place.name),
)

export async function findCollection(
  q: Db,
  repoId: string,
  name: string,
): Promise<CollectionRow | undefined> {
  const [found] = await collectionByName(q, { repoId, name })
  return found
}

export const listCollections = (q: Db, repoId: string): Promise<CollectionRow[]> =>
  q.selectFrom('record_collections').selectAll().where('repo_id', '=', repoId).orderBy('name').execute()

/** Those in force. */
export async function countCollections(q: Db, repoId: string): Promise<number> {
  const { count } = await q
    .selectFrom('record_collections')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('repo_id', '=', repoId)
    .where('in_force', '=', 1)
    .executeTakeFirstOrThrow()
  return Number(count)
}

const locked = prepared((db: Db, { id }: { id: string }) =>
  db
    .updateTable('record_collections')
    .set((eb) => ({ changes: eb.ref('changes') }))
    .where('id', '=', id)
    .returningAll(),
)

/** Until the transaction ends nobody else writes rows of the collection, or changes its schema. */
export async function lockCollection(tx: Tx, id: string): Promise<CollectionRow | undefined> {
  const [collection] = await locked(tx, { id })
  return collection
}

const counted = prepared((db: Db, by: { id: string; rows: number; bytes: number; reserved: number }) =>
  db
    .updateTable('record_collections')
    .set((eb) => ({
      changes: eb('changes', '+', 1),
      row_count: eb('row_count', '+', by.rows),
      bytes: eb('bytes', '+', by.bytes),
      reserved_bytes: eb('reserved_bytes', '+', by.reserved),
    }))
    .where('id', '=', by.id)
    .returningAll(),
)

/** Counts a write, and what the collection takes after it. */
export async function countWrite(
  tx: Tx,
  by: { id: string; rows: number; bytes: number; reserved: number },
): Promise<CollectionRow> {
  const [collection] = await counted(tx, by)
  if (!collection) throw new Error('a collection that is locked is gone')
  return collection
}

export async function insertCollection(tx: Tx, row: Insertable<CollectionsTable>): Promise<void> {
  await tx.insertInto('record_collections').values(row).execute()
}

export async function updateCollection(
  tx: Tx,
  id: string,
  changes: Updateable<CollectionsTable>,
): Promise<void> {
  await tx.updateTable('record_collections').set(changes).where('id', '=', id).execute()
}

const recordById = prepared((db: Db, place: { collectionId: string; id: string }) =>
  db
    .selectFrom('records')
    .selectAll()
    .where('id', '=', place.id)
    .where('collection_id', '=', place.collectionId),
)

export async function findRecord(
  q: Db,
  collectionId: string,
  id: string,
): Promise<RecordTableRow | undefined> {
  const [found] = await recordById(q, { collectionId, id })
  return found
}

export const listRecords = prepared((db: Db, page: { collectionId: string; after: number; limit: number }) =>
  db
    .selectFrom('records')
    .selectAll()
    .where('collection_id', '=', page.collectionId)
    .where('seq', '>', page.after)
    .orderBy('seq')
    .limit(page.limit),
)

/** In the order of their last writes. */
export const listChanged = prepared((db: Db, page: { collectionId: string; after: number; limit: number }) =>
  db
    .selectFrom('records')
    .selectAll()
    .where('collection_id', '=', page.collectionId)
    .where('change', '>', page.after)
    .orderBy('change')
    .limit(page.limit),
)

/** In the order they were made. */
export const listBySeqs = (q: Db, collectionId: string, seqs: readonly number[]): Promise<RecordTableRow[]> =>
  q
    .selectFrom('records')
    .selectAll()
    .where('collection_id', '=', collectionId)
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute()

export const listPlacesOf = (
  q: Db,
  collectionId: string,
  ids: readonly string[],
): Promise<{ seq: number }[]> =>
  q
    .selectFrom('records')
    .select('seq')
    .where('id', 'in', ids)
    .where('collection_id', '=', collectionId)
    .execute()

const insertRecords = preparedInsert<Schema, 'records'>('records')
export async function insertRecord(tx: Tx, row: Insertable<RecordsTable>): Promise<void> {
  await insertRecords(tx, [row])
}

export async function updateRecord(tx: Tx, id: string, changes: Updateable<RecordsTable>): Promise<void> {
  await tx.updateTable('records').set(changes).where('id', '=', id).execute()
}

/** With its entries, also those of an index that is being prepared. */
export async function deleteRecord(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('record_entries').where('record_id', '=', id).execute()
  await tx.deleteFrom('records').where('id', '=', id).execute()
}

export const listRewriting = (q: Db): Promise<{ id: string }[]> =>
  q.selectFrom('record_collections').select('id').where('rewritten_to', 'is not', null).limit(1000).execute()

/** Rows of a repository that is gone, with their entries. */
export async function deleteSomeRecords(tx: Tx, repoId: string, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('records')
    .innerJoin('record_collections', 'record_collections.id', 'records.collection_id')
    .select('records.id')
    .where('record_collections.repo_id', '=', repoId)
    .limit(limit)
    .execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  await tx.deleteFrom('record_entries').where('record_id', 'in', ids).execute()
  await tx.deleteFrom('records').where('id', 'in', ids).execute()
  return ids.length
}

/** Nobody writes rows any more afterwards. */
export async function hideCollections(tx: Tx, repoId: string): Promise<void> {
  await tx.updateTable('record_collections').set({ in_force: 0 }).where('repo_id', '=', repoId).execute()
}

/** The collections of a repository that is gone, after their rows. */
export async function deleteCollections(tx: Tx, repoId: string): Promise<void> {
  const ids = (await listCollections(tx, repoId)).map(({ id }) => id)
  if (ids.length === 0) return
  await tx.deleteFrom('record_indexes').where('collection_id', 'in', ids).execute()
  await tx.deleteFrom('record_collections').where('id', 'in', ids).execute()
}
