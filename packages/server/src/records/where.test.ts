import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { RecordRow } from '@trellis/contract'
import * as fc from 'fast-check'
import {
  assertInvalid,
  onEachDatabase,
  type Person,
  plansOf,
  promoteRecords,
  repoNamed,
  useApp,
} from '../testing/index.ts'
import type { Json } from '../testing/json.ts'
import { choosePath } from './access-path.ts'
import * as entryStore from './entry-store.ts'
import { parseSchema } from './schema.ts'
import * as store from './store.ts'
import { parseWhere } from './where.ts'

const declared = {
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
const { schema } = parseSchema(declared)
if (!schema) throw new Error('a broken schema')

const levels = (count: number): object => (count === 0 ? { priority: 1 } : { not: levels(count - 1) })
const many = (count: number) => Array.from({ length: count }, () => ({ priority: { gt: 1 } }))

const broken: [title: string, where: unknown, ...paths: string[]][] = [
  ['a list', [], ''],
  ['an unknown field', { nothing: 1 }, 'nothing'],
  ['an inherited name', { constructor: 1, toString: { eq: 1 } }, 'constructor', 'toString'],
  ['a prototype', JSON.parse('{"__proto__": 1}'), '__proto__'],
  ['an unknown operator', { priority: { above: 1 } }, 'priority.above'],
  ['no operator', { priority: {} }, 'priority'],
  [
    'values of the wrong type',
    { priority: 'x', title: 1, urgent: 'true', due: 1.5, status: { ne: 1 }, weight: { lt: '2' } },
    'priority',
    'title',
    'urgent',
    'due',
    'status.ne',
    'weight.lt',
  ],
  [
    'columns of the wrong type',
    { id: 1, revision: 'x', createdAt: { gte: 'now' } },
    'id',
    'revision',
    'createdAt.gte',
  ],
  [
    'an order that a type has not',
    { status: { gt: 'a' }, urgent: { lte: true }, other: { startsWith: 'rec' } },
    'status.gt',
    'urgent.lte',
    'other.startsWith',
  ],
  ['order of null', { priority: { gt: null }, title: { contains: null } }, 'priority.gt', 'title.contains'],
  ['in without values', { priority: { in: [] } }, 'priority.in'],
  ['in with too many', { priority: { in: Array(101).fill(1) } }, 'priority.in'],
  ['in with wrong ones', { priority: { in: [1, null, 'x'] } }, 'priority.in.1', 'priority.in.2'],
  ['in that is no list', { priority: { in: 1 } }, 'priority.in'],
  ['exists that is no flag', { priority: { exists: 1 } }, 'priority.exists'],
  ['comparisons of json', { meta: 1, notes: { eq: 'x' } }, 'meta'],
  ['more of json', { meta: { ne: null, in: [1], eq: 2 } }, 'meta.ne', 'meta.in', 'meta.eq'],
  ['and, or and not of the wrong shape', { and: {}, or: 1, not: [] }, 'and', 'or', 'not'],
  [
    'problems deep inside',
    { and: [{ or: [{ title: 1 }, { not: { nope: 1 } }] }] },
    'and.0.or.0.title',
    'and.0.or.1.not.nope',
  ],
  ['too many levels', levels(9), 'not.not.not.not.not.not.not.not.not'],
  ['too many conditions', { or: many(101) }, ''],
  ['too many parts that say nothing', { and: Array.from({ length: 1000 }, () => ({})) }, ''],
]

describe('a filter', () => {
  for (const [title, where, ...paths] of broken)
    it(`is refused with ${title}`, () => {
      const { issues } = parseWhere(schema, where)
      assert.deepEqual(
        issues
          .map(({ path = [] }) => {
            assert.equal(path[0], 'where')
            return path.slice(1).join('.')
          })
          .sort(),
        paths.toSorted(),
      )
    })

  it('may have eight levels and a hundred conditions', () => {
    assert.deepEqual(parseWhere(schema, levels(8)).issues, [])
    assert.deepEqual(parseWhere(schema, { or: many(100) }).issues, [])
    assert.deepEqual(parseWhere(schema, {}).issues, [])
  })

  const indexes = declared.indexes.map((index) => ({ id: index, fields: index.split(','), unique: false }))
  indexes.push({ id: 'slug', fields: ['slug'], unique: true })
  const paths: [where: object, expected: string][] = [
    [{}, 'all'],
    [{ notes: 'x' }, 'all'],
    [{ id: 'rec_1' }, 'ids'],
    [{ status: 'open' }, 'keys status 1'],
    [{ status: 'open', priority: 1 }, 'keys status,priority 1'],
    [{ status: { in: ['open', 'done'] }, priority: { in: [1, 2] } }, 'keys status,priority 4'],
    [{ status: 'open', priority: { gt: 1 } }, 'keys status 1'],
    [{ status: 'open', slug: 'x' }, 'keys slug 1'],
    [{ and: [{ title: 'x' }, { notes: 'y' }] }, 'keys title 1'],
    [{ title: { startsWith: 'x' } }, 'ranges title 1'],
    [{ title: { gt: 'a', lte: 'b' } }, 'ranges title 1'],
    [{ due: 5 }, 'ranges due,urgent 1'],
    [{ due: { gt: 1 } }, 'ranges due,urgent 1'],
    [{ weight: 1, status: 'open', title: { lt: 'x' } }, 'keys status 1'],
    [{ or: [{ status: 'open' }] }, 'all'],
    [{ not: { status: 'open' } }, 'all'],
    [{ status: { ne: 'open' } }, 'all'],
    [{ status: null }, 'keys status 1'],
    [{ urgent: { exists: false } }, 'keys urgent 1'],
    [{ priority: 1 }, 'all'],
  ]
  for (const [where, expected] of paths)
    it(`${JSON.stringify(where)} looks at ${expected}`, () => {
      const path = choosePath(parseWhere(schema, where).filter, indexes)
      const size = path.kind === 'keys' ? path.keys.length : path.kind === 'ranges' ? path.ranges.length : ''
      assert.equal(['indexId' in path ? `${path.kind} ${path.indexId} ${size}` : path.kind].join(), expected)
    })
})

/* The oracle: what a filter means, said in the plainest way. */

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

const meanings: Record<string, (value: Json, wanted: Json) => boolean> = {
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

function means(where: Json, row: Json): boolean {
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
const operands: Record<string, Json[]> = { ...pools, meta: [1, 'a', { a: [2], b: 1 }, null, []] }

const data = fc.record(
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
const { filter } = fc.letrec<{ filter: object }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.tuple(leaf, leaf).map(([a, b]) => ({ ...a, ...b })),
    fc.record({ and: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ or: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ not: tie('filter') }),
  ),
}))

