// Making a commit canonical: all of it or nothing, and never more power than was given then.

import assert from 'node:assert/strict'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { assertFault, createSqlite, onEachDatabase } from '@trellis/server/testing'
import { type Client, useHost } from '../git/harness.ts'

const CANONICAL = 'refs/trellis/canonical'

onEachDatabase('promotion', (create) => {
  const host = useHost(create)
  let client: Client
  const name = 'tools'
  const push = async (files: Record<string, string | null>, branch = 'main') => {
    const oid = await client.commit(files)
    await client.run('push', '-q', '-f', host.remote(name), `HEAD:${branch}`)
    return oid
  }
  const promote = (input: object = {}) => host.call('extensions/promote', { name, ...input })
  const item = async (ref?: string) =>
    (await host.ok('extensions/list', { name, ...(ref && { ref }) })).items[0]
  const extension = (capabilities: string[], body = 'input') => ({
    'extensions/triage/extension.json': JSON.stringify({ version: 1, name: 'triage', capabilities }),
    'extensions/triage/index.ts': `export default (input: unknown) => ${body}\n`,
  })

  before(async () => {
    await host.repo(name)
    client = host.client()
    await client.run('init', '-q')
    await push(extension(['repo:read', 'net:*.example.com']))
  })

  it('says what would happen, and changes nothing', async () => {
    const before = await host.refs(name)
    const events = (await host.events(name)).length
    const { status, body } = await promote({ dryRun: true })
    assert.equal(status, 200)
    assert.deepEqual(body, { ref: CANONICAL, oid: await client.rev('HEAD'), migrations: [] })
    assert.deepEqual(await host.refs(name), before)
    assert.equal((await host.events(name)).length, events)
  })

  it('puts the commit in force, with one event', async () => {
    const oid = await client.rev('HEAD')
    const events = (await host.events(name)).length
    assert.deepEqual((await promote()).body, { ref: CANONICAL, oid, migrations: [] })
    const [event, ...more] = (await host.events(name)).slice(events)
    assert.deepEqual([event?.type, event?.subject, more], ['extension.promoted', CANONICAL, []])
    assert.deepEqual([event?.payload.before, event?.payload.after], [null, oid])
    const grants = { added: ['net:*.example.com', 'repo:read'], removed: [] }
    const { changes, changesTruncated, webhooks } = event?.payload ?? {}
    assert.deepEqual(changes, [{ extension: 'triage', change: 'added', module: true, grants }])
    assert.deepEqual([changesTruncated, webhooks], [false, { added: [], changed: [], removed: [] }])
    assert.equal((await host.refs(name))[CANONICAL], oid)
    const listed = await host.ok('extensions/list', { name })
    assert.equal(listed.canonicalCommitSha, oid)
    const [entry] = listed.items
    assert.equal(entry.canonical, true)
    assert.equal(entry.canonicalDescriptorHash, entry.descriptorHash)
    assert.match(entry.canonicalGrantHash, /^sha256:/)
    assert.deepEqual(entry.effectiveCapabilities, ['net:*.example.com', 'repo:read'])
    assert.deepEqual([entry.schemaAhead, entry.canonicalSchemaHash], [false, null])
  })

  it('tells what changed since the promotion before', async () => {
    const record = { name: 'note', fields: { text: { type: 'text' } } }
    const told = async () => {
      const { oid } = (await promote({ ref: 'next' })).body
      // What it sets off may have begun already.
      const promotions = (await host.events(name)).filter(({ type }) => type === 'extension.promoted')
      const { payload } = promotions.at(-1) ?? assert.fail()
      assert.equal(payload.after, oid)
      return payload
    }
    await push(
      {
        'extensions/triage/extension.json': JSON.stringify({
          version: 1,
          name: 'triage',
          capabilities: ['repo:read', 'repo:write'],
          on: { push: {} },
          daemon: { scheduleIntervalMinutes: 5 },
        }),
        'extensions/notes/extension.json': JSON.stringify({ version: 1, name: 'notes', record }),
        'extensions/notes/index.ts': 'export default () => 1\n',
      },
      'next',
    )
    const plan = await host.ok('extensions/plan', { name, ref: 'next' })
    const { changes, migrations } = await told()
    const after = { record: 'note', schemaHash: migrations[0].schemaHash }
    assert.deepEqual(changes, [
      { extension: 'notes', change: 'added', module: true, schema: { before: null, after } },
      {
        extension: 'triage',
        change: 'changed',
        grants: { added: ['repo:write'], removed: ['net:*.example.com'] },
        trigger: 'added',
        daemon: 'added',
      },
    ])
    const notes = { extension: 'notes', change: 'added', module: true }
    const after5 = { on: { push: {} }, scheduleIntervalMinutes: 5 }
    assert.deepEqual(plan.changes, [notes, { ...changes[1], ...after5 }], 'as it was planned')
    assert.deepEqual(
      plan.migrations.map(({ recordName, kind, rows }: Record<string, unknown>) => [recordName, kind, rows]),
      [['note', 'create', 0]],
    )
    assert.deepEqual([plan.before === plan.oid, plan.errors], [false, []])
    const same = await host.ok('extensions/plan', { name, ref: 'next' })
    assert.deepEqual([same.before, same.changes], [same.oid, []])
    assert.deepEqual((await told()).changes, [], 'the same once more')
    await push(
      {
        ...extension(['repo:read', 'net:*.example.com']),
        'extensions/notes/extension.json': null,
        'extensions/notes/index.ts': null,
      },
      'next',
    )
    const back = (await told()).changes
    assert.deepEqual(back[0], {
      extension: 'notes',
      change: 'removed',
      module: true,
      schema: { before: after, after: null },
    })
    assert.deepEqual([back[1].trigger, back[1].daemon], ['removed', 'removed'])
  })

  it('lets no branch give itself power', async () => {
    await push(extension(['repo:read', 'repo:write', 'net:api.example.com', 'net:evil.com'], '1'), 'greedy')
    const entry = await item('greedy')
    assert.deepEqual(entry.effectiveCapabilities, ['net:api.example.com', 'repo:read'])
    assert.equal(entry.canonical, false)
    assert.notEqual(entry.canonicalDescriptorHash, entry.descriptorHash)
  })

  it('refuses what is broken, and leaves everything as it was', async () => {
    const before = await host.refs(name)
    await push({ 'extensions/bad/extension.json': '{"name": "bad"}' }, 'broken')
    const invalid = await promote({ ref: 'broken' })
    assert.deepEqual([invalid.status, invalid.body.code], [422, 'EXTENSION_INVALID'])
    assert.deepEqual([invalid.body.data.name, invalid.body.data.extension], [name, 'bad'])
    const { errors, changes } = await host.ok('extensions/plan', { name, ref: 'broken' })
    assert.match(errors[0].path, /^extensions\/bad\/extension\.json/)
    assert.deepEqual(changes, [])
    await push(
      {
        'extensions/bad/extension.json': '{"version": 1, "name": "bad"}',
        'extensions/bad/index.ts': 'export default (',
      },
      'broken',
    )
    const failed = await promote({ ref: 'broken', dryRun: true })
    assert.deepEqual([failed.status, failed.body.code], [422, 'EXTENSION_BUILD_FAILED'])
    await push({ 'extensions/bad/index.ts': 'export default 1', 'webhooks/w/webhook.json': '{}' }, 'broken')
    assert.equal((await promote({ ref: 'broken' })).body.code, 'EXTENSION_INVALID')
    assertFault(await promote({ ref: 'none' }), 'GIT_OBJECT_NOT_FOUND', { name, object: 'none' })
    const after = await host.refs(name)
    assert.equal(after[CANONICAL], before[CANONICAL])
  })

  it('lets promotions of one repository follow each other', async () => {
    await client.commit({ 'extensions/bad/extension.json': null, 'webhooks/w/webhook.json': null })
    const oids: string[] = []
    for (const i of [1, 2, 3]) oids.push(await push(extension([], String(i)), `p${i}`))
    const answers = await Promise.all(oids.map((ref) => promote({ ref })))
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.oid]),
      oids.map((oid) => [200, oid]),
    )
    const events = (await host.events(name)).filter(({ type }) => type === 'extension.promoted').slice(-3)
    for (const [i, { payload }] of events.entries())
      if (i > 0) assert.equal(payload.before, events[i - 1]?.payload.after)
    const { canonicalCommitSha } = await host.ok('extensions/list', { name })
    assert.equal(canonicalCommitSha, (await host.refs(name))[CANONICAL])
    assert.equal(canonicalCommitSha, events.at(-1)?.payload.after)
  })

  it('keeps the ref from everybody, and from forks', async () => {
    for (const refspec of [`:${CANONICAL}`, 'HEAD:refs/trellis/other'])
      assert.match(await client.fails('push', '-f', host.remote(name), refspec), /server alone/)
    await host.ok('repos/fork', { name, newName: 'forked' })
    assert.equal((await host.refs('forked'))[CANONICAL], undefined)
    const forked = await host.ok('extensions/list', { name: 'forked' })
    assert.equal(forked.canonicalCommitSha, null)
  })

  it('notices a bundle that is not what it was', async () => {
    await push(extension([], '"tampered"'), 'tampered')
    const { moduleHash } = await item('tampered')
    const hex = moduleHash.slice('sha256:'.length)
    const dir = join(host.app.data, 'bundles', hex.slice(0, 2))
    assert.deepEqual((await readdir(dir)).toSorted().slice(-2), [`${hex}.js`, `${hex}.js.map`])
    await writeFile(join(dir, `${hex}.js`), 'export default () => "something else"')
    const answer = await promote({ ref: 'tampered' })
    assert.deepEqual([answer.status, answer.body.code], [409, 'EXTENSION_PROVENANCE'])
    assert.match(answer.body.data.reason, /other bytes/)
  })

  it('notices a hash that is not what the commit gives', async () => {
    await push(extension([], '"recorded"'), 'recorded')
    const { moduleHash } = await item('recorded')
    const lie = `sha256:${'0'.repeat(64)}`
    await host.app.database.db
      .updateTable('extension_builds')
      .set({ module_hash: lie })
      .where('module_hash', '=', moduleHash)
      .execute()
    const answer = await promote({ ref: 'recorded' })
    assert.deepEqual([answer.status, answer.body.code], [409, 'EXTENSION_PROVENANCE'])
  })

  it('goes with the repository', async () => {
    await host.ok('repos/delete', { name })
    assert.deepEqual(await host.app.database.db.selectFrom('canonical_extensions').selectAll().execute(), [])
  })
})

