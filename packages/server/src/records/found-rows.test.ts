import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { RecordRow } from '@trellis/contract'
import * as fc from 'fast-check'
import { data, declared, filter, meanings, means, operands } from '../testing/filters.ts'
import {
  assertInvalid,
  onEachDatabase,
  type Person,
  plansOf,
  promoteRecords,
  repoNamed,
  useApp,
} from '../testing/index.ts'
import * as entryStore from './entry-store.ts'
import { parseSchema } from './schema.ts'
import * as store from './store.ts'
import { parseWhere } from './where.ts'

const { schema } = parseSchema(declared)
if (!schema) throw new Error('a broken schema')

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
