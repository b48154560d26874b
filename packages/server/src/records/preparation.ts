import { createBatches } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Database, Tx } from '../schema.ts'
import {
  type Collection,
  entriesOf,
  type Index,
  isHeldUnique,
  keyIn,
  readCollection,
  wantedIndexes,
} from './collection.ts'
import * as entryStore from './entry-store.ts'
import type { Comparison } from './migration-plan.ts'
import { rowsAtOnce } from './room.ts'
import { type Data, misfits } from './rows.ts'
import type { Schema } from './schema.ts'
import { publicSchema } from './schema-hash.ts'
import * as store from './store.ts'
import type { Planned } from './survey.ts'
import { type Change, changed, upgraded } from './upgrades.ts'

/** Something else has happened since: everything has to be prepared again. */
export class StalePreparation extends Error {
  constructor() {
    super('The records of the repository have changed since this promotion was prepared')
  }
}

/** How far one collection is with the schema it is to have next. */
export interface Preparation {
  collectionId: string
  /** The one it was prepared from. */
  version: number
  schema: Schema
  declared: object
  hash: string
  changes: readonly Change[]
  checks: Comparison['checks']
  /** All that the next schema wants, those it keeps among them. */
  indexes: readonly Index[]
  /** The new ones, whose entries are being written. */
  fresh: readonly Index[]
  /** Whether rows have to be looked at at all. */
  looksAtRows: boolean
  /** Rows written after that may have been looked at before. */
  begunAt: number
  /** Rows written up to there have been looked at. */
  caughtUpTo: number
  /** Places of rows that did not fit when they were looked at. */
  unfit: Set<number>
  /** Keys that two rows had when the second was looked at. */
  shared: Map<string, { indexId: string; key: string; field: string }>
}

/** Of those laps that are not over by themselves. */
const FIRST_STRIDE = 100
/** What the flip itself may catch up with. */
const LAST_BATCH = 500
/** How often it says that it goes on: in the log, and in its indexes, so that upkeep does not take them for given up. */
const SIGN_EVERY_MS = 10_000

/** Why a row, as the schema in force has it, cannot take the next one: what was counted, and whatever else. */
function problemOf({ checks, schema, changes }: Preparation, data: Data): string | undefined {
  const failed = checks.find(({ fails }) => fails?.(data))
  if (failed) return failed.reason(1)
  const [first] = misfits(schema, changed(data, changes))
  return first && `${first.path?.[1]} ${first.message}, and 1 row does not have it so`
}

