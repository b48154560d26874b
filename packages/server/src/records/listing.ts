import type { RecordCollection, RecordRow, RecordSchema } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { numberCursor, textCursor } from '../platform/cursors.ts'
import { invalid } from '../platform/fault.ts'
import { createPlaces } from '../platform/places.ts'
import { placeOwnerOf } from '../repos/place-owner.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import { type Collection, readCollection, UnreadableSchema } from './collection.ts'
import { Outdated, readPage, readSortedPage } from './pages.ts'
import { refuse } from './refusing.ts'
import type { Data } from './rows.ts'
import { parseSort, type Sort, type SortedPlace } from './sorted.ts'
import * as store from './store.ts'
import { parseWhere } from './where.ts'

/** Pages that are being read hold rows in memory, more than they will give. */
const PAGES_AT_ONCE = 8
const PAGES_PER_OWNER = 3

interface ListingDeps {
  database: Database
  repos: ReposService
  open(repo: RepoRow, place: Place): Promise<Collection>
}

interface Place {
  name: string
  record: string
}

interface PageInput extends Place {
  where?: Data | undefined
  sort?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Rows by pages, and what there are rows of. */
export function createListing({ database, repos, open }: ListingDeps) {
  const pages = createPlaces({ size: PAGES_AT_ONCE, perOwner: PAGES_PER_OWNER })

  async function readOne(
    collection: Collection,
    { where, sort, cursor, limit }: PageInput,
    signal?: AbortSignal,
  ) {
    const { filter, issues } = parseWhere(collection.schema, where ?? {})
    refuse(issues)
    const page = { collection, filter: where && filter, limit, ...(signal && { signal }) }
    if (sort === undefined) {
      const after = Math.max(0, numberCursor.decode(cursor) ?? 0)
      const { rows, next } = await readPage(database.db, { ...page, after })
      return { rows, cursor: next === undefined ? null : numberCursor.encode(next) }
    }
    const by = parseSort(sort, collection)
    if (!by) throw invalid(['sort'], `is no index of this record: ${indexesOf(collection)}`)
    const after = decodePlace(by, cursor)
    const { rows, next } = await readSortedPage(database.db, by, { ...page, after })
    return { rows, cursor: next === undefined ? null : encodePlace(by, next) }
  }

  return {
    /** The collections in force of a repository that was opened. */
    countCollections: (repo: RepoRow) => store.countCollections(database.db, repo.id),

    /** What is in force, and how many rows there are of it. */
    async collections(caller: Caller, { name }: { name: string }): Promise<{ items: RecordCollection[] }> {
      const repo = await repos.open(caller, name, 'repo:read')
      const rows = await store.listCollections(database.db, repo.id)
      const items = rows.flatMap((row) => {
        const collection = row.in_force === 1 && readable(row)
        return collection
          ? [{ schema: presentSchema(collection), rows: row.row_count, bytes: row.bytes }]
          : []
      })
      return { items }
    },

    async list(
      caller: Caller,
      input: PageInput,
      signal?: AbortSignal,
    ): Promise<{ rows: RecordRow[]; cursor: string | null; schema: RecordSchema }> {
      const repo = await repos.open(caller, input.name, 'repo:read')
      const owner = placeOwnerOf(repo)
      for (;;) {
        const collection = await open(repo, input)
        try {
          using _place = await pages.acquire(owner, signal)
          return { ...(await readOne(collection, input, signal)), schema: presentSchema(collection) }
        } catch (error) {
          if (!(error instanceof Outdated)) throw error
        }
      }
    },
  }
}

function readable(row: store.CollectionRow): Collection | undefined {
  try {
    return readCollection(row)
  } catch (error) {
    if (error instanceof UnreadableSchema) return undefined
    throw error
  }
}

const indexesOf = ({ indexes }: Collection): string =>
  indexes.length === 0 ? 'it has none' : `it has ${indexes.map(({ fields }) => fields.join(',')).join('; ')}`

/** With what it is a place in: in another order it means nothing, and the listing starts over. */
const encodePlace = ({ index, descending }: Sort, { key, seq }: SortedPlace): string =>
  textCursor.encode(JSON.stringify([index.id, descending, key, seq]))

function decodePlace({ index, descending }: Sort, cursor: string | undefined): SortedPlace | undefined {
  try {
    const [id, wasDescending, key, seq] = JSON.parse(textCursor.decode(cursor) ?? '[]')
    const isOfThis = id === index.id && wasDescending === descending
    const isPlace = typeof key === 'string' && !key.includes('\0') && Number.isSafeInteger(seq)
    return isOfThis && isPlace ? { key, seq } : undefined
  } catch {
    return undefined
  }
}

const presentSchema = ({ declared }: Collection): RecordSchema => ({ hooks: {}, ...declared }) as RecordSchema
