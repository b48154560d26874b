import type { Issue, RecordRow, RecordSchema } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import { numberCursor } from '../platform/cursors.ts'
import { Fault } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import {
  bytesOf,
  type Collection,
  entriesOf,
  type Index,
  isHeldUnique,
  keyIn,
  readCollection,
  UnreadableSchema,
} from './collection.ts'
import { Outdated, present, readPage } from './pages.ts'
import { at, changedData, type Data, newData, valueIn } from './rows.ts'
import * as store from './store.ts'
import { upgraded } from './upgrades.ts'
import { parseWhere } from './where.ts'

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

/** Bytes are taken from the organization in lots, so that its row is not locked by every write. */
const LOT_BYTES = 1024 * 1024
/** More than any one write adds. */
const HEADROOM_BYTES = LOT_BYTES / 2

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
    repo: RepoRow,
    place: Place,
    grows: boolean,
    work: (tx: Tx, collection: Collection, reserved: number) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const { row } = await open(repo, place)
      const lots = grows ? lotsMissing(row) : -lotsToSpare(row)
      try {
        return await database.transact(async (tx) => {
          // The organization is locked before what belongs to its repositories.
          if (lots !== 0) await repos.takeRoomIn(tx, repo, lots * LOT_BYTES)
          return work(tx, read(place, await store.lockCollection(tx, row.id)), lots * LOT_BYTES)
        })
      } catch (error) {
        // Others have taken what was left.
        if (!(error instanceof NoRoom)) throw error
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

  /** What only the database knows of a row: that a value is taken, or leads nowhere. */
  async function relationsIn(
    tx: Tx,
    repo: RepoRow,
    { schema, indexes }: Collection,
    { seq, before, data }: { seq: number; before?: Data; data: Data },
  ): Promise<Issue[]> {
    const isNew = (name: string) => valueIn(data, name) !== (before && valueIn(before, name))
    const issues: Issue[] = []
    for (const index of indexes) {
      const [name = ''] = index.fields
      if (isHeldUnique(index, data) && isNew(name) && (await isTaken(tx, index, seq, data)))
        issues.push(at(name, 'is taken: another row has this value'))
    }
    for (const [name, { type, record = '' }] of schema.fields) {
      const id = valueIn(data, name)
      if (type !== 'ref' || typeof id !== 'string' || !isNew(name)) continue
      const target = await store.findCollection(tx, repo.id, record)
      const isThere =
        target?.in_force === 1 && !id.includes('\0') && (await store.findRecord(tx, target.id, id))
      if (!isThere) issues.push(at(name, `leads to no ${record}`))
    }
    return issues
  }

  const isTaken = (tx: Tx, index: Index, seq: number, data: Data) =>
    store.isKeyTaken(tx, { indexId: index.id, key: keyIn(index, data), seq })

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
    async list(
      caller: Caller,
      input: Place & { where?: Data | undefined; limit: number; cursor?: string | undefined },
      signal?: AbortSignal,
    ): Promise<{ rows: RecordRow[]; cursor: string | null; schema: RecordSchema }> {
      const repo = await repos.open(caller, input.name, 'repo:read')
      for (;;) {
        const collection = await open(repo, input)
        const { filter, issues } = parseWhere(collection.schema, input.where ?? {})
        refuse(issues)
        const page = {
          collection,
          filter: input.where && filter,
          after: Math.max(0, numberCursor.decode(input.cursor) ?? 0),
          limit: input.limit,
          ...(signal && { signal }),
        }
        try {
          const { rows, next } = await readPage(database.db, page)
          return {
            rows,
            cursor: next === undefined ? null : numberCursor.encode(next),
            schema: presentSchema(collection),
          }
        } catch (error) {
          if (!(error instanceof Outdated)) throw error
        }
      }
    },

    async get(caller: Caller, { id, ...place }: Place & { id: string }): Promise<RecordRow> {
      const repo = await repos.open(caller, place.name, 'repo:read')
      for (;;) {
        const collection = await open(repo, place)
        const row = await store.findRecord(database.db, collection.row.id, id)
        if (!row) throw new Fault('RECORD_NOT_FOUND', { ...place, id })
        // Written since, under a later schema: that one says how to read it.
        if (row.version <= collection.row.version) return present(collection, row)
      }
    },

    async create(caller: Caller, input: Place & { data: Data }): Promise<RecordRow> {
      const { record } = input
      const repo = await repos.open(caller, input.name, 'repo:write')
      refuse(newData((await open(repo, input)).schema, input.data).issues)
      return write(repo, input, true, async (tx, collection, reserved) => {
        const { data, issues } = newData(collection.schema, input.data)
        refuse(issues)
        const seq = collection.row.changes + 1
        refuse(await relationsIn(tx, repo, collection, { seq, data }))
        const id = newId('rec')
        const json = toJson(data)
        const entries = entriesOf(collection.indexes, { id, seq }, data)
        const bytes = bytesOf(json, entries)
        await countIn(tx, collection, { rows: 1, bytes, reserved })
        const now = clock()
        const row = {
          id,
          collection_id: collection.row.id,
          seq,
          change: seq,
          version: collection.row.version,
          revision: 1,
          data: json,
          bytes,
          created_at: now,
          updated_at: now,
        }
        await store.insertRecord(tx, row)
        await store.insertEntries(tx, entries)
        const presented = present(collection, row)
        await events.append(tx, {
          ...told(caller, record, presented),
          scope: repoScope(repo.id),
          type: 'record.created',
        })
        return presented
      })
    },

    async update(
      caller: Caller,
      input: Place & { id: string; revision: number; data: Data },
    ): Promise<RecordRow> {
      const { record, id } = input
      const repo = await repos.open(caller, input.name, 'repo:write')
      // Whatever the row holds.
      refuse(changedData((await open(repo, input)).schema, {}, input.data).issues)
      return write(repo, input, true, async (tx, collection, reserved) => {
        const old = await lockedRowIn(tx, collection, input)
        const before = upgraded(JSON.parse(old.data), old.version, collection.upgrades)
        const { data, issues, transitions } = changedData(collection.schema, before, input.data)
        refuse(issues)
        refuse(await relationsIn(tx, repo, collection, { seq: old.seq, before, data }))
        const json = toJson(data)
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
        await store.deleteEntries(
          tx,
          [id],
          collection.indexes.map((index) => index.id),
        )
        await store.insertEntries(tx, entries)
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
      const repo = await repos.open(caller, input.name, 'repo:write')
      return write(repo, input, false, async (tx, collection, reserved) => {
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

type Room = Pick<store.CollectionRow, 'bytes' | 'reserved_bytes'>

const lotsMissing = ({ bytes, reserved_bytes }: Room): number =>
  Math.max(0, Math.ceil((bytes + HEADROOM_BYTES - reserved_bytes) / LOT_BYTES))

/** None of the last few, so that what shrinks and grows again does not lock its organization every time. */
const lotsToSpare = ({ bytes, reserved_bytes }: Room): number => {
  const free = Math.floor((reserved_bytes - bytes) / LOT_BYTES)
  return free > 4 ? free - 2 : 0
}

/** What was reserved is used up. */
class NoRoom extends Error {}

function refuse(issues: Issue[]): void {
  if (issues.length > 0) throw new Fault('BAD_REQUEST', { issues })
}

function toJson(data: Data): string {
  const json = JSON.stringify(data)
  if (Buffer.byteLength(json) > MAX_ROW_BYTES)
    refuse([{ path: ['data'], message: `must not have more than ${MAX_ROW_BYTES} bytes as JSON` }])
  return json
}

const presentSchema = ({ declared }: Collection): RecordSchema =>
  ({ hooks: {}, ...declared }) as unknown as RecordSchema
