// Records come into force with the commit that declares them: together with it, or not at all.

import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { assertFault, onEachDatabase } from '@trellis/server/testing'
import { type Client, useHost } from '../git/harness.ts'

const name = 'board'
const record = 'task'
const title = { type: 'string', required: true }

onEachDatabase('records of a commit', (create) => {
  const host = useHost(create)
  let client: Client

  const push = async (branch: string, fields: object, more: object = {}) => {
    const descriptor = { version: 1, name: 'tasks', record: { name: record, fields, ...more } }
    const oid = await client.commit({
      'extensions/tasks/extension.json': JSON.stringify(descriptor),
      'extensions/tasks/index.ts': 'export default (input: unknown) => input\n',
    })
    await client.run('push', '-q', '-f', host.remote(name), `HEAD:${branch}`)
    return oid
  }
  const entry = async (ref: string) => (await host.ok('extensions/list', { name, ref })).items[0]
  const promote = (ref: string, dryRun = false) => host.call('extensions/promote', { name, ref, dryRun })
  const rows = async (): Promise<{ data: object }[]> => (await host.ok('records/list', { name, record })).rows
  const state = async () => ({
    refs: await host.refs(name),
    rows: await host.ok('records/list', { name, record }),
    events: (await host.events(name)).length,
  })

  before(async () => {
    await host.repo(name)
    client = host.client()
    await client.run('init', '-q')
  })

  it('are there with the first promotion, and not before', async () => {
    await push('main', { title, count: { type: 'string' } }, { indexes: ['title'] })
    const missing = await host.call('records/list', { name, record })
    assert.deepEqual([missing.status, missing.body.code], [404, 'RECORD_SCHEMA_NOT_FOUND'])
    const ahead = await entry('main')
    assert.deepEqual([ahead.schemaAhead, ahead.canonicalSchemaHash], [true, null])

    const plan = (await promote('main', true)).body.migrations
    assert.deepEqual(
      plan.map(({ recordName, kind }: { recordName: string; kind: string }) => [recordName, kind]),
      [[record, 'create']],
    )
    const { body } = await promote('main')
    assert.deepEqual(body.migrations, plan)
    const promoted = await entry('main')
    assert.deepEqual([promoted.schemaAhead, promoted.canonicalSchemaHash], [false, plan[0].schemaHash])
    for (const count of ['1', '2'])
      await host.ok('records/create', { name, record, data: { title: 'a', count } })
  })

  it('migrate with the commit that changes them', async () => {
    await push('typed', {
      title,
      count: { type: 'integer' },
      priority: { type: 'integer', required: true, default: 3 },
    })
    assert.equal((await entry('typed')).schemaAhead, true)
    const planned = await promote('typed', true)
    assert.equal(planned.body.migrations[0].kind, 'migrate')
    assert.ok(planned.body.migrations[0].steps.length > 0)
    assert.equal((await promote('typed')).status, 200)
    assert.deepEqual(
      (await rows()).map(({ data }) => data),
      [1, 2].map((count) => ({ title: 'a', count, priority: 3 })),
    )
    assert.deepEqual(
      (await host.ok('records/list', { name, record, where: { count: { gt: 1 } } })).rows.length,
      1,
    )
  })

  it('that rows do not fit change nothing at all', async () => {
    await push('strict', {
      title: { ...title, maxLength: 100, unique: true },
      count: { type: 'integer' },
      priority: { type: 'integer' },
    })
    const before = await state()
    const dry = await promote('strict', true)
    assert.deepEqual([dry.status, dry.body.migrations[0].kind], [200, 'blocked'])
    assert.ok(dry.body.migrations[0].reasons.length > 0)
    const blocked = await promote('strict')
    assertFault(blocked, 'RECORD_MIGRATION_BLOCKED', { name, reasons: blocked.body.data.reasons })
    assert.deepEqual(await state(), before)
  })

  it('leave with a commit without them, and come back with their rows', async () => {
    const before = await rows()
    await client.commit({ 'extensions/tasks/extension.json': null, 'extensions/tasks/index.ts': null })
    await client.run('push', '-q', host.remote(name), 'HEAD:without')
    assert.equal((await promote('without')).status, 200)
    const missing = await host.call('records/list', { name, record })
    assert.equal(missing.body.code, 'RECORD_SCHEMA_NOT_FOUND')
    assert.equal((await promote('typed')).status, 200)
    assert.deepEqual(await rows(), before)
  })

  it('are not in a fork', async () => {
    await host.ok('repos/fork', { name, newName: 'forked' })
    const missing = await host.call('records/list', { name: 'forked', record })
    assert.equal(missing.body.code, 'RECORD_SCHEMA_NOT_FOUND')
  })
})
