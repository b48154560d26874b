import { canonicalJson } from '../platform/hashes.ts'
import type { Pause } from '../platform/pauses.ts'
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

/** A filter with its conditions made ready. */
interface Matcher {
  matches(row: MatchedRow): boolean
  /** The same, where others have their turn between conditions: each may look through a large text. */
  matchesInTurns(row: MatchedRow, pause: Pause): Promise<boolean>
  /** How many conditions look through a text character by character. */
  searches: number
}

/** The one meaning of a filter; indexes only narrow down where to look. */
export function compileFilter(filter: Filter): Matcher {
  switch (filter.op) {
    case 'and':
    case 'or':
      return compileList(filter.of.map(compileFilter), filter.op === 'or')
    case 'not': {
      const inner = compileFilter(filter.of)
      return {
        ...inner,
        matches: (row) => !inner.matches(row),
        matchesInTurns: async (row, pause) => !(await inner.matchesInTurns(row, pause)),
      }
    }
    case 'test': {
      const { name, isColumn, type, operator } = filter
      const holds = compileTest(filter)
      const matches = isColumn
        ? (row: MatchedRow) => holds(row[name as Exclude<keyof MatchedRow, 'data'>])
        : (row: MatchedRow) => holds(valueIn(row.data, name))
      return {
        matches,
        async matchesInTurns(row, pause) {
          await pause()
          return matches(row)
        },
        searches: operator === 'contains' && type !== 'json' ? 1 : 0,
      }
    }
  }
}

/** All of them, or one: then the first that is met decides. */
function compileList(list: readonly Matcher[], deciding: boolean): Matcher {
  return {
    matches: (row) => list.some(({ matches }) => matches(row) === deciding) === deciding,
    async matchesInTurns(row, pause) {
      for (const { matchesInTurns } of list)
        if ((await matchesInTurns(row, pause)) === deciding) return deciding
      return !deciding
    },
    searches: list.reduce((sum, { searches }) => sum + searches, 0),
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
