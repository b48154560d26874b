import * as fc from 'fast-check'
import type { Json } from './json.ts'

/** A record with a field of every type, and indexes of one field and of more. */
export const declared = {
  name: 'thing',
  fields: {
    title: { type: 'string' },
    notes: { type: 'text' },
    status: { type: 'enum', values: ['open', 'doing', 'done'] },
    priority: { type: 'integer' },
    weight: { type: 'number' },
    urgent: { type: 'boolean' },
    due: { type: 'timestamp' },
    slug: { type: 'string', unique: true },
    meta: { type: 'json' },
    other: { type: 'ref', record: 'thing' },
  },
  indexes: ['status', 'status,priority', 'title', 'due,urgent', 'weight,status,title', 'urgent'],
}

const order = (a: Json, b: Json) =>
  typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a - b
const sorted = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(sorted)
    : value && typeof value === 'object'
      ? Object.keys(value)
          .sort()
          .map((key) => [key, sorted(value[key])])
      : value
const same = (a: Json, b: Json) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

export const meanings: Record<string, (value: Json, wanted: Json) => boolean> = {
  eq: (value, wanted) => value === wanted,
  ne: (value, wanted) => value !== wanted,
  gt: (value, wanted) => value !== null && order(value, wanted) > 0,
  gte: (value, wanted) => value !== null && order(value, wanted) >= 0,
  lt: (value, wanted) => value !== null && order(value, wanted) < 0,
  lte: (value, wanted) => value !== null && order(value, wanted) <= 0,
  in: (value, wanted) => wanted.some((one: Json) => one === value),
  exists: (value, wanted) => (value !== null) === wanted,
  startsWith: (value, wanted) => value !== null && value.slice(0, wanted.length) === wanted,
  contains: (value, wanted) =>
    typeof value === 'string'
      ? value.split(wanted).length > 1 || wanted === ''
      : Array.isArray(value) && value.some((one) => same(one, wanted)),
}

/** What a filter means, said in the plainest way. */
export function means(where: Json, row: Json): boolean {
  return Object.entries<Json>(where).every(([key, wanted]) => {
    if (key === 'and') return wanted.every((one: Json) => means(one, row))
    if (key === 'or') return wanted.some((one: Json) => means(one, row))
    if (key === 'not') return !means(wanted, row)
    const value = (key in row ? row[key] : row.data[key]) ?? null
    if (wanted === null || typeof wanted !== 'object') return meanings.eq?.(value, wanted)
    return Object.entries<Json>(wanted).every(([operator, operand]) =>
      key === 'meta' && operator === 'contains' && !Array.isArray(value)
        ? false
        : meanings[operator]?.(value, operand),
    )
  })
}

const long = 'long '.repeat(24)
const pools: Record<string, Json[]> = {
  title: [
    '',
    'a',
    'ab',
    'abc',
    'b',
    'é',
    '\uffff',
    '𝄞',
    '𝄞a',
    '\0',
    '\u0001a',
    '\u{10ffff}'.repeat(3),
    `${long}x`,
    `${long}y`,
    long,
  ],
  notes: ['', 'one', 'one two', 'two', '%', '_'],
  status: ['open', 'doing', 'done'],
  priority: [-2, -1, 0, 1, 2, 9007199254740991],
  weight: [-1.5, -0.1, 0, 0.1, 2, 1e300],
  urgent: [true, false],
  due: [0, 1, 1_700_000_000_000],
  meta: [[], [1, 'a'], [{ b: 1, a: [2] }], { a: 1 }, 'a', 1, false, [null]],
}
export const operands: Record<string, Json[]> = { ...pools, meta: [1, 'a', { a: [2], b: 1 }, null, []] }

/** Of a row. */
export const data = fc.record(
  Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, fc.constantFrom(...pool)])),
  { requiredKeys: [] },
)

const ordered = ['gt', 'gte', 'lt', 'lte']
function condition(name: string): fc.Arbitrary<object> {
  const value = fc.constantFrom(...(operands[name] ?? []))
  const words =
    name === 'meta'
      ? ['contains', 'exists']
      : [
          'eq',
          'ne',
          'in',
          'exists',
          'plain',
          'null',
          ...(name === 'status' || name === 'urgent' ? [] : ordered),
          ...(name === 'title' || name === 'notes' ? ['contains', 'startsWith'] : []),
        ]
  const operand = (word: string): fc.Arbitrary<Json> => {
    if (word === 'exists') return fc.boolean()
    if (word === 'in') return fc.array(value, { minLength: 1, maxLength: 4 })
    return word === 'eq' || word === 'ne' ? fc.option(value) : value
  }
  const one = fc.constantFrom(...words).chain((word): fc.Arbitrary<Json> => {
    if (word === 'null') return fc.constant(null)
    return word === 'plain' ? value : operand(word).map((given) => ({ [word]: given }))
  })
  const two = fc.tuple(one, one).map(([a, b]) => (isObject(a) && isObject(b) ? { ...a, ...b } : a))
  return fc.oneof(one, two).map((given) => ({ [name]: given }))
}
const isObject = (value: Json) => typeof value === 'object' && value !== null

const leaf = fc.oneof(
  ...Object.keys(pools).map(condition),
  fc.constantFrom(
    { revision: 1 },
    { revision: { gt: 1 } },
    { createdAt: { gt: 0 } },
    { id: { gte: 'rec_' } },
  ),
)
export const { filter } = fc.letrec<{ filter: object }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.tuple(leaf, leaf).map(([a, b]) => ({ ...a, ...b })),
    fc.record({ and: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ or: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ not: tie('filter') }),
  ),
}))
