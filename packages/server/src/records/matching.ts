import { canonicalJson } from '../platform/hashes.ts'
import { compareText } from './fields.ts'
import { type Data, valueIn } from './rows.ts'
import { createSearch } from './search.ts'
import type { Filter, Test } from './where.ts'

/** A row as filters see it. */
export interface MatchedRow {
  id: string
  revision: number
  createdAt: number
  updatedAt: number
  data: Data
}

type Matches = (row: MatchedRow) => boolean

/** The one meaning of a filter; indexes only narrow down where to look. */
export function compileFilter(filter: Filter): Matches {
  switch (filter.op) {
    case 'and': {
      const all = filter.of.map(compileFilter)
      return (row) => all.every((matches) => matches(row))
    }
    case 'or': {
      const any = filter.of.map(compileFilter)
      return (row) => any.some((matches) => matches(row))
    }
    case 'not': {
      const matches = compileFilter(filter.of)
      return (row) => !matches(row)
    }
    case 'test': {
      const { name, isColumn } = filter
      const holds = compileTest(filter)
      return isColumn
        ? (row) => holds(row[name as Exclude<keyof MatchedRow, 'data'>])
        : (row) => holds(valueIn(row.data, name))
    }
  }
}

/** Of a value, or undefined where there is none. */
function compileTest({ type, operator, value: wanted }: Test): (value: unknown) => boolean {
  switch (operator) {
    case 'eq':
      return (value) => (value ?? null) === wanted
    case 'ne':
      return (value) => (value ?? null) !== wanted
    case 'exists':
      return (value) => (value !== undefined) === wanted
    case 'in': {
      const values = new Set(wanted as unknown[])
      return (value) => values.has(value)
    }
    case 'startsWith':
      return (value) => typeof value === 'string' && value.startsWith(wanted as string)
    case 'contains': {
      if (type !== 'json') {
        const isIn = createSearch(wanted as string)
        return (value) => typeof value === 'string' && isIn(value)
      }
      const element = canonicalJson(wanted)
      return (value) => Array.isArray(value) && elementsOf(value).has(element)
    }
  }
  const compare = (value: unknown): number =>
    typeof value === 'string' ? compareText(value, wanted as string) : (value as number) - (wanted as number)
  const meets = {
    gt: (order: number) => order > 0,
    gte: (order: number) => order >= 0,
    lt: (order: number) => order < 0,
    lte: (order: number) => order <= 0,
  }[operator]
  return (value) => value !== undefined && meets(compare(value))
}

/** Written out once, however many conditions look at them. */
const written = new WeakMap<object, ReadonlySet<string>>()

function elementsOf(list: readonly unknown[]): ReadonlySet<string> {
  const known = written.get(list)
  if (known) return known
  const elements = new Set(list.map(canonicalJson))
  written.set(list, elements)
  return elements
}
