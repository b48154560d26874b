import type { Issue } from '@trellis/contract'
import {
  FIELD_TYPES,
  type Field,
  type FieldType,
  isNumeric,
  isTextual,
  typeProblem,
  valueProblem,
} from './fields.ts'

/** A record schema, known to be valid. Maps, so that no name means something else. */
export interface Schema {
  name: string
  fields: ReadonlyMap<string, Field>
  indexes: readonly (readonly string[])[]
  /** Fields that are gone, whose data may go. */
  drop: readonly string[]
  hooks: { onCreate?: boolean; onTransition?: boolean }
}

type ParsedSchema = { schema: Schema; issues?: undefined } | { schema?: undefined; issues: Issue[] }

type Path = (string | number)[]
type Tell = (path: Path, message: string) => void
type Json = Record<string, unknown>

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/
const MAX_NAME = 64
const MAX_FIELDS = 64
const MAX_INDEXES = 16
const MAX_INDEX_FIELDS = 4
const MAX_ENUM_VALUES = 200
const MAX_DROPPED = 1000

/** What `where` understands in the place of a field. */
export const COLUMNS = ['id', 'revision', 'createdAt', 'updatedAt'] as const
const TAKEN: readonly string[] = [...COLUMNS, 'and', 'or', 'not']

/**
 * Reads what a descriptor has under `record`, or says everything that is wrong with it, each at its path below there.
 */
export function parseSchema(given: unknown): ParsedSchema {
  const issues: Issue[] = []
  const tell: Tell = (path, message) => issues.push({ path, message })
  const schema = readSchema(given, tell)
  return issues.length === 0 && schema ? { schema } : { issues }
}

function readSchema(given: unknown, tell: Tell): Schema | undefined {
  if (!isObject(given)) {
    tell([], 'must be an object')
    return undefined
  }
  refuseOthers(given, ['name', 'fields', 'indexes', 'hooks', 'drop'], [], tell)
  const { name } = given
  if (typeof name !== 'string' || !NAME.test(name) || name.length > MAX_NAME)
    tell(['name'], `must be letters, digits and underscores, starting with a letter, at most ${MAX_NAME}`)
  const fields = readFields(given.fields, tell)
  return {
    name: String(name),
    fields,
    indexes: readIndexes(given.indexes, fields, tell),
    drop: readDrop(given.drop, fields, tell),
    hooks: readHooks(given.hooks, tell),
  }
}

function readFields(given: unknown, tell: Tell): Map<string, Field> {
  const fields = new Map<string, Field>()
  if (!isObject(given)) {
    tell(['fields'], 'must be an object')
    return fields
  }
  const entries = Object.entries(given)
  if (entries.length > MAX_FIELDS) tell(['fields'], `has ${entries.length} fields, at most ${MAX_FIELDS}`)
  for (const [name, field] of entries) {
    const path = ['fields', name]
    if (!NAME.test(name) || name.length > MAX_NAME)
      tell(
        path,
        `must be named with letters, digits and underscores, starting with a letter, at most ${MAX_NAME}`,
      )
    else if (TAKEN.includes(name)) tell(path, 'has a name that means something else in a filter')
    const read = readField(field, path, tell)
    if (read) fields.set(name, read)
  }
  return fields
}

/** Beside `type`, `required` and `default`. */
function optionsOf(type: FieldType): string[] {
  if (isNumeric(type)) return ['unique', 'min', 'max']
  if (isTextual(type)) return ['unique', 'maxLength']
  if (type === 'enum') return ['unique', 'values', 'transitions']
  if (type === 'ref') return ['unique', 'record']
  return type === 'json' ? [] : ['unique']
}

function readField(given: unknown, path: Path, tell: Tell): Field | undefined {
  if (!isObject(given)) {
    tell(path, 'must be an object')
    return undefined
  }
  const type = FIELD_TYPES.find((one) => one === given.type)
  if (!type) {
    tell([...path, 'type'], `must be one of ${FIELD_TYPES.join(', ')}`)
    return undefined
  }
  refuseOthers(given, ['type', 'required', 'default', ...optionsOf(type)], path, tell)
  const field: Field = {
    type,
    required: readFlag(given.required, [...path, 'required'], tell),
    unique: readFlag(given.unique, [...path, 'unique'], tell),
  }
  if (isNumeric(type)) readBounds(field, given, path, tell)
  if (isTextual(type) && given.maxLength !== undefined) {
    if (Number.isSafeInteger(given.maxLength) && (given.maxLength as number) >= 1)
      field.maxLength = given.maxLength as number
    else tell([...path, 'maxLength'], 'must be an integer of at least 1')
  }
  if (type === 'enum') readEnum(field, given, path, tell)
  if (type === 'ref') {
    if (typeof given.record === 'string' && NAME.test(given.record)) field.record = given.record
    else tell([...path, 'record'], 'must name the record it leads to')
  }
  readDefault(field, given.default, [...path, 'default'], tell)
  return field
}

