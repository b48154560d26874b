import type { Db } from '../schema.ts'
import { stretchOf } from './access-path.ts'
import type { Collection, Index } from './collection.ts'
import * as entryStore from './entry-store.ts'
import { rangeAfter } from './keys.ts'
import type { Source } from './pages.ts'
import type { RecordTableRow } from './store.ts'
import type { Filter } from './where.ts'

/** The order of an index, or the other way round. */
export interface Sort {
  index: Index
  descending: boolean
}

/** Where a page in that order ended. */
export interface SortedPlace {
  key: string
  seq: number
}

type SortedRow = RecordTableRow & { entry_key: string }

/** The index that `status,priority` names, and with a minus before it from its end; undefined when there is none. */
export function parseSort(text: string, { indexes }: Pick<Collection, 'indexes'>): Sort | undefined {
  const descending = text.startsWith('-')
  const wanted = descending ? text.slice(1) : text
  const index = indexes.find(({ fields }) => fields.join(',') === wanted)
  return index && { index, descending }
}

/** Goes along an index, only where the filter can find something. */
export function openSorted(
  db: Db,
  { index, descending }: Sort,
  filter: Filter | undefined,
): { source: Source<SortedRow, SortedPlace>; start: SortedPlace } {
  const { from, to } = stretchOf(filter, index) ?? rangeAfter('')
  const list = descending ? entryStore.listDownwards : entryStore.listUpwards
  const end = descending ? from : to
  return {
    // No row has the number 0: a place before all rows of a key, and so after all rows of the keys below it.
    start: { key: descending ? to : from, seq: 0 },
    source: async (after, limit) => {
      const rows = await list(db, { indexId: index.id, key: after.key, seq: after.seq, end, limit })
      const last = rows.at(-1)
      return {
        rows,
        reached: last ? { key: last.entry_key, seq: last.seq } : after,
        isLast: rows.length < limit,
      }
    },
  }
}
