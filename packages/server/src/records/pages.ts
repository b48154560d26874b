import { createPauses } from '../platform/pauses.ts'
import type { Db } from '../schema.ts'
import { type AccessPath, choosePath } from './access-path.ts'
import type { Collection } from './collection.ts'
import * as entryStore from './entry-store.ts'
import { compileFilter, type MatchedRow } from './matching.ts'
import { openSorted, type Sort, type SortedPlace } from './sorted.ts'
import * as store from './store.ts'
import { upgraded } from './upgrades.ts'
import type { Filter } from './where.ts'

/** A page looks at so many rows, whatever it finds. */
const MAX_LOOKED_AT = 20_000
/** Or at rows of so many bytes, as often as they are searched. */
const MAX_LOOKED_AT_BYTES = 64 * 1024 * 1024
/** A row that takes as long as this many bytes do to search lets others in between. */
const LONG_SEARCH_BYTES = 512 * 1024
/** And is no larger than this, but for its last row. */
const MAX_PAGE_BYTES = 1024 * 1024
/** Entries of ranges are put into order in memory. Where there are more, all rows are gone through instead. */
const MAX_SORTED = 5_000

/** How many rows are read at once: the next may each be as large as a row can be, whatever those before were. */
const FIRST_PIECE = 16
const LARGEST_PIECE = 64
const PIECE_BYTES = 1024 * 1024

/** The schema changed while a page was read: it has to be read again. */
export class Outdated extends Error {}

/** A row as it is answered. */
export const present = (
  { upgrades }: Pick<Collection, 'upgrades'>,
  row: store.RecordTableRow,
): MatchedRow => ({
  id: row.id,
  revision: row.revision,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  data: upgraded(JSON.parse(row.data), row.version, upgrades),
})

interface Wanted<Place> {
  collection: Collection
  filter: Filter | undefined
  after: Place
  limit: number
  signal?: AbortSignal
}

/** The rows of a page in the order they were made, and the place to go on from; undefined when there is nothing more. */
export async function readPage(db: Db, wanted: Wanted<number>): Promise<Found<number>> {
  const { collection, filter, after } = wanted
  const source = await openSource(db, collection.row.id, choosePath(filter, collection.indexes), after)
  return walk(source, ({ seq }) => seq, wanted)
}

/** The same in the order of an index. */
export function readSortedPage(
  db: Db,
  sort: Sort,
  wanted: Wanted<SortedPlace | undefined>,
): Promise<Found<SortedPlace>> {
  const { source, start } = openSorted(db, sort, wanted.filter)
  return walk(source, ({ entry_key, seq }) => ({ key: entry_key, seq }), {
    ...wanted,
    after: wanted.after ?? start,
  })
}

interface Found<Place> {
  rows: MatchedRow[]
  next: Place | undefined
}

async function walk<Row extends store.RecordTableRow, Place>(
  source: Source<Row, Place>,
  placeOf: (row: Row) => Place,
  { collection, filter, after, limit, signal }: Wanted<Place>,
): Promise<Found<Place>> {
  const matcher = filter && compileFilter(filter)
  const searches = Math.max(1, matcher?.searches ?? 1)
  const pause = createPauses()
  const isFound = (row: MatchedRow, bytes: number): boolean | Promise<boolean> => {
    if (!matcher) return true
    return bytes > LONG_SEARCH_BYTES ? matcher.matchesInTurns(row, pause) : matcher.matches(row)
  }
  const rows: MatchedRow[] = []
  let place = after
  let at = after
  let found = after
  let [looked, lookedBytes, pageBytes] = [0, 0, 0]
  for (;;) {
    const left = MAX_LOOKED_AT - looked
    if (left === 0 || lookedBytes > MAX_LOOKED_AT_BYTES) return { rows, next: place }
    signal?.throwIfAborted()
    // Where an index answers all of the filter, so many are enough.
    const fitting =
      looked === 0 ? Math.min(FIRST_PIECE, limit + 1) : Math.ceil((PIECE_BYTES * looked) / lookedBytes)
    const wanted = Math.min(left, fitting, LARGEST_PIECE, filter ? LARGEST_PIECE : limit + 1 - rows.length)
    const piece = await source(place, wanted)
    for (const row of piece.rows) {
      if (row.version > collection.row.version) throw new Outdated()
      if (lookedBytes > MAX_LOOKED_AT_BYTES) return { rows, next: at }
      looked++
      lookedBytes += row.bytes * searches
      const presented = present(collection, row)
      if (await isFound(presented, row.bytes * searches)) {
        if (rows.length === limit || pageBytes >= MAX_PAGE_BYTES) return { rows, next: found }
        rows.push(presented)
        pageBytes += row.bytes
        found = placeOf(row)
      }
      at = placeOf(row)
      await pause()
    }
    if (piece.isLast) return { rows, next: undefined }
    place = piece.reached
  }
}

interface Piece<Row, Place> {
  rows: Row[]
  /** The last place that was looked at; a row may have gone from there meanwhile. */
  reached: Place
  isLast: boolean
}

/** Gives the next rows after a place, up to so many, in order. */
export type Source<Row, Place> = (after: Place, limit: number) => Promise<Piece<Row, Place>>
type ByPlace = Source<store.RecordTableRow, number>

async function openSource(db: Db, collectionId: string, path: AccessPath, after: number): Promise<ByPlace> {
  const everything: ByPlace = async (from, limit) => {
    const rows = await store.listRecords(db, { collectionId, after: from, limit })
    return { rows, reached: rows.at(-1)?.seq ?? from, isLast: rows.length < limit }
  }
  const atPlaces = async (places: number[], from: number, limit: number) => ({
    rows: places.length > 0 ? await store.listBySeqs(db, collectionId, places) : [],
    reached: places.at(-1) ?? from,
    isLast: places.length < limit,
  })
  const fromSorted =
    (places: number[]): ByPlace =>
    async (from, limit) => {
      const first = places.findIndex((place) => place > from)
      return atPlaces(first < 0 ? [] : places.slice(first, first + limit), from, limit)
    }

  switch (path.kind) {
    case 'all':
      return everything
    case 'ids': {
      const found = path.ids.length > 0 ? await store.listPlacesOf(db, collectionId, path.ids) : []
      return fromSorted(inOrder(found.map(({ seq }) => seq)))
    }
    case 'keys': {
      const { indexId, keys } = path
      const [only = ''] = keys
      if (keys.length === 1)
        return async (from, limit) => {
          const rows = await entryStore.listRecordsByKey(db, { indexId, key: only, after: from, limit })
          return { rows, reached: rows.at(-1)?.seq ?? from, isLast: rows.length < limit }
        }
      return async (from, wanted) => {
        // The first of each key are the first of all.
        const limit = Math.min(wanted, Math.ceil(MAX_SORTED / keys.length))
        const places: number[] = []
        for (const key of keys)
          for (const { seq } of await entryStore.listByKey(db, { indexId, key, after: from, limit }))
            places.push(seq)
        return atPlaces(inOrder(places).slice(0, limit), from, limit)
      }
    }
    case 'ranges': {
      const places: number[] = []
      for (const range of path.ranges) {
        const limit = MAX_SORTED + 1 - places.length
        for (const { seq } of await entryStore.listByRange(db, { indexId: path.indexId, ...range, limit }))
          places.push(seq)
        if (places.length > MAX_SORTED) return everything
      }
      return fromSorted(inOrder(places.filter((place) => place > after)))
    }
  }
}

const inOrder = (places: number[]): number[] => places.sort((a, b) => a - b)
