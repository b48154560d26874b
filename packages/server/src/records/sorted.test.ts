import assert from 'node:assert/strict'
import { it } from 'node:test'
import { assertInvalid, onEachDatabase, plansOf, useRecords } from '../testing/index.ts'
import * as entryStore from './entry-store.ts'

const declared = {
  name: 'thing',
  fields: {
    title: { type: 'string', unique: true },
    status: { type: 'enum', values: ['open', 'doing', 'done'] },
    weight: { type: 'number' },
  },
  indexes: ['status,weight', 'weight'],
}

onEachDatabase('rows in the order of an index', (create) => {
  const { app, client, owner, promoted } = useRecords(create)
  const record = declared.name

  /** Three statuses and weights on both sides of zero, some missing. */
  const weights = [2, -1.5, null, 0, 10, -300]
  const statuses = ['open', 'done', null, 'doing']
  async function filled(count: number): Promise<string> {
    const name = await promoted(declared)
    for (let i = 0; i < count; i++)
      await client().records.create({
        name,
        record,
        data: {
          title: `t${String((i * 7) % count).padStart(3, '0')}`,
          status: statuses[i % statuses.length],
          weight: weights[i % weights.length],
        },
      })
    return name
  }

  async function titles(name: string, input: { sort?: string; where?: Record<string, unknown> }, limit = 5) {
    const found: unknown[] = []
    let cursor: string | undefined
    do {
      const page = await client().records.list({ name, record, limit, ...input, ...(cursor && { cursor }) })
      assert.ok(page.rows.length <= limit)
      found.push(...page.rows.map(({ data }) => data.title))
      cursor = page.cursor ?? undefined
    } while (cursor)
    return found
  }

  it('are all there, once, both ways, with and without a filter', async () => {
    const name = await filled(36)
    const all = (await client().records.list({ name, record, limit: 100 })).rows
    const order = (names: string[]) => (a: (typeof all)[number], b: (typeof all)[number]) => {
      for (const field of names) {
        const [x, y] = [a.data[field] ?? null, b.data[field] ?? null] as (string | number | null)[]
        if (x === y) continue
        if (x === null || x === undefined) return -1
        if (y === null || y === undefined) return 1
        return x < y ? -1 : 1
      }
      return 0
    }
    const cases = [
      { sort: 'title', where: undefined },
      { sort: 'weight', where: undefined },
      { sort: 'status,weight', where: undefined },
      { sort: 'status,weight', where: { status: 'open' } },
      { sort: 'status,weight', where: { status: 'done', weight: { gte: 0 } } },
      { sort: 'weight', where: { status: { in: ['open', 'doing'] } } },
      { sort: 'weight', where: { weight: 10 } },
      { sort: 'weight', where: { weight: 11 } },
    ]
    for (const { sort, where } of cases) {
      const asked = where ? { where } : {}
      const kept = new Set(await titles(name, asked))
      const sorted = all.filter(({ data }) => kept.has(data.title)).sort(order(sort.split(',')))
      const expected = sorted.map(({ data }) => data.title)
      assert.deepEqual(await titles(name, { ...asked, sort }), expected, JSON.stringify({ sort, where }))
      assert.deepEqual(
        await titles(name, { ...asked, sort: `-${sort}` }),
        expected.toReversed(),
        JSON.stringify({ sort, where }),
      )
    }
  })

  it('start over with a cursor of another order', async () => {
    const name = await filled(8)
    const first = await client().records.list({ name, record, sort: 'weight', limit: 3 })
    for (const sort of ['-weight', 'title']) {
      const [start, other] = await Promise.all([
        client().records.list({ name, record, sort, limit: 3 }),
        client().records.list({ name, record, sort, limit: 3, cursor: first.cursor ?? '' }),
      ])
      assert.deepEqual(other.rows, start.rows)
    }
  })

  it('need an index, and say which there are', async () => {
    const name = await promoted(declared)
    const { token } = owner()
    for (const sort of ['status', 'createdAt', '', '-', 'weight,status'])
      assertInvalid(await app.call('records/list', { name, record, sort }, { token }), ['sort'])
    const { body } = await app.call('records/list', { name, record, sort: 'status' }, { token })
    assert.match(body.data.issues[0].message, /it has title; status,weight; weight/)
  })

  it('are read from the index, without sorting', async () => {
    const page = { indexId: 'x', key: '', seq: 0, end: '2', limit: 5 }
    const plans = [
      ...(await plansOf(app.database, (db) => entryStore.listUpwards(db, page))),
      ...(await plansOf(app.database, (db) => entryStore.listDownwards(db, page))),
    ]
    for (const plan of plans) {
      assert.match(plan, /index/i)
      assert.doesNotMatch(plan, /sort|temp b-tree/i)
    }
  })

  it('are counted with what is in force', async () => {
    const name = await filled(3)
    const { items } = await client().records.collections({ name })
    assert.deepEqual(
      items.map(({ schema, rows }) => [schema, rows]),
      [[{ ...declared, hooks: {} }, 3]],
    )
    assert.ok((items[0]?.bytes ?? 0) > 3 * 256)
    assert.deepEqual(await client().records.collections({ name: await promoted() }), { items: [] })
  })
})