/** Enough for each value to be there in several rows. */
const ROWS = 100

onEachDatabase('the rows a filter finds', (create) => {
  const app = useApp(create)
  let ada: Person
  let all: RecordRow[]
  const [name, record] = ['things', 'thing']

  before(async () => {
    ada = await app.signUp('ada')
    await client().repos.create({ name })
    await promoteRecords(app, name, declared)
    for (const one of fc.sample(data, { numRuns: ROWS, seed: 7 }))
      await client().records.create({ name, record, data: { ...one } })
    all = (await client().records.list({ name, record, limit: 1000 })).rows
  })
  const client = () => app.client(ada.token)

  async function ask(where: object | undefined, limit: number): Promise<RecordRow[]> {
    const rows: RecordRow[] = []
    let cursor: string | null = null
    do {
      const page = await client().records.list({
        name,
        record,
        limit,
        ...(where && { where: where as Record<string, unknown> }),
        ...(cursor && { cursor }),
      })
      rows.push(...page.rows)
      cursor = page.cursor
      assert.ok(page.rows.length === limit || cursor === null)
    } while (cursor)
    return rows
  }

  it('are all of them without one, in the order they were made', async () => {
    assert.equal(all.length, ROWS)
    assert.deepEqual(await ask(undefined, 50), all)
    assert.deepEqual(await ask({}, ROWS), all)
    assert.deepEqual(await ask({ and: [] }, ROWS - 1), all)
    assert.deepEqual(await ask({ or: [] }, 10), [])
  })

  for (const [field, pool] of Object.entries(operands))
    it(`are those that every operator on ${field} means`, async () => {
      for (const word of Object.keys(meanings))
        for (const value of [...pool, null, true]) {
          const operand = word === 'in' ? [value] : value
          const where = { [field]: { [word]: operand } }
          if (parseWhere(schema, where).issues.length > 0) continue
          const found = await ask(where, 1000)
          assert.deepEqual(
            found.map(({ id }) => id),
            all.filter((row) => means(where, row)).map(({ id }) => id),
            JSON.stringify(where),
          )
        }
    })

  it('are those that it means, whatever it combines, and page by page', async () => {
    await fc.assert(
      fc.asyncProperty(filter, fc.constantFrom(20, 60, 1000), async (where, limit) => {
        const found = await ask(where, limit)
        assert.deepEqual(
          found.map(({ id }) => id),
          all.filter((row) => means(where, row)).map(({ id }) => id),
        )
      }),
      { numRuns: 100 },
    )
  })

  it('can be asked for by their columns', async () => {
    const [first, second] = all
    assert.ok(first && second)
    assert.deepEqual(await ask({ id: { in: [second.id, first.id, 'rec_none', 'x\0'] } }, 10), [first, second])
    assert.deepEqual(await ask({ id: first.id, revision: 2 }, 10), [])
    assert.deepEqual(await ask({ createdAt: first.createdAt, id: first.id }, 10), [first])
  })

  it('are asked for at their paths, or not at all', async () => {
    const asked = (where: unknown) => app.call('records/list', { name, record, where }, { token: ada.token })
    assertInvalid(await asked({ priority: { gt: 'x' } }), ['where', 'priority', 'gt'])
    assertInvalid(await asked(JSON.parse('{"__proto__": 1}')), ['where', '__proto__'])
    assertInvalid(await asked([]), ['where'])
  })

  it('go on after the last one whatever the filter is, and after one that has gone', async () => {
    const page = await client().records.list({ name, record, limit: 10 })
    assert.ok(page.cursor)
    const { cursor } = page
    const rest = await client().records.list({
      name,
      record,
      where: { priority: { exists: true } },
      cursor,
      limit: 1000,
    })
    assert.deepEqual(
      rest.rows,
      all.slice(10).filter((row) => row.data.priority !== undefined),
    )
    const garbage = await client().records.list({ name, record, limit: 10, cursor: 'garbage' })
    assert.deepEqual(garbage.rows, all.slice(0, 10))
  })

  it('are found by their entries', async () => {
    const { id } = await repoNamed(app, name)
    const collection = await store.findCollection(app.database.db, id, record)
    assert.ok(collection)
    const [index] = JSON.parse(collection.indexes)
    const plans = [
      ...(await plansOf(app.database, (db) =>
        entryStore.listByKey(db, { indexId: index.id, key: 'x', after: 0, limit: 5 }),
      )),
      ...(await plansOf(app.database, (db) =>
        entryStore.listByRange(db, { indexId: index.id, from: 'a', to: 'b', limit: 5 }),
      )),
      ...(await plansOf(app.database, (db) =>
        store.listRecords(db, { collectionId: collection.id, after: 0, limit: 5 }),
      )),
    ]
    for (const plan of plans) {
      assert.match(plan, /index/i)
      assert.doesNotMatch(plan, /sort|temp b-tree/i)
    }
  })

  it('come in short pages where many others are in between, and with a cursor that goes on', async () => {
    await client().repos.create({ name: 'many' })
    await promoteRecords(app, 'many', { ...declared, indexes: [] })
    const { id: repoId } = await repoNamed(app, 'many')
    const collection = await store.findCollection(app.database.db, repoId, record)
    assert.ok(collection)
    const rows = Array.from({ length: 20_050 }, (_, i) => ({
      id: `rec_${String(i).padStart(8, '0')}`,
      collection_id: collection.id,
      seq: i + 1,
      change: i + 1,
      version: 1,
      revision: 1,
      data: JSON.stringify({ priority: i }),
      bytes: 300,
      created_at: 1,
      updated_at: 1,
    }))
    await app.database.transact((tx) => tx.insertInto('records').values(rows.slice(0, 1)).execute())
    for (let i = 1; i < rows.length; i += 2000)
      await app.database.transact((tx) =>
        tx
          .insertInto('records')
          .values(rows.slice(i, i + 2000))
          .execute(),
      )
    const where = { priority: { in: [0, 20_020] } }
    const first = await client().records.list({ name: 'many', record, where })
    assert.deepEqual(
      first.rows.map(({ data }) => data.priority),
      [0],
    )
    assert.ok(first.cursor)
    const second = await client().records.list({ name: 'many', record, where, cursor: first.cursor })
    assert.deepEqual(
      second.rows.map(({ data }) => data.priority),
      [20_020],
    )
    assert.equal(second.cursor, null)
  })
})
