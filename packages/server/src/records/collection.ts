import type { Scalar } from './fields.ts'
import { keyOf } from './keys.ts'
import { type Data, valueIn } from './rows.ts'
import { parseSchema, type Schema } from './schema.ts'
import type { CollectionRow, EntryRow } from './store.ts'
import type { Upgrade } from './upgrades.ts'

/** What entries are kept for: a declared index, or the values of a unique field. */
export interface Index {
  id: string
  fields: readonly string[]
  unique: boolean
}

/** A collection as it stands in its row, read. */
export interface Collection {
  row: CollectionRow
  /** As it is answered: without what only migrations read. */
  declared: Record<string, unknown>
  schema: Schema
  upgrades: readonly Upgrade[]
  indexes: readonly Index[]
}

/** A schema that was in force and cannot be read any more. */
export class UnreadableSchema extends Error {}

export function readCollection(row: CollectionRow): Collection {
  const declared = JSON.parse(row.declared)
  const { schema, issues } = parseSchema(declared)
  if (!schema) {
    const [first] = issues
    throw new UnreadableSchema(`${first?.path?.join('.')}: ${first?.message}`)
  }
  return {
    row,
    declared,
    schema,
    upgrades: JSON.parse(row.upgrades),
    indexes: JSON.parse(row.indexes),
  }
}

/** What a schema wants entries for. A unique field needs no second index to be found by. */
export function wantedIndexes({ fields, indexes }: Schema): Omit<Index, 'id'>[] {
  const unique = [...fields].filter(([, field]) => field.unique).map(([name]) => name)
  const declared = indexes.filter(([first, second]) => second || !unique.includes(first ?? ''))
  return [
    ...unique.map((name) => ({ fields: [name], unique: true })),
    ...declared.map((names) => ({ fields: names, unique: false })),
  ]
}

export const keyIn = ({ fields }: Pick<Index, 'fields'>, data: Data): string =>
  keyOf(fields.map((name) => (valueIn(data, name) ?? null) as Scalar | null))

export const entriesOf = (
  indexes: readonly Index[],
  { id, seq }: { id: string; seq: number },
  data: Data,
): EntryRow[] => indexes.map((index) => ({ index_id: index.id, key: keyIn(index, data), seq, record_id: id }))

/** Whether it must be the only row with its value there. */
export const isHeldUnique = ({ unique, fields: [name = ''] }: Omit<Index, 'id'>, data: Data): boolean =>
  unique && valueIn(data, name) !== undefined

/** For a row and for an entry, beside what is in them. */
const ROW_BYTES = 256
const ENTRY_BYTES = 96

/** What a row counts for, with its entries. */
export const bytesOf = (json: string, entries: readonly EntryRow[]): number =>
  ROW_BYTES +
  Buffer.byteLength(json) +
  entries.reduce((sum, { key }) => sum + ENTRY_BYTES + Buffer.byteLength(key), 0)
