import type { RecordRow, RecordSchema } from '@trellis/contract'

export type FieldType =
  | 'string'
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'enum'
  | 'timestamp'
  | 'ref'
  | 'json'

/** A field as a descriptor declares it. */
export interface Field {
  name: string
  type: FieldType
  required?: boolean
  unique?: boolean
  default?: unknown
  values?: string[]
  transitions?: Record<string, string[]>
  /** Where a ref leads to. */
  record?: string
  min?: number
  max?: number
  maxLength?: number
}

/** The schema in force was checked when it was promoted: it is as declared. */
export const fieldsOf = ({ fields }: RecordSchema): Field[] =>
  Object.entries(fields).map(([name, declared]) => ({ ...(declared as Omit<Field, 'name'>), name }))

/** What every row has beside its fields, as filters know it. */
export const COLUMNS: readonly Field[] = [
  { name: 'id', type: 'string', required: true },
  { name: 'revision', type: 'integer', required: true },
  { name: 'createdAt', type: 'timestamp', required: true },
  { name: 'updatedAt', type: 'timestamp', required: true },
]

/** What rows can be brought into the order of: the declared indexes, and unique fields, which have one of their own. */
export function ordersOf(schema: RecordSchema): string[] {
  const unique = fieldsOf(schema).filter((field) => field.unique)
  return [...new Set([...(schema.indexes ?? []), ...unique.map(({ name }) => name)])]
}

/** Which values a field with transitions may get next; undefined when any. */
export function nextValues({ values = [], transitions }: Field, now: unknown): string[] | undefined {
  if (!transitions || typeof now !== 'string') return undefined
  return values.filter((value) => value === now || transitions[now]?.includes(value))
}

/** What a row is called, where one has to be told from others: its first short text. */
export function titleOf(schema: RecordSchema | undefined, { id, data }: RecordRow): string {
  const named = schema && fieldsOf(schema).find(({ type }) => type === 'string')
  const title = named && data[named.name]
  return typeof title === 'string' && title !== '' ? title : id
}

/** What a type asks for, in a few words. */
export function askedOf(field: Field): string {
  const { type, required, unique, min, max, maxLength, record, values } = field
  const range =
    min !== undefined && max !== undefined
      ? `${min} to ${max}`
      : min !== undefined
        ? `from ${min}`
        : max !== undefined
          ? `up to ${max}`
          : ''
  return [
    type === 'ref' ? `ref to ${record}` : type,
    required && 'required',
    unique && 'unique',
    range,
    maxLength !== undefined && `at most ${maxLength} characters`,
    values && `${values.length} values`,
  ]
    .filter(Boolean)
    .join(' · ')
}
