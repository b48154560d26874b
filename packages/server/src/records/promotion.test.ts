import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordRow } from '@trellis/contract'
import { Fault } from '../platform/fault.ts'
import type { Database } from '../schema.ts'
import {
  onEachDatabase,
  promoteRecords,
  recordMigrationsOf,
  repoNamed,
  useRecords,
} from '../testing/index.ts'
import { schemaHash } from './schema-hash.ts'

const record = 'task'
const title = { type: 'string', required: true }
const old = {
  name: record,
  fields: { title, count: { type: 'string' }, gone: { type: 'text' } },
  indexes: ['count'],
}
const next = {
  name: record,
  fields: {
    title: { ...title, unique: true },
    count: { type: 'integer' },
    priority: { type: 'integer', required: true, default: 3 },
  },
  indexes: ['count', 'priority,count'],
  drop: ['gone'],
}
const { drop: _, ...nextPublic } = next
const STEPS = [
  'make title unique',
  'change type of count from string to integer',
  'add field priority',
  'backfill priority = 3',
  'drop field gone',
  'add index priority,count',
]

onEachDatabase('promotions of records', (create) => {
  const { app, client, owner, promoted, addTask: add } = useRecords(create)

  /** A repository with the old schema in force, and so many rows. */
  async function filled(rows: number, more: object = {}): Promise<string> {
    const name = await promoted(old)
    for (let i = 0; i < rows; i++) await add(name, { title: `t${i}`, count: `${i % 3}`, gone: 'x', ...more })
    return name
  }
  const list = async (name: string, where: object = {}): Promise<RecordRow[]> =>
    (await client().records.list({ name, record, where: { ...where }, limit: 1000 })).rows
  const state = async (name: string) => {
    const { rows, schema } = await client().records.list({ name, record, limit: 1000 })
    return { rows, schema }
  }
  /** After the grace for those who still read by an index that has gone. */
  const upkeep = () => {
    app.pass(61_000)
    return app.background.run('record upkeep')
  }
  const indexStates = async (name: string) => {
    const { id } = await repoNamed(app, name)
    const rows = await app.database.db
      .selectFrom('record_indexes')
      .innerJoin('record_collections', 'record_collections.id', 'record_indexes.collection_id')
      .select('record_indexes.state')
      .where('record_collections.repo_id', '=', id)
      .execute()
    return rows.map((row) => row.state).sort()
  }
  const collectionOf = async (name: string) =>
    app.database.db
      .selectFrom('record_collections')
      .selectAll()
      .where('repo_id', '=', (await repoNamed(app, name)).id)
      .executeTakeFirstOrThrow()

  const migrated = (rows: RecordRow[]): RecordRow[] =>
    rows.map(({ data: { title, count }, ...row }) => ({
      ...row,
      data: { title, ...(count !== undefined && { count: Number(count) }), priority: 3 },
    }))

  it('create what is new, and find nothing to do the second time', async () => {
    const name = await promoted()
    const schemaHashOfOld = schemaHash(old)
    assert.deepEqual(await promoteRecords(app, name, old), [
      {
        recordName: record,
        kind: 'create',
        schemaHash: schemaHashOfOld,
        steps: ['create record task', 'add index count'],
      },
    ])
    assert.deepEqual(await promoteRecords(app, name, old), [
      { recordName: record, kind: 'noop', schemaHash: schemaHashOfOld, steps: [] },
    ])
    assert.equal((await collectionOf(name)).version, 1)
  })

  it('read old rows through the new schema, find them by it, and rewrite them without a trace', async () => {
    const name = await filled(7)
    const before = await list(name)
    const plan = await recordMigrationsOf(app).plan(await repoNamed(app, name), [next])
    const entry = { recordName: record, kind: 'migrate', schemaHash: schemaHash(next), steps: STEPS }
    assert.deepEqual(plan, [{ entry, rows: 7 }])
    assert.deepEqual((await state(name)).rows, before)
    assert.deepEqual(await promoteRecords(app, name, next), [entry])
    const expected = migrated(before)
    for (const _ of ['before upkeep', 'after it']) {
      const { rows, schema } = await state(name)
      assert.deepEqual(rows, expected)
      assert.deepEqual(schema, { ...nextPublic, hooks: {} })
      assert.deepEqual(
        await list(name, { count: 1 }),
        expected.filter(({ data }) => data.count === 1),
      )
      assert.equal((await list(name, { priority: 3, count: 0 })).length, 3)
      await upkeep()
    }
    assert.deepEqual(await indexStates(name), ['in force', 'in force', 'in force'])
    const { upgrades, rewritten_to, bytes } = await collectionOf(name)
    assert.deepEqual([upgrades, rewritten_to], ['[]', null])
    const stored = await app.database.db
      .selectFrom('records')
      .select(['bytes', 'data'])
      .where('collection_id', '=', (await collectionOf(name)).id)
      .execute()
    assert.equal(
      stored.reduce((sum, row) => sum + row.bytes, 0),
      bytes,
    )
    assert.ok(stored.every(({ data }) => !data.includes('gone')))
    const [first] = expected
    assert.ok(first)
    const answer = await app.call(
      'records/create',
      { name, record, data: { title: first.data.title } },
      { token: owner().token },
    )
    assert.equal(answer.status, 400)
  })

  it('keep an optional value that was taken away, and what a later schema dropped', async () => {
    const name = await promoted()
    const fields = { title, priority: { type: 'integer', default: 3 } }
    await promoteRecords(app, name, { name: record, fields })
    const row = await add(name, { title: 'a' })
    await client().records.update({ name, record, id: row.id, revision: 1, data: { priority: null } })
    await promoteRecords(app, name, { name: record, fields: { ...fields, note: { type: 'text' } } })
    assert.deepEqual((await list(name))[0]?.data, { title: 'a' })
    await promoteRecords(app, name, { name: record, fields: { title } })
    await promoteRecords(app, name, { name: record, fields })
    assert.deepEqual((await list(name))[0]?.data, { title: 'a', priority: 3 })
    await upkeep()
    assert.deepEqual((await list(name))[0]?.data, { title: 'a', priority: 3 })
  })

  it('are blocked with counts, and leave everything as it was', async () => {
    const name = await filled(2)
    await add(name, { title: 't1', count: 'many', gone: 'y' })
    const before = await state(name)
    const repo = await repoNamed(app, name)
    const reasons = [
      'title becomes unique, and 2 rows have a value that another row has, too',
      'count changes from string to integer, and 1 row has a value that is none',
      'gone is dropped, and 3 rows have a value in it that `drop` does not give up',
    ]
    const [planned] = await recordMigrationsOf(app).plan(repo, [nextPublic])
    assert.deepEqual([planned?.entry.kind, planned?.entry.reasons], ['blocked', reasons])
    await assert.rejects(promoteRecords(app, name, nextPublic), (error: unknown) => {
      assert.ok(error instanceof Fault)
      assert.equal(error.code, 'RECORD_MIGRATION_BLOCKED')
      assert.deepEqual(error.data, { name, reasons: reasons.map((reason) => `task: ${reason}`) })
      return true
    })
    assert.deepEqual(await state(name), before)
    assert.deepEqual(await indexStates(name), ['in force'])
  })

  it('catch up with what is written meanwhile', async () => {
    const name = await filled(3)
    const repo = await repoNamed(app, name)
    const migrations = recordMigrationsOf(app)
    const prepared = await migrations.prepare(repo, [next])
    const [first, second, third] = await list(name)
    assert.ok(first && second && third)
    await client().records.delete({ name, record, id: first.id, revision: 1 })
    // Two rows change places: each has for a moment what the other had.
    const rename = ({ id, revision }: RecordRow, to: string) =>
      client().records.update({ name, record, id, revision, data: { title: to, count: '7' } })
    const moved = await rename(second, 'between')
    await rename(third, 't1')
    await rename(moved, 't2')
    await add(name, { title: 'late', count: '7' })
    const before = await list(name)
    await app.database.transact((tx) => migrations.flipIn(tx, repo, prepared))
    assert.deepEqual(await list(name), migrated(before))
    assert.deepEqual(
      (await list(name, { count: 7 })).map(({ data }) => data.title),
      ['t2', 't1', 'late'],
    )
    await upkeep()
    assert.deepEqual(await list(name), migrated(before))
  })

  it('say how far they are, and that they go on', async () => {
    const name = await filled(25)
    const repo = await repoNamed(app, name)
    let log = ''
    let leaps = 0
    const migrations = recordMigrationsOf(app, {
      // As if every batch took a minute.
      clock: () => app.now() + 60_000 * leaps++,
      onLog: (lines) => {
        log += lines
      },
    })
    const began = app.now()
    const prepared = await migrations.prepare(repo, [next])
    while (!log.includes('"done":25')) await sleep(1)
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.ok(lines.length >= 2)
    assert.deepEqual([lines[0].done, lines[0].of, lines.at(-1).done], [20, 25, 25])
    const { touched_at } = await app.database.db
      .selectFrom('record_indexes')
      .select('touched_at')
      .where('id', '=', prepared.preparations[0]?.fresh[0]?.id ?? '')
      .executeTakeFirstOrThrow()
    assert.ok(touched_at > began + 60_000)
    await migrations.discard(prepared)
  })

  it('are stopped by what is written meanwhile, if it does not fit', async () => {
    const misfit: [title: string, data: object][] = [
      ['another row', { title: 't1' }],
      ['a value that is none', { title: 'x', count: 'none' }],
    ]
    for (const [, data] of misfit) {
      const name = await filled(2)
      const repo = await repoNamed(app, name)
      const migrations = recordMigrationsOf(app)
      const prepared = await migrations.prepare(repo, [next])
      const late = await add(name, data)
      const before = await state(name)
      await assert.rejects(
        app.database.transact((tx) => migrations.flipIn(tx, repo, prepared)),
        ({ code }: Fault) => code === 'RECORD_MIGRATION_BLOCKED',
      )
      assert.deepEqual(await state(name), before)
      // Once it is gone, what was prepared is still good.
      await client().records.delete({ name, record, id: late.id, revision: 1 })
      await app.database.transact((tx) => migrations.flipIn(tx, repo, prepared))
      assert.equal((await list(name)).length, 2)
    }
  })

  it('go on while others write without a break, and lose nothing', async () => {
    const name = await filled(20)
    const repo = await repoNamed(app, name)
    const migrations = recordMigrationsOf(app)
    let isOver = false
    let written = 20
    const writer = (async () => {
      while (!isOver) {
        const row = await add(name, { title: `w${written++}`, count: null })
        await client().records.update({
          name,
          record,
          id: row.id,
          revision: 1,
          data: { title: `u${written}` },
        })
      }
    })()
    const prepared = await migrations.prepare(repo, [next])
    await sleep(50)
    await app.database.transact((tx) => migrations.flipIn(tx, repo, prepared))
    await sleep(50)
    isOver = true
    await writer
    const rows = await list(name)
    assert.equal(rows.length, written)
    assert.ok(rows.every(({ data }) => data.priority === 3 && data.gone === undefined))
    assert.deepEqual(await list(name, { priority: 3 }), rows)
    await upkeep()
    assert.deepEqual(await list(name), rows)
    const entries = await app.database.db
      .selectFrom('record_entries')
      .innerJoin('records', 'records.id', 'record_entries.record_id')
      .select('record_entries.key')
      .where('records.collection_id', '=', (await collectionOf(name)).id)
      .execute()
    assert.equal(entries.length, rows.length * 3)
  })

  it('leave wholly the old or wholly the new after a crash at any step', async () => {
    for (let step = 1, isThrough = false; !isThrough; step++) {
      const name = await filled(3)
      const repo = await repoNamed(app, name)
      const before = await state(name)
      const crashing = crashAt(app.database, step)
      const migrations = recordMigrationsOf(app, { database: crashing })
      const outcome = await migrations
        .prepare(repo, [next])
        .then((prepared) => crashing.transact((tx) => migrations.flipIn(tx, repo, prepared)))
        .then(
          () => 'through' as const,
          (error: Error) => error.message,
        )
      isThrough = outcome === 'through'
      if (isThrough) assert.ok(step > 4)
      else assert.match(outcome, /^crash/)
      const after = await state(name)
      if (outcome.startsWith('crash before') || outcome.startsWith('crash inside'))
        assert.deepEqual(after, before)
      else if (after.schema.fields.priority) assert.deepEqual(after.rows, migrated(before.rows))
      else assert.deepEqual(after, before)
      // What a crash has left is no obstacle, and does not stay.
      await promoteRecords(app, name, next)
      app.pass(2 * 3_600_000)
      await upkeep()
      assert.deepEqual((await state(name)).rows, migrated(before.rows))
      assert.deepEqual(await indexStates(name), ['in force', 'in force', 'in force'])
      assert.equal((await collectionOf(name)).rewritten_to, null)
    }
  })

  it('refuse to flip what another promotion has outrun', async () => {
    const name = await filled(1)
    const repo = await repoNamed(app, name)
    const migrations = recordMigrationsOf(app)
    const prepared = await migrations.prepare(repo, [next])
    await promoteRecords(app, name, { ...next, hooks: { onCreate: true } })
    await assert.rejects(
      app.database.transact((tx) => migrations.flipIn(tx, repo, prepared)),
      /have changed since/,
    )
    await migrations.discard(prepared)
    await upkeep()
    assert.deepEqual(await indexStates(name), ['in force', 'in force', 'in force'])
  })
})

/** Ends everything before, inside or after one of its transactions, as if the process were gone. */
function crashAt(database: Database, step: number): Database {
  let places = 0
  let isDown = false
  const reach = (place: string) => {
    if (isDown || ++places === step) {
      isDown = true
      throw new Error(`crash ${place} transaction ${Math.ceil(places / 3)}`)
    }
  }
  return {
    ...database,
    async transact(work) {
      reach('before')
      const result = await database.transact(async (tx) => {
        const done = await work(tx)
        reach('inside')
        return done
      })
      reach('after')
      return result
    },
  }
}