export function createPreparations({
  database,
  clock,
  newId,
  log,
}: {
  database: Database
  clock: Clock
  newId: NewId
  log: Log
}) {
  async function lockIn(tx: Tx, { collectionId, version }: Preparation): Promise<Collection> {
    const row = await store.lockCollection(tx, collectionId)
    if (row?.version !== version) throw new StalePreparation()
    return readCollection(row)
  }

  async function touchIn(tx: Tx, { fresh }: Preparation, now: number): Promise<void> {
    const ids = fresh.map(({ id }) => id)
    await entryStore.setIndexState(tx, ids, { from: 'preparing', to: 'preparing', now })
  }

  /** Looks at the next rows that were written, and writes their entries. With the collection locked. */
  async function lookIn(
    tx: Tx,
    preparation: Preparation,
    { collection, most }: { collection: Collection; most: number },
  ): Promise<{ caughtUpTo: number; isLast: boolean }> {
    const { collectionId, changes, fresh, unfit, shared } = preparation
    const after = preparation.caughtUpTo
    const limit = rowsAtOnce(collection.row, most)
    const rows = await store.listChanged(tx, { collectionId, after, limit })
    const read = rows.map((row) => {
      const before = upgraded(JSON.parse(row.data), row.version, collection.upgrades)
      if (problemOf(preparation, before)) unfit.add(row.seq)
      else unfit.delete(row.seq)
      return { id: row.id, seq: row.seq, data: changed(before, changes) }
    })
    await entryStore.deleteEntries(
      tx,
      rows.filter(({ change }) => change > preparation.begunAt).map(({ id }) => id),
      fresh.map(({ id }) => id),
    )
    await entryStore.insertEntries(
      tx,
      read.flatMap((row) => entriesOf(fresh, row, row.data)),
    )
    // Of two rows with one value, the one that is looked at last finds the other.
    for (const index of fresh) {
      const keys = read.filter(({ data }) => isHeldUnique(index, data)).map(({ data }) => keyIn(index, data))
      for (const { key } of await entryStore.listShared(tx, index.id, keys))
        shared.set(`${index.id} ${key}`, { indexId: index.id, key, field: index.fields[0] ?? '' })
    }
    return { caughtUpTo: rows.at(-1)?.change ?? after, isLast: rows.length < limit }
  }

  /** What is still wrong of what was found to be. */
  async function problemsIn(tx: Tx, preparation: Preparation, { upgrades }: Collection): Promise<string[]> {
    const { collectionId, unfit, shared } = preparation
    const problems: string[] = []
    const rows = unfit.size > 0 ? await store.listBySeqs(tx, collectionId, [...unfit]) : []
    for (const row of rows) {
      const problem = problemOf(preparation, upgraded(JSON.parse(row.data), row.version, upgrades))
      if (problem) problems.push(problem)
    }
    for (const { indexId, key, field } of shared.values()) {
      const places = await entryStore.listByKey(tx, { indexId, key, after: 0, limit: 2 })
      if (places.length > 1) problems.push(`${field} becomes unique, and 2 rows have the same value`)
    }
    return problems
  }

  return {
    /** Says which indexes there will be, before an entry of one is written. */
    async begin({ current, comparison, schema, declared, hash }: Planned): Promise<Preparation> {
      if (!current || !comparison) throw new Error('a record that is new needs no preparation')
      const { changes, checks } = comparison
      const touched = new Set(changes.map(({ field }) => field))
      const kept = (wanted: Omit<Index, 'id'>) =>
        current.indexes.find(
          ({ fields, unique }) =>
            unique === wanted.unique &&
            fields.join() === wanted.fields.join() &&
            !fields.some((name) => touched.has(name)),
        )
      const indexes = wantedIndexes(schema).map((wanted) => kept(wanted) ?? { id: newId('idx'), ...wanted })
      const fresh = indexes.filter((index) => !current.indexes.includes(index))
      const collectionId = current.row.id
      if (fresh.length > 0)
        await database.transact(async (tx) => {
          for (const { id } of fresh)
            await entryStore.insertIndex(tx, {
              id,
              collection_id: collectionId,
              state: 'preparing',
              touched_at: clock(),
            })
        })
      return {
        collectionId,
        version: current.row.version,
        schema,
        declared,
        hash,
        changes,
        checks,
        indexes,
        fresh,
        looksAtRows: fresh.length > 0 || checks.length > 0,
        begunAt: current.row.changes,
        caughtUpTo: 0,
        unfit: new Set(),
        shared: new Map(),
      }
    },

    /** Looks at all rows, and then at those that were written meanwhile, until hardly any are. */
    async catchUp(preparation: Preparation, signal?: AbortSignal): Promise<void> {
      const batches = createBatches()
      // Where writers are faster, each lap is run in longer strides than the one before, until they are not.
      const lap = { to: preparation.begunAt, stride: 0 }
      let signedAt = clock()
      for (let isLast = !preparation.looksAtRows; !isLast; ) {
        signal?.throwIfAborted()
        const now = clock()
        const isSigning = now - signedAt >= SIGN_EVERY_MS
        if (isSigning) signedAt = now
        const looked = await database.transact(async (tx) => {
          const collection = await lockIn(tx, preparation)
          if (isSigning) await touchIn(tx, preparation, now)
          const look = (most: number) =>
            lookIn(tx, preparation, { collection, most: Math.max(most, lap.stride) })
          return { ...(await batches.take(look)), written: collection.row.changes }
        })
        preparation.caughtUpTo = looked.caughtUpTo
        isLast = looked.isLast
        if (isSigning) {
          const { caughtUpTo: done, written: of } = looked
          log.info('a promotion looks at rows', { collection: preparation.collectionId, done, of })
        }
        if (looked.caughtUpTo >= lap.to) {
          lap.to = looked.written
          lap.stride = Math.min(LAST_BATCH, 2 * lap.stride || FIRST_STRIDE)
        }
        await batches.rest()
      }
    },

    /** Catches up with the last rows and puts the schema in force; says what stands in the way instead. */
    async finishIn(tx: Tx, preparation: Preparation): Promise<string[]> {
      const collection = await lockIn(tx, preparation)
      const { collectionId, declared, hash, changes, indexes, fresh, version } = preparation
      if (preparation.looksAtRows) {
        const { isLast } = await lookIn(tx, preparation, { collection, most: LAST_BATCH })
        // So many cannot be told in one short transaction.
        const isTooMuch = preparation.unfit.size > LAST_BATCH || preparation.shared.size > LAST_BATCH
        if (!isLast || isTooMuch) throw new StalePreparation()
        const problems = await problemsIn(tx, preparation, collection)
        if (problems.length > 0) return problems
      }
      const now = clock()
      const freshIds = fresh.map(({ id }) => id)
      const isNews = hash !== collection.row.schema_hash
      if (
        (await entryStore.setIndexState(tx, freshIds, { from: 'preparing', to: 'in force', now })) !==
        fresh.length
      )
        throw new StalePreparation()
      const gone = collection.indexes.filter(({ id }) => !indexes.some((index) => index.id === id))
      await entryStore.setIndexState(
        tx,
        gone.map(({ id }) => id),
        { from: 'in force', to: 'dropped', now },
      )
      if (!isNews && collection.row.in_force === 1) return []
      const changesRows = changes.length > 0 || fresh.length > 0 || gone.length > 0
      await store.updateCollection(tx, collectionId, {
        declared: JSON.stringify(publicSchema(declared)),
        schema_hash: hash,
        in_force: 1,
        version: version + 1,
        ...(changes.length > 0 && {
          upgrades: JSON.stringify([...collection.upgrades, { version: version + 1, changes }]),
        }),
        indexes: JSON.stringify(indexes),
        ...(changesRows && { rewritten_to: 0 }),
        updated_at: now,
      })
      return []
    },

    /** What was prepared in vain: its entries go with the next upkeep. */
    async discard(preparations: readonly Preparation[]): Promise<void> {
      const ids = preparations.flatMap(({ fresh }) => fresh.map(({ id }) => id))
      if (ids.length === 0) return
      await database.transact((tx) =>
        entryStore.setIndexState(tx, ids, { from: 'preparing', to: 'dropped', now: clock() }),
      )
    },
  }
}
