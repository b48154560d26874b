import type { Issue, RecordRow } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import { createPauses, createPausesInTransaction } from '../platform/pauses.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { bytesOf, type Collection, entriesOf, readCollection, UnreadableSchema } from './collection.ts'
import * as entryStore from './entry-store.ts'
import { createListing } from './listing.ts'
import { present } from './pages.ts'
import { refuse } from './refusing.ts'
import { relationIssues } from './relations.ts'
import { HEADROOM_BYTES, LOT_BYTES, lotsMissing, lotsToSpare } from './room.ts'
import { changedData, type Data, newData } from './rows.ts'
import * as store from './store.ts'
import { upgraded } from './upgrades.ts'

interface RecordsDeps {
  database: Database
  events: EventsService
  repos: ReposService
  clock: Clock
  newId: NewId
  limits: { rowsPerRecord: number }
}

interface Place {
  name: string
  record: string
}

const MAX_ROW_BYTES = 256 * 1024

export type RecordsService = ReturnType<typeof createRecordsService>

/** Rows of the records that are in force. */
export function createRecordsService(deps: RecordsDeps) {
  const { database, events, repos, clock, newId, limits } = deps

  function read(place: Place, row: store.CollectionRow | undefined): Collection {
    if (row?.in_force !== 1)
      throw new Fault('RECORD_SCHEMA_NOT_FOUND', { name: place.name, record: place.record })
    try {
      return readCollection(row)
    } catch (error) {
      if (!(error instanceof UnreadableSchema)) throw error
      const { name, record } = place
      throw new Fault('RECORD_SCHEMA_INVALID', { name, record, reason: error.message }, { cause: error })
    }
  }

  const open = async (repo: RepoRow, place: Place): Promise<Collection> =>
    read(place, await store.findCollection(database.db, repo.id, place.record))

  /** Does `work` with the collection locked, as it is then; where it grows, with room for what a write may add. */
  async function write<T>(
    { repo, place, opened, grows }: { repo: RepoRow; place: Place; opened: Collection; grows: boolean },
    work: (tx: Tx, collection: Collection, reserved: number) => Promise<T>,
  ): Promise<T> {
    let { row } = opened
    for (let headroom = HEADROOM_BYTES; ; headroom *= 2) {
      const lots = grows ? lotsMissing(row, headroom) : -lotsToSpare(row)
      const { id } = row
      try {
        return await database.transact(async (tx) => {
          // The organization is locked before what belongs to its repositories.
          if (lots !== 0) await repos.takeRoomIn(tx, repo, lots * LOT_BYTES)
          return work(tx, read(place, await store.lockCollection(tx, id)), lots * LOT_BYTES)
        })
      } catch (error) {
        // Others have taken what was left, or it was many rows.
        if (!(error instanceof NoRoom)) throw error
        row = (await open(repo, place)).row
      }
    }
  }

  async function countIn(
    tx: Tx,
    { row }: Collection,
    by: { rows: number; bytes: number; reserved: number },
  ): Promise<number> {
    const counted = await store.countWrite(tx, { id: row.id, ...by })
    if (counted.bytes > counted.reserved_bytes && by.bytes > 0) throw new NoRoom()
    const limit = limits.rowsPerRecord
    if (by.rows > 0 && counted.row_count > limit)
      throw new Fault('QUOTA_EXCEEDED', {
        scope: 'org',
        limit,
        observed: counted.row_count - 1,
        projected: counted.row_count,
      })
    return counted.changes
  }

  /** Adds rows, one after the other: the next sees that a value is taken by the one before. */
  async function insertIn(
    tx: Tx,
    { collection, reserved, all }: { collection: Collection; reserved: number; all: readonly Data[] },
    refuseOne: (issues: Issue[], place: number) => void,
  ): Promise<RecordRow[]> {
    const { schema, indexes } = collection
    const { id: collection_id, version, changes } = collection.row
    const now = clock()
    const rows: RecordRow[] = []
    const pause = createPausesInTransaction()
    for (const [i, given] of all.entries()) {
      await pause()
      const { data, issues } = newData(schema, given)
      refuseOne(issues, i)
      const seq = changes + 1 + i
      refuseOne(await relationIssues(tx, collection, { seq, given, data }), i)
      const id = newId('rec')
      const json = JSON.stringify(data)
      refuseOne(sizeIssues(json), i)
      const entries = entriesOf(indexes, { id, seq }, data)
      const bytes = bytesOf(json, entries)
      await countIn(tx, collection, { rows: 1, bytes, reserved: i === 0 ? reserved : 0 })
      const times = { created_at: now, updated_at: now }
      const row = { id, collection_id, seq, change: seq, version, revision: 1, data: json, bytes, ...times }
      await store.insertRecord(tx, row)
      await entryStore.insertEntries(tx, entries)
      rows.push(present(collection, row))
    }
    return rows
  }

  async function find(repo: RepoRow, { name, record, id }: Place & { id: string }) {
    const collection = await open(repo, { name, record })
    const row = await store.findRecord(database.db, collection.row.id, id)
    if (!row) throw new Fault('RECORD_NOT_FOUND', { name, record, id })
    return { collection, row }
  }

  async function lockedRowIn(
    tx: Tx,
    collection: Collection,
    { name, record, id, revision }: Place & { id: string; revision: number },
  ): Promise<store.RecordTableRow> {
    const row = await store.findRecord(tx, collection.row.id, id)
    if (!row) throw new Fault('RECORD_NOT_FOUND', { name, record, id })
    if (row.revision !== revision)
      throw new Fault('RECORD_REVISION_CONFLICT', {
        name,
        record,
        id,
        expectedRevision: revision,
        actualRevision: row.revision,
      })
    return row
  }

  const told = (caller: Caller, record: string, row: RecordRow, more: object = {}) => ({
    ...by(caller),
    subject: `${record}/${row.id}`,
    payload: { record, row, ...more },
  })

  return {
    ...createListing({ database, repos, open }),

    async get(caller: Caller, { id, ...place }: Place & { id: string }): Promise<RecordRow> {
      const repo = await repos.open(caller, place.name, 'repo:read')
      for (;;) {
        const { collection, row } = await find(repo, { ...place, id })
        // Written since, under a later schema: that one says how to read it.
        if (row.version <= collection.row.version) return present(collection, row)
      }
    },

    async create(caller: Caller, input: Place & { data: Data }): Promise<RecordRow> {
      const { record } = input
      const repo = await repos.open(caller, input.name, 'repo:write', (repo) => open(repo, input))
      const opened = await open(repo, input)
      refuse(newData(opened.schema, input.data).issues)
      return write({ repo, place: input, opened, grows: true }, async (tx, collection, reserved) => {
        const [row] = await insertIn(tx, { collection, reserved, all: [input.data] }, refuse)
        if (!row) throw new Error('a row was added and is not there')
        await events.append(tx, {
          ...told(caller, record, row),
          scope: repoScope(repo.id),
          type: 'record.created',
        })
        return row
      })
    },

    /** Adds many rows, all of them or none. What is wrong is told with the place in the list before it. */
    async createMany(caller: Caller, place: Place, all: readonly Data[]): Promise<void> {
      const repo = await repos.open(caller, place.name, 'repo:write', (repo) => open(repo, place))
      const opened = await open(repo, place)
      if (all.length === 0) return
      const refuseAt = (issues: Issue[], i: number) =>
        refuse(issues.map(({ path = [], message }) => ({ path: [i, ...path], message })))
      const pause = createPauses()
      for (const [i, data] of all.entries()) {
        await pause()
        refuseAt(newData(opened.schema, data).issues, i)
      }
      await write({ repo, place, opened, grows: true }, async (tx, collection, reserved) => {
        const rows = await insertIn(tx, { collection, reserved, all }, refuseAt)
        await events.appendAll(
          tx,
          repoScope(repo.id),
          rows.map((row) => ({ ...told(caller, place.record, row), type: 'record.created' })),
        )
      })
    },

    async update(
      caller: Caller,
      input: Place & { id: string; revision: number; data: Data },
    ): Promise<RecordRow> {
      const { record, id } = input
      const repo = await repos.open(caller, input.name, 'repo:write', (repo) => find(repo, input))
      const opened = await open(repo, input)
      // Whatever the row holds.
      refuse(changedData(opened.schema, {}, input.data).issues)
      return write({ repo, place: input, opened, grows: true }, async (tx, collection, reserved) => {
        const old = await lockedRowIn(tx, collection, input)
        const before = upgraded(JSON.parse(old.data), old.version, collection.upgrades)
        const { data, issues, transitions } = changedData(collection.schema, before, input.data)
        refuse(issues)
        refuse(await relationIssues(tx, collection, { seq: old.seq, before, given: input.data, data }))
        const json = JSON.stringify(data)
        refuse(sizeIssues(json))
        const entries = entriesOf(collection.indexes, old, data)
        const bytes = bytesOf(json, entries)
        const change = await countIn(tx, collection, { rows: 0, bytes: bytes - old.bytes, reserved })
        const written = {
          change,
          version: collection.row.version,
          revision: old.revision + 1,
          data: json,
          bytes,
          updated_at: clock(),
        }
        await store.updateRecord(tx, id, written)
        await entryStore.deleteEntries(
          tx,
          [id],
          collection.indexes.map((index) => index.id),
        )
        await entryStore.insertEntries(tx, entries)
        const presented = present(collection, { ...old, ...written })
        await events.appendAll(tx, repoScope(repo.id), [
          {
            ...told(caller, record, presented, { changed: Object.keys(input.data) }),
            type: 'record.updated',
          },
          ...(transitions.length > 0
            ? [
                {
                  ...told(caller, record, presented, { before, transitions }),
                  type: 'record.transitioned' as const,
                },
              ]
            : []),
        ])
        return presented
      })
    },

    async delete(
      caller: Caller,
      input: Place & { id: string; revision: number },
    ): Promise<{ deleted: true }> {
      const { record, id } = input
      const repo = await repos.open(caller, input.name, 'repo:write', (repo) => find(repo, input))
      const opened = await open(repo, input)
      return write({ repo, place: input, opened, grows: false }, async (tx, collection, reserved) => {
        const old = await lockedRowIn(tx, collection, input)
        await countIn(tx, collection, { rows: -1, bytes: -old.bytes, reserved })
        await store.deleteRecord(tx, id)
        await events.append(tx, {
          ...told(caller, record, present(collection, old)),
          scope: repoScope(repo.id),
          type: 'record.deleted',
        })
        return { deleted: true }
      })
    },
  }
}

/** What was reserved is used up. */
class NoRoom extends Error {}

const sizeIssues = (json: string): Issue[] =>
  Buffer.byteLength(json) > MAX_ROW_BYTES
    ? [{ path: ['data'], message: `must not have more than ${MAX_ROW_BYTES} bytes as JSON` }]
    : []
