import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { newId } from '../platform/ids.ts'
import type { Schema } from '../schema.ts'
import { onEachDatabase, useDatabase } from '../testing/index.ts'
import { bySystem, createEventsService } from './service.ts'
import { type EmittedType, repoScope } from './types.ts'

onEachDatabase('pages of events', (create) => {
  const database = useDatabase<Schema>(create, {})
  const events = createEventsService({ database, clock: Date.now, newId })
  const small = repoScope('repo_small')
  const large = repoScope('repo_large')

  const told = (type: string, count: number, bytes: number) =>
    Array.from({ length: count }, () => ({
      ...bySystem,
      type: type as EmittedType,
      payload: 'x'.repeat(bytes),
    }))

  before(async () => {
    await database.transact((tx) =>
      events.appendAll(tx, small, [...told('a.b', 150, 8), ...told('c.d', 3, 8)]),
    )
    await database.transact((tx) =>
      events.appendAll(tx, large, [...told('a.b', 60, 60_000), ...told('c.d', 2, 8)]),
    )
  })

  /** The numbers on each page, until there are no more. */
  async function pages(asked: Omit<Parameters<typeof events.list>[0], 'cursor'>): Promise<number[][]> {
    const seen: number[][] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { items, nextCursor } = await events.list({ ...asked, ...(cursor && { cursor }) })
      seen.push(items.map(({ seq }) => seq))
      cursor = nextCursor
    }
    return seen
  }
  const numbers = (from: number, to: number) =>
    Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => (from < to ? from + i : from - i))

  it('have as many as were asked for, and say when there are no more', async () => {
    assert.deepEqual(await pages({ scope: small, order: 'oldest', limit: 100 }), [
      numbers(1, 100),
      numbers(101, 153),
    ])
    assert.deepEqual(await pages({ scope: small, order: 'newest', limit: 153 }), [numbers(153, 1)])
    assert.deepEqual(await pages({ scope: small, order: 'newest', limit: 20 }), [
      ...Array.from({ length: 7 }, (_, i) => numbers(153 - 20 * i, 134 - 20 * i)),
      numbers(13, 1),
    ])
    assert.deepEqual(await pages({ scope: small, order: 'oldest', limit: 2, types: ['c.d'] }), [
      [151, 152],
      [153],
    ])
    assert.deepEqual(await pages({ scope: small, order: 'oldest', limit: 5, types: ['e.f'] }), [[]])
  })

  it('have fewer where these are large, and leave none out', async () => {
    for (const order of ['oldest', 'newest'] as const) {
      const found = await pages({ scope: large, order, limit: 250 })
      assert.deepEqual(found.flat(), order === 'oldest' ? numbers(1, 62) : numbers(62, 1))
      assert.deepEqual([...new Set(found.slice(1, -1).map(({ length }) => length))], [17])
    }
    assert.deepEqual(await pages({ scope: large, order: 'oldest', limit: 1, since: 60 }), [[61], [62]])
  })
})