describe('built modules', () => {
  const host = useHost(createSqlite, { TRELLIS_BUNDLE_CACHE_BYTES: '1' })
  const name = 'tools'

  it('are forgotten when there are too many, but for those in force', async () => {
    const client = host.client()
    await host.repo(name)
    await client.run('init', '-q')
    const push = async (branch: string) => {
      await client.commit({
        'extensions/e/extension.json': '{"version": 1, "name": "e"}',
        'extensions/e/index.ts': `export default () => '${branch}'\n`,
      })
      await client.run('push', '-q', host.remote(name), `HEAD:${branch}`)
    }
    const hash = async (ref: string): Promise<string> =>
      (await host.ok('extensions/list', { name, ref })).items[0].moduleHash
    await push('main')
    await host.ok('extensions/promote', { name })
    await push('other')
    const [kept, gone] = [await hash('main'), await hash('other')]

    const bundles = join(host.app.data, 'bundles')
    const stored = async () =>
      (await readdir(bundles, { recursive: true })).filter((file) => file.endsWith('.js'))
    for (const file of await stored()) await utimes(join(bundles, file), 1, 1)
    await host.app.background.run('old builds')
    assert.deepEqual(await host.app.database.db.selectFrom('extension_builds').selectAll().execute(), [])
    const hex = (full: string) => full.slice('sha256:'.length)
    assert.deepEqual(await stored(), [join(hex(kept).slice(0, 2), `${hex(kept)}.js`)])
    assert.equal(await hash('other'), gone)
  })
})
