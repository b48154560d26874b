/** What a field of a record may hold. */
export type FieldType =
  | 'string'
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'timestamp'
  | 'json'
  | 'enum'
  | 'ref'

/** A field as its schema declares it, known to be valid. */
export interface Field {
  type: FieldType
  required: boolean
  unique: boolean
  default?: unknown
  min?: number
  max?: number
  maxLength?: number
  /** Of an enum. */
  values?: readonly string[]
  transitions?: ReadonlyMap<string, readonly string[]>
  /** Of a ref: the record it leads to. */
  record?: string
}

/** A value as an index and a filter know it: JSON is not among them. */
export type Scalar = string | number | boolean

const MAX_JSON_DEPTH = 64

export const FIELD_TYPES: readonly FieldType[] = [
  'string',
  'text',
  'integer',
  'number',
  'boolean',
  'timestamp',
  'json',
  'enum',
  'ref',
]

export const isNumeric = (type: FieldType) => type === 'integer' || type === 'number' || type === 'timestamp'
export const isTextual = (type: FieldType) => type === 'string' || type === 'text'
/** Whether its values come before and after each other. */
export const isOrdered = (type: FieldType) => isNumeric(type) || isTextual(type)

/** Why a value, which is not null, is not of the type; undefined when it is. */
export function typeProblem(type: FieldType, value: unknown): string | undefined {
  switch (type) {
    case 'string':
    case 'text':
    case 'enum':
    case 'ref':
      if (typeof value !== 'string') return 'must be a string'
      return value.isWellFormed() ? undefined : 'must be well-formed Unicode'
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : 'must be an integer'
    case 'timestamp':
      return Number.isSafeInteger(value) ? undefined : 'must be a time in Unix milliseconds, an integer'
    case 'number':
      return Number.isFinite(value) ? undefined : 'must be a number'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'json':
      return jsonProblem(value)
  }
}

/** Why a value, which is not null, cannot stand in the field; undefined when it can. */
export function valueProblem(field: Field, value: unknown): string | undefined {
  return typeProblem(field.type, value) ?? boundProblem(field, value)
}

function boundProblem({ type, min, max, maxLength, values }: Field, value: unknown): string | undefined {
  if (isNumeric(type)) {
    if (min !== undefined && (value as number) < min) return `must be at least ${min}`
    if (max !== undefined && (value as number) > max) return `must be at most ${max}`
  }
  if (maxLength !== undefined && isTextual(type) && isLonger(value as string, maxLength))
    return `must have at most ${maxLength} characters`
  if (type === 'enum' && !values?.includes(value as string)) return `must be one of ${values?.join(', ')}`
  return undefined
}

/** Counts code points, and no more of them than it has to. */
function isLonger(text: string, maxLength: number): boolean {
  if (text.length <= maxLength) return false
  if (text.length > 2 * maxLength) return true
  let length = 0
  for (const _ of text) if (++length > maxLength) return true
  return false
}

/** Without recursion: what is nested too deeply would end it. */
function jsonProblem(value: unknown): string | undefined {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    // `1e400` is a number in JSON and none that could be given back.
    if (level.some((one) => typeof one === 'number' && !Number.isFinite(one)))
      return 'must have no number beyond what can be kept, which is about 1.8e308'
    const containers = level.filter((one) => typeof one === 'object' && one !== null)
    if (containers.length > 0 && depth === MAX_JSON_DEPTH)
      return `must be JSON of at most ${MAX_JSON_DEPTH} levels`
    level = containers.flatMap((one): unknown[] => (Array.isArray(one) ? one : Object.values(one as object)))
  }
  return undefined
}

/** Orders text by code point, as both databases do; `<` goes by UTF-16 and would put some pairs the other way round. */
export function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    const xIsHalf = x >= 0xd800 && x <= 0xdfff
    const yIsHalf = y >= 0xd800 && y <= 0xdfff
    // Halves of a pair stand for code points above all that need no pair.
    if (xIsHalf !== yIsHalf) return xIsHalf ? 1 : -1
    return x - y
  }
  return a.length - b.length
}
