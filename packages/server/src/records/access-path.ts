import type { Index } from './collection.ts'
import { compareText, type Scalar } from './fields.ts'
import { type KeyRange, keyOf, rangeAfter, rangeOf } from './keys.ts'
import type { Filter, Test } from './where.ts'

/** Where the rows are that a filter may find; others may be there, too. */
export type AccessPath =
  /** Anywhere. */
  | { kind: 'all' }
  | { kind: 'ids'; ids: readonly string[] }
  /** Among the entries with these keys, which are in the order of rows. */
  | { kind: 'keys'; indexId: string; keys: readonly string[] }
  /** Among the entries in these ranges, which are not. */
  | { kind: 'ranges'; indexId: string; ranges: readonly KeyRange[] }

/** No row has another, and a database need not be asked for what it may not even take. */
const ID = /^rec_[0-9a-z]+$/

/** Right after a key, before all that are longer. */
const ABOVE_KEY = '\u0001'

/** So many keys are asked for one by one. */
const MAX_KEYS = 100

/** The best way to the rows that a filter finds, by the indexes there are. */
export function choosePath(filter: Filter | undefined, indexes: readonly Index[]): AccessPath {
  const tests = filter ? required(filter) : []
  const ids = alternativesFor(tests, 'id', true)
  if (ids) return { kind: 'ids', ids: ids.filter((id) => typeof id === 'string' && ID.test(id)) as string[] }
  let best: { score: number; path: AccessPath } = { score: 0, path: { kind: 'all' } }
  for (const index of indexes) {
    const found = pathThrough(index, tests)
    if (found && found.score > best.score) best = found
  }
  return best.path
}

/** The one stretch of an index in which all rows are that a filter may find; undefined where they may be anywhere. */
export function stretchOf(filter: Filter | undefined, index: Index): KeyRange | undefined {
  const path = filter && pathThrough(index, required(filter))?.path
  if (path?.kind === 'keys' && path.keys.length === 1) {
    const [key = ''] = path.keys
    return { from: key, to: key + ABOVE_KEY }
  }
  return path?.kind === 'ranges' && path.ranges.length === 1 ? path.ranges[0] : undefined
}

/** The conditions that every row must meet. */
function required(filter: Filter): Test[] {
  if (filter.op === 'test') return [filter]
  return filter.op === 'and' ? filter.of.flatMap(required) : []
}

function pathThrough(index: Index, tests: readonly Test[]): { score: number; path: AccessPath } | undefined {
  let keys: string[] = ['']
  let used = 0
  for (const name of index.fields) {
    const values = alternativesFor(tests, name, false)
    if (!values || keys.length * values.length > MAX_KEYS) break
    keys = keys.flatMap((key) => values.map((value) => key + keyOf([value])))
    used++
  }
  const indexId = index.id
  if (used === index.fields.length)
    // Of two that leave nothing open, the one that says more finds fewer.
    return { score: 1000 + used * 10 + (index.unique ? 5 : 0), path: { kind: 'keys', indexId, keys } }
  const next = index.fields[used] ?? ''
  const edges = tests.filter(({ name, isColumn }) => name === next && !isColumn)
  const ranges = keys.flatMap((key) => narrowed(key, edges) ?? (used > 0 ? [rangeAfter(key)] : []))
  const isNarrowed = narrowed('', edges) !== undefined
  if (ranges.length === 0) return undefined
  return { score: used * 10 + (isNarrowed ? 5 : 0), path: { kind: 'ranges', indexId, ranges } }
}

/** The values one of which a row must have; undefined where it may have any. */
function alternativesFor(
  tests: readonly Test[],
  name: string,
  isColumn: boolean,
): readonly (Scalar | null)[] | undefined {
  let fewest: readonly (Scalar | null)[] | undefined
  for (const test of tests) {
    if (test.name !== name || test.isColumn !== isColumn) continue
    const values =
      test.operator === 'eq'
        ? [test.value as Scalar | null]
        : test.operator === 'in'
          ? [...new Set(test.value as Scalar[])]
          : test.operator === 'exists' && test.value === false
            ? [null]
            : undefined
    if (values && (!fewest || values.length < fewest.length)) fewest = values
  }
  return fewest
}

const SIDES = { gt: 'above', gte: 'above', lt: 'below', lte: 'below', startsWith: 'startsWith' } as const

/** Where all conditions on the next field of an index leave something. */
function narrowed(prefix: string, tests: readonly Test[]): KeyRange | undefined {
  let range: KeyRange | undefined
  for (const { operator, value } of tests) {
    if (!(operator in SIDES)) continue
    const side = rangeOf(prefix, SIDES[operator as keyof typeof SIDES], value as Scalar)
    range = range
      ? {
          from: compareText(range.from, side.from) > 0 ? range.from : side.from,
          to: compareText(range.to, side.to) < 0 ? range.to : side.to,
        }
      : side
  }
  return range
}
