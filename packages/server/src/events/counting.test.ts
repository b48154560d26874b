import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { assertFault, assertInvalid, onEachDatabase, useApp } from '../testing/index.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 1)

onEachDatabase('events/counts', (create) => {
  const app = useApp(create)
  let token = ''
  before(async () => {
    ;({ token } = await app.signUp('ana'))
    const { db } = app.database
    for (const [name, count, everyMs] of [
      ['busy', 3_000, 10 * 60_000],
      ['overrun', 52_000, 1_000],
    ] as const) {
      await app.client(token).repos.create({ name })
      const repo = await db
        .selectFrom('repos')
        .select('id')
        .where('name', '=', name)
        .executeTakeFirstOrThrow()
      const scope = `repo:${repo.id}`
      const rows = Array.from({ length: count }, (_, i) => ({
        scope,
        seq: i + 2,
        id: `evt_${name}${i}`,
        type: i % 3 === 0 ? 'git.push' : 'constructor',
        ts: START + i * everyMs,
        actor_kind: 'system' as const,
        actor_id: 'test',
      }))
      // Where it began does not matter here.
      await db.deleteFrom('events').where('scope', '=', scope).execute()
      for (let i = 0; i < count; i += 1_000)
        await db
          .insertInto('events')
          .values(rows.slice(i, i + 1_000))
          .execute()
      await db
        .updateTable('event_counters')
        .set({ last_seq: count + 1 })
        .where('scope', '=', scope)
        .execute()
    }
  })
  const call = (input: object) =>
    app.call('events/counts', { name: 'busy', bucket: 'day', ...input }, { token })
  const count = async (input: object) => {
    const { status, body } = await call(input)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  it('counts by type in each day, and in each hour', async () => {
    const days = await count({ from: START + 5 * HOUR, to: START + 2 * DAY + 1 })
    assert.deepEqual(days, {
      bucket: 'day',
      // One every ten minutes.
      items: [0, 1, 2].map((day) => ({
        start: START + day * DAY,
        counts: { 'git.push': 48, constructor: 96 },
      })),
      countedFrom: START,
      truncated: false,
    })
    const hours = await count({
      from: START - HOUR,
      to: START + 2 * HOUR,
      bucket: 'hour',
      types: ['git.push', 'run.failed'],
    })
    assert.deepEqual(
      hours.items.map(({ counts }: { counts: object }) => counts),
      [{}, { 'git.push': 2 }, { 'git.push': 2 }],
    )
    const last = await count({ from: START + 19 * DAY, to: START + 30 * DAY })
    assert.equal(last.items.length, 11)
    const sum = (items: { counts: Record<string, number> }[]) =>
      items.flatMap(({ counts }) => Object.values(counts)).reduce((total, one) => total + one, 0)
    assert.equal(sum(last.items), 3_000 - 19 * 144)
    assert.equal(sum((await count({ from: 0, to: DAY })).items), 0)
  })

  it('counts the newest where there are too many, and says from when on', async () => {
    const { items, countedFrom, truncated } = await count({
      name: 'overrun',
      bucket: 'hour',
      from: START,
      to: START + DAY,
    })
    assert.ok(truncated && countedFrom > START && countedFrom < START + 2 * HOUR, `${countedFrom - START}`)
    assert.deepEqual(items[2].counts, { 'git.push': 1200, constructor: 2400 })
  })

  it('refuses what would be many, and what is not there', async () => {
    assertInvalid(await call({ from: START, to: START + 169 * DAY }), ['to'])
    assertInvalid(await call({ from: START, to: START }), ['to'])
    assertFault(await call({ name: 'none', from: START, to: START + 1 }), 'REPO_NOT_FOUND', { name: 'none' })
    assert.equal((await call({ name: undefined, from: START, to: START + 1 })).status, 200)
  })
})
