import type { Issue } from '@trellis/contract'
import { type FieldType, isOrdered, isTextual, typeProblem } from './fields.ts'
import { COLUMNS, type Schema } from './schema.ts'

type Operator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'contains' | 'startsWith' | 'exists'

/** One condition on a field or a column. */
export interface Test {
  op: 'test'
  name: string
  isColumn: boolean
  type: FieldType
  operator: Operator
  /** Of the right type; null for `eq` and `ne` alone. */
  value: unknown
}

export type Filter =
  | Test
  | { op: 'and'; of: readonly Filter[] }
  | { op: 'or'; of: readonly Filter[] }
  | { op: 'not'; of: Filter }

type Path = (string | number)[]
type Json = Record<string, unknown>

const MAX_LEVELS = 8
const MAX_CONDITIONS = 100
/** Filters in lists, also those that say nothing. */
const MAX_PARTS = 1000
const MAX_VALUES = 100
const MAX_ISSUES = 100

const COLUMN_TYPES: Record<(typeof COLUMNS)[number], FieldType> = {
  id: 'string',
  revision: 'integer',
  createdAt: 'timestamp',
  updatedAt: 'timestamp',
}

const COMPARED = ['eq', 'ne', 'in', 'exists'] as const
const ORDERED = ['gt', 'gte', 'lt', 'lte'] as const

function operatorsOf(type: FieldType): readonly Operator[] {
  if (type === 'json') return ['eq', 'contains', 'exists']
  if (isTextual(type)) return [...COMPARED, ...ORDERED, 'contains', 'startsWith']
  return isOrdered(type) ? [...COMPARED, ...ORDERED] : COMPARED
}

/** Reads a filter, or says everything that is wrong with it, each at its path. */
export function parseWhere(schema: Schema, given: unknown): { filter: Filter; issues: Issue[] } {
  const issues: Issue[] = []
  let conditions = 0
  let parts = 0

  const tell = (path: Path, message: string): undefined => {
    if (issues.length < MAX_ISSUES) issues.push({ path, message })
  }

  function readFilter(value: unknown, path: Path, level: number): Filter {
    const all: Filter[] = []
    if (++parts > MAX_PARTS) return { op: 'and', of: all }
    if (!isObject(value)) tell(path, 'must be an object')
    else
      for (const [key, one] of Object.entries(value)) {
        const at = [...path, key]
        if (conditions > MAX_CONDITIONS) break
        if (key === 'and' || key === 'or' || key === 'not') {
          if (level === MAX_LEVELS) tell(at, `is nested too deeply: at most ${MAX_LEVELS} levels`)
          else if (key === 'not') all.push({ op: 'not', of: readFilter(one, at, level + 1) })
          else if (!Array.isArray(one)) tell(at, 'must be a list of filters')
          else all.push({ op: key, of: one.map((part, i) => readFilter(part, [...at, i], level + 1)) })
        } else all.push(...readTests(key, one, at))
      }
    return all.length === 1 && all[0] ? all[0] : { op: 'and', of: all }
  }

  function readTests(name: string, value: unknown, path: Path): Test[] {
    const column = COLUMNS.find((one) => one === name)
    const type = column ? COLUMN_TYPES[column] : schema.fields.get(name)?.type
    if (!type) {
      tell(path, 'is not a field of this record')
      return []
    }
    const given = isObject(value) ? Object.entries(value) : undefined
    if (given?.length === 0) tell(path, 'must say how to compare')
    const asked: [string, unknown, Path][] = given
      ? given.map(([operator, operand]) => [operator, operand, [...path, operator]])
      : [['eq', value, path]]
    return asked.flatMap(([word, operand, at]) => {
      if (++conditions > MAX_CONDITIONS) return []
      const operator = operatorsOf(type).find((one) => one === word)
      if (!operator) tell(at, `is nothing a ${type} can be compared by`)
      else if (isOperand(type, operator, operand, at))
        return [{ op: 'test', name, isColumn: column !== undefined, type, operator, value: operand }]
      return []
    })
  }

  function isOperand(type: FieldType, operator: Operator, value: unknown, path: Path): boolean {
    const before = issues.length
    const check = (one: unknown, at: Path) => {
      const problem = typeProblem(type, one)
      if (problem) tell(at, problem)
    }
    if (operator === 'exists') {
      if (typeof value !== 'boolean') tell(path, 'must be true or false')
    } else if (operator === 'in') {
      if (!Array.isArray(value) || value.length < 1 || value.length > MAX_VALUES)
        tell(path, `must be a list of 1 to ${MAX_VALUES} values`)
      else for (const [i, one] of value.entries()) check(one, [...path, i])
    } else if (type === 'json' && operator === 'eq') {
      if (value !== null) tell(path, 'must be null: JSON is compared with nothing else')
    } else if (value !== null || (operator !== 'eq' && operator !== 'ne')) check(value, path)
    return issues.length === before
  }

  const filter = readFilter(given, ['where'], 0)
  if (parts > MAX_PARTS) tell(['where'], `has more than ${MAX_PARTS} parts`)
  if (conditions > MAX_CONDITIONS) tell(['where'], `has more than ${MAX_CONDITIONS} conditions`)
  return { filter, issues }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
