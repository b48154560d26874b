import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { newId } from '../platform/ids.ts'
import type { Schema } from '../schema.ts'
import { onEachDatabase, useDatabase } from '../testing/index.ts'
import { bySystem, createEventsService } from './service.ts'
import { type EmittedType, repoScope } from './types.ts'

onEachDatabase('the next events of some types', (create) => {
  const database = useDatabase<Schema>(create, {})
  const scope = repoScope('repo_long')
  const events = createEventsService({ database, clock: Date.now, newId })
  const read = async (types: string[], above: number, bounds: { limit?: number; maxBytes?: number } = {}) => {
    const wanted = { scope, types, above, limit: 100, maxBytes: 1_000_000, ...bounds }
    const { events: found, to, isAll } = await events.readSome(database.db, wanted)
    return { seqs: found.map(({ seq }) => seq), to, isAll }
  }

  before(async () => {
    const told = (type: string, count: number) =>
      Array.from({ length: count }, () => ({
        ...bySystem,
        type: type as EmittedType,
        payload: 'x'.repeat(500),
      }))
    await database.transact((tx) =>
      events.appendAll(tx, scope, [...told('a.b', 1200), ...told('c.d', 2), ...told('a.b', 1)]),
    )
  })

  it('are found at once where they are named, however much lies before them', async () => {
    assert.deepEqual(await read(['c.d', 'e.f'], 0), { seqs: [1201, 1202], to: 1203, isAll: true })
    assert.deepEqual(await read(['a.b'], 90, { limit: 2 }), { seqs: [91, 92], to: 92, isAll: false })
    assert.deepEqual(await read(['c.d'], 1202), { seqs: [], to: 1203, isAll: true })
  })

  it('are looked for a stretch at a time where they match a pattern', async () => {
    assert.deepEqual(await read(['c.*'], 0), { seqs: [], to: 1000, isAll: false })
    assert.deepEqual(await read(['c.*'], 1000), { seqs: [1201, 1202], to: 1203, isAll: true })
    assert.deepEqual(await read(['*.b'], 0, { limit: 3 }), { seqs: [1, 2, 3], to: 3, isAll: false })
  })

  it('are no more than may be taken, and the first in any case', async () => {
    assert.deepEqual(await read(['c.d'], 0, { maxBytes: 2_000 }), { seqs: [1201], to: 1201, isAll: false })
    assert.deepEqual(await read(['c.d'], 0, { maxBytes: 1 }), { seqs: [1201], to: 1201, isAll: false })
  })
})