function readBounds(field: Field, given: Json, path: Path, tell: Tell): void {
  for (const bound of ['min', 'max'] as const) {
    const value = given[bound]
    if (value === undefined) continue
    const problem = typeProblem(field.type, value)
    if (problem) tell([...path, bound], problem)
    else field[bound] = value as number
  }
  if (field.min !== undefined && field.max !== undefined && field.min > field.max)
    tell([...path, 'max'], 'must not be below min')
}

function readEnum(field: Field, given: Json, path: Path, tell: Tell): void {
  const { values, transitions } = given
  const isList =
    Array.isArray(values) &&
    values.length >= 1 &&
    values.length <= MAX_ENUM_VALUES &&
    values.every((one) => typeof one === 'string' && one !== '' && one.length <= 100 && one.isWellFormed())
  if (!isList) {
    tell([...path, 'values'], `must be a list of 1 to ${MAX_ENUM_VALUES} strings of 1 to 100 characters`)
    return
  }
  field.values = values
  for (const [i, value] of values.entries())
    if (values.indexOf(value) < i) tell([...path, 'values', i], `has ${value} twice`)
  if (transitions === undefined) return
  const at = [...path, 'transitions']
  if (!isObject(transitions)) {
    tell(at, 'must be an object')
    return
  }
  const allowed = new Map<string, readonly string[]>()
  for (const [from, next] of Object.entries(transitions)) {
    if (!values.includes(from)) tell([...at, from], 'is none of the values')
    if (!Array.isArray(next)) tell([...at, from], 'must be a list of values')
    else {
      for (const [i, to] of next.entries())
        if (!values.includes(to)) tell([...at, from, i], 'is none of the values')
      allowed.set(from, next)
    }
  }
  field.transitions = allowed
}

function readDefault(field: Field, value: unknown, path: Path, tell: Tell): void {
  if (value === undefined) return
  if (field.type === 'ref') tell(path, 'must be left out: a ref has no default')
  else if (value === null) tell(path, 'must not be null')
  else {
    const problem = valueProblem(field, value)
    if (problem) tell(path, problem)
    else field.default = value
  }
}

function readIndexes(given: unknown, fields: Map<string, Field>, tell: Tell): string[][] {
  if (given === undefined) return []
  if (!Array.isArray(given)) {
    tell(['indexes'], 'must be a list of strings')
    return []
  }
  if (given.length > MAX_INDEXES) tell(['indexes'], `has ${given.length} indexes, at most ${MAX_INDEXES}`)
  return given.map((index, i) => {
    const path = ['indexes', i]
    if (typeof index !== 'string') {
      tell(path, 'must be a string')
      return []
    }
    const names = index.split(',')
    if (given.indexOf(index) < i) tell(path, `has ${index} twice`)
    if (names.length > MAX_INDEX_FIELDS)
      tell(path, `names ${names.length} fields, at most ${MAX_INDEX_FIELDS}`)
    if (new Set(names).size < names.length) tell(path, 'names a field twice')
    for (const name of names) {
      const field = fields.get(name)
      if (!field) tell(path, `names ${JSON.stringify(name)}, which is no field`)
      else if (field.type === 'json') tell(path, `names ${name}, and JSON cannot be looked up by`)
    }
    return names
  })
}

function readDrop(given: unknown, fields: Map<string, Field>, tell: Tell): string[] {
  if (given === undefined) return []
  if (!Array.isArray(given) || given.length > MAX_DROPPED || given.some((one) => typeof one !== 'string')) {
    tell(['drop'], `must be a list of at most ${MAX_DROPPED} names of fields`)
    return []
  }
  for (const [i, name] of given.entries())
    if (fields.has(name)) tell(['drop', i], `names ${name}, which is a field`)
  return given
}

function readHooks(given: unknown, tell: Tell): Schema['hooks'] {
  if (given === undefined) return {}
  if (!isObject(given)) {
    tell(['hooks'], 'must be an object')
    return {}
  }
  refuseOthers(given, ['onCreate', 'onTransition'], ['hooks'], tell)
  for (const [name, value] of Object.entries(given))
    if (typeof value !== 'boolean') tell(['hooks', name], 'must be true or false')
  return given
}

function readFlag(value: unknown, path: Path, tell: Tell): boolean {
  if (value !== undefined && typeof value !== 'boolean') tell(path, 'must be true or false')
  return value === true
}

function refuseOthers(given: Json, known: readonly string[], path: Path, tell: Tell): void {
  for (const key of Object.keys(given)) if (!known.includes(key)) tell([...path, key], 'is not known here')
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
