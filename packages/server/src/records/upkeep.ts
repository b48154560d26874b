import { createBatches } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../schema.ts'
import { bytesOf, entriesOf, readCollection, UnreadableSchema } from './collection.ts'
import * as entryStore from './entry-store.ts'
import { rowsAtOnce } from './room.ts'
import * as store from './store.ts'
import { upgraded } from './upgrades.ts'

/** A preparation touches its indexes every few seconds: after this it is not going on any more. */
const ABANDONED_MS = 60 * 60_000

/** A page that was begun with the index is over by then. */
const GRACE_MS = 60_000

/** After promotions: rows get the shape of the schema in force, and entries that nobody looks at go. */
export async function tidyRecords(
  { database, clock }: { database: Database; clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const now = clock()
  const idle = { droppedBefore: now - GRACE_MS, preparingBefore: now - ABANDONED_MS }
  for (const { id } of await entryStore.listIdleIndexes(database.db, idle)) {
    // Whoever was at it must not put it in force any more.
    await database.transact((tx) =>
      entryStore.setIndexState(tx, [id], { from: 'preparing', to: 'dropped', now: clock() }),
    )
    await inBatches(database, signal, (tx, most) => deleteSome(tx, id, most))
    if (signal.aborted) return
    await database.transact((tx) => entryStore.deleteIndex(tx, id))
  }
  for (const { id } of await store.listRewriting(database.db))
    await inBatches(database, signal, (tx, most) => rewriteSome(tx, id, most)).catch((error: unknown) => {
      // Who asks for its rows is told so; the others are not to wait for it.
      if (!(error instanceof UnreadableSchema)) throw error
    })
}

/** Gives whether there may be more. */
const deleteSome = async (tx: Tx, indexId: string, most: number): Promise<boolean> =>
  (await entryStore.deleteSomeEntries(tx, indexId, most)) === most

/** Gives whether there may be more. Neither their revision nor their time changes. */
async function rewriteSome(tx: Tx, id: string, most: number): Promise<boolean> {
  const locked = await store.lockCollection(tx, id)
  if (!locked || locked.rewritten_to === null) return false
  const { row, upgrades, indexes } = readCollection(locked)
  const limit = rowsAtOnce(row, most)
  const rows = await store.listRecords(tx, { collectionId: id, after: locked.rewritten_to, limit })
  let grown = 0
  for (const old of rows) {
    if (old.version === row.version) continue
    const data = upgraded(JSON.parse(old.data), old.version, upgrades)
    const json = JSON.stringify(data)
    const bytes = bytesOf(json, entriesOf(indexes, old, data))
    await store.updateRecord(tx, old.id, { data: json, version: row.version, bytes })
    grown += bytes - old.bytes
  }
  const isDone = rows.length < limit
  await store.updateCollection(tx, id, {
    bytes: row.bytes + grown,
    rewritten_to: isDone ? null : (rows.at(-1)?.seq ?? null),
    // Every row is as the schema has it now.
    ...(isDone && { upgrades: '[]' }),
  })
  return !isDone
}

async function inBatches(
  { transact }: Database,
  signal: AbortSignal,
  doSome: (tx: Tx, most: number) => Promise<boolean>,
): Promise<void> {
  const batches = createBatches()
  for (let more = true; more && !signal.aborted; ) {
    more = await transact((tx) => batches.take((most) => doSome(tx, most)))
    if (more) await batches.rest()
  }
}
