// The repository in examples/, pushed with git, put in force, changed, refused and put back.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cp, readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertFault, onEachDatabase } from '@trellis/server/testing'
import { sql } from 'kysely'
import type { Json } from '../../packages/server/src/testing/json.ts'
import { type Client, type Host, useHost } from '../git/harness.ts'

const SAMPLE = resolve(import.meta.dirname, '../../examples/tracker')
const CANONICAL = 'refs/trellis/canonical'
const name = 'tracker'

/** JSON in the one form that is hashed, found without the server's help. */
const inOneForm = (value: Json): string =>
  Array.isArray(value)
    ? `[${value.map(inOneForm).join()}]`
    : value !== null && typeof value === 'object'
      ? `{${Object.keys(value)
          .toSorted()
          .map((key) => `${JSON.stringify(key)}:${inOneForm(value[key])}`)
          .join()}}`
      : JSON.stringify(value)
const sha256 = (data: string | Uint8Array) => `sha256:${createHash('sha256').update(data).digest('hex')}`
const hashOf = (value: Json) => sha256(inOneForm(value))

/** What a list must say of an extension at a commit, when the descriptors of `canonical` are in force. */
function expectedEntry(descriptor: Json, commitSha: string, canonical: Json[] = []): Json {
  const { description, record, inputSchema, outputSchema } = descriptor
  const { module = 'index.ts', capabilities = [] } = descriptor
  const own = canonical.find((other) => other.name === descriptor.name)
  const schema = canonical.find((other) => record && other.record?.name === record.name)?.record
  const granted: string[] = own?.capabilities ?? []
  const path = `extensions/${descriptor.name}`
  const { drop: _, ...answered } = record ?? {}
  return {
    version: descriptor.version,
    name: descriptor.name,
    ...(description && { description }),
    path,
    modulePath: `${path}/${module}`,
    descriptorPath: `${path}/extension.json`,
    descriptorHash: hashOf(descriptor),
    runtime: descriptor.runtime ?? 'worker',
    capabilities,
    dispatch: descriptor.dispatch ?? false,
    ...(inputSchema && { inputSchema }),
    ...(outputSchema && { outputSchema }),
    ...(record && { record: { hooks: {}, ...answered } }),
    on: descriptor.on ?? {},
    commitSha,
    effectiveCapabilities: capabilities.filter((one: string) => granted.includes(one)).toSorted(),
    canonicalDescriptorHash: own ? hashOf(own) : null,
    canonicalGrantHash: own ? hashOf(granted.toSorted()) : null,
    canonicalSchemaHash: schema ? hashOf(schema) : null,
    schemaAhead: inOneForm(record ?? null) !== inOneForm(schema ?? null),
    canonical: own !== undefined && hashOf(own) === hashOf(descriptor),
  }
}

/** What upkeep changes in the background, at any time: rows that wait to be rewritten, packs that are read again. */
const OF_UPKEEP = ['checked_at', 'rewritten_to', 'upgrades', 'bytes', 'reserved_bytes', 'version', 'data']

/** Waits until all has run that was set off. */
async function settled({ app }: Host): Promise<void> {
  const under = async () => {
    const { rows } = await sql<{ left: number | string }>`select
      (select count(*) from runs where ended_at is null) + (select count(*) from run_proposals) +
      (select count(*) from daemons where run_id is not null or due_at <= ${Date.now()}) as left`.execute(
      app.database.db,
    )
    return Number(rows[0]?.left)
  }
  for (let tries = 0; (await under()) > 0; tries++) {
    assert.ok(tries < 1200, 'what was set off has not ended after a minute')
    await sleep(50)
  }
}

/** Everything there is in the database, but for what only says when somebody was last seen or something last used. */
async function everythingIn(host: Host): Promise<Record<string, string[]>> {
  await settled(host)
  const { db } = host.app.database
  const passing = ['extension_builds', 'sessions', 'throttles', 'workers', 'background_turns']
  const all: Record<string, string[]> = {}
  for (const { name: table } of await db.introspection.getTables()) {
    if (passing.includes(table)) continue
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db)
    const kept = ([column]: [string, unknown]) => !OF_UPKEEP.includes(column)
    all[table] = rows
      .map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).filter(kept))))
      .toSorted()
  }
  return all
}

onEachDatabase('the sample repository', (create) => {
  const host = useHost(create)
  let client: Client
  let first: string
  let second: string
  /** As they are at the first commit, by the name of their extension. */
  const descriptors = new Map<string, Json>()
  const changed = new Map<string, Json>()

  const list = (ref: string) => host.ok('extensions/list', { name, ref })
  const promote = (ref: string, more: object = {}) => host.call('extensions/promote', { name, ref, ...more })
  const add = async (record: string, data: object) =>
    (await host.ok('records/create', { name, record, data })) as Json
  const rows = async (where: object = {}) =>
    (await host.ok('records/list', { name, record: 'task', where })).rows as Json[]
  /** Changes the record of the tasks on a branch of its own. */
  async function pushTasks(branch: string, change: (descriptor: Json) => void): Promise<string> {
    const descriptor = structuredClone(descriptors.get('tasks'))
    change(descriptor)
    await client.run('checkout', '-q', '-B', branch, first)
    const oid = await client.commit({ 'extensions/tasks/extension.json': JSON.stringify(descriptor) })
    await client.run('push', '-q', host.remote(name), branch)
    changed.set(branch, descriptor)
    return oid
  }
  const descriptorsOf = (branch?: string) =>
    [...descriptors.values()].map((one) => (one.name === 'tasks' && branch ? changed.get(branch) : one))
  /** Every field of every entry: those that only a build can tell are held against what was stored. */
  async function assertListed(ref: string, commit: string, at: Json[], canonical?: Json[]): Promise<void> {
    const answer = await list(ref)
    assert.deepEqual([answer.ref, answer.commitSha, answer.canonicalRef], [ref, commit, CANONICAL])
    assert.deepEqual(answer.errors, [])
    assert.equal(answer.items.length, 5)
    for (const { moduleHash, bundlerVersion, dispatchable, ...entry } of answer.items) {
      const descriptor = at.find((one) => one.name === entry.name)
      assert.deepEqual(entry, expectedEntry(descriptor, commit, canonical))
      const hex = moduleHash.slice('sha256:'.length)
      const bundle = await readFile(join(host.app.data, 'bundles', hex.slice(0, 2), `${hex}.js`))
      assert.equal(sha256(bundle), moduleHash)
      assert.ok(bundlerVersion.length > 0)
      // Whether it can be run depends on what this server can run.
      assert.ok(typeof dispatchable === 'boolean' && (entry.dispatch || !dispatchable))
    }
  }

  before(async () => {
    await host.repo(name)
    client = host.client()
    await client.run('init', '-q')
    await cp(SAMPLE, client.dir, { recursive: true })
    first = await client.commit({})
    await client.run('push', '-q', host.remote(name), 'HEAD:main')
    for (const folder of (await readdir(join(SAMPLE, 'extensions'))).toSorted()) {
      const text = await readFile(join(SAMPLE, 'extensions', folder, 'extension.json'), 'utf8')
      descriptors.set(folder, JSON.parse(text))
    }
  })

  it('is sound at its branch, and in force nowhere', async () => {
    assert.equal((await list('main')).canonicalCommitSha, null)
    await assertListed('main', first, descriptorsOf())
    const all = [...descriptors.values()]
    assert.deepEqual(
      new Set(all.map(({ runtime = 'worker' }) => runtime)),
      new Set(['worker', 'sandbox', 'workflow']),
    )
    const declared = (key: string) => all.filter((descriptor) => key in descriptor).map((one) => one.name)
    assert.deepEqual(declared('record'), ['checks', 'releases', 'tasks'])
    assert.deepEqual(declared('daemon'), ['overdue'])
    assert.deepEqual(declared('on'), ['alerts', 'checks'])
  })

  it('is in force with its promotion, and granted what it asks for', async () => {
    const { status, body } = await promote('main')
    assert.deepEqual([status, body.ref, body.oid], [200, CANONICAL, first])
    assert.deepEqual(
      body.migrations,
      ['checks', 'releases', 'tasks'].map((extension) => {
        const { record } = descriptors.get(extension)
        return {
          recordName: record.name,
          kind: 'create',
          schemaHash: hashOf(record),
          steps: [
            `create record ${record.name}`,
            ...record.indexes.map((index: string) => `add index ${index}`),
          ],
        }
      }),
    )
    assert.equal((await list('main')).canonicalCommitSha, first)
    await assertListed('main', first, descriptorsOf(), descriptorsOf())
  })

  it('keeps rows as its modules make and find them', async () => {
    const release = await add('release', { version: '1.0.0', commit: first })
    const again = await host.call('records/create', {
      name,
      record: 'release',
      data: { version: '1.0.0', commit: first },
    })
    assert.deepEqual(again.body.data.issues[0].path, ['data', 'version'])
    const task = await add('task', {
      title: 'Write the guide',
      area: 'docs',
      assignee: 'grace',
      due: 1000,
      remindedOf: 1000,
    })
    await add('task', { title: 'Measure it', priority: 1 })
    assert.deepEqual([task.data.status, task.data.priority], ['open', 3])
    const late = { status: { in: ['open', 'doing', 'blocked'] }, due: { lt: Date.now() } }
    assert.deepEqual(
      (await rows(late)).map(({ id }) => id),
      [task.id],
    )
    const update = (revision: number, data: object) =>
      host.call('records/update', { name, record: 'task', id: task.id, revision, data })
    const skipped = await update(1, { status: 'done' })
    assert.match(skipped.body.data.issues[0].message, /open.*done/)
    assert.equal((await update(1, { status: 'doing' })).status, 200)
    assert.equal((await update(2, { status: 'done' })).status, 200)
    assert.equal((await rows({ status: 'done', release: null })).length, 1)
    assert.equal((await update(3, { release: release.id })).status, 200)
    assert.equal((await rows({ release: release.id })).length, 1)
    await add('check', { commit: first, ref: 'refs/heads/main', outcome: 'passed', problems: [] })
  })

  it('shows on a branch what is ahead, and what would become of it', async () => {
    second = await pushTasks('next', ({ record }) => {
      record.fields.area = { type: 'string', maxLength: 50, required: true, default: 'web' }
      record.fields.estimate = { type: 'integer', min: 1, max: 100 }
      record.fields.status.values.push('review')
      record.fields.status.transitions.doing.push('review')
      record.fields.status.transitions.review = ['doing', 'done']
      record.indexes = ['status,due', 'release', 'area,priority']
    })
    await assertListed('next', second, descriptorsOf('next'), descriptorsOf())
    const ahead = (await list('next')).items.filter(({ schemaAhead }: Json) => schemaAhead)
    assert.deepEqual(
      ahead.map((entry: Json) => entry.name),
      ['tasks'],
    )
    const before = await everythingIn(host)
    const { status, body } = await promote('next', { dryRun: true })
    assert.deepEqual([status, body.oid], [200, second])
    assert.deepEqual(
      body.migrations.map(({ recordName, kind }: Json) => [recordName, kind]),
      [
        ['check', 'noop'],
        ['release', 'noop'],
        ['task', 'migrate'],
      ],
    )
    assert.deepEqual(body.migrations[2].schemaHash, hashOf(changed.get('next').record))
    assert.deepEqual(body.migrations[2].steps, [
      'add value review to status',
      'change transitions of status',
      'make area required',
      'backfill area = "web"',
      'set default of area to "web"',
      'add field estimate',
      'add index area,priority',
      'drop index assignee,status',
    ])
    assert.deepEqual(await everythingIn(host), before)
  })

  it('changes with the promotion of that branch, rows and all', async () => {
    const planned = (await promote('next', { dryRun: true })).body
    assert.deepEqual((await promote('next')).body, planned)
    await assertListed('next', second, descriptorsOf('next'), descriptorsOf('next'))
    await assertListed('main', first, descriptorsOf(), descriptorsOf('next'))
    assert.deepEqual(
      (await rows({ area: 'web' })).map(({ revision, data }) => [revision, data.title, data.area]),
      [[1, 'Measure it', 'web']],
    )
    const [{ id, revision }] = await rows({ area: 'docs' })
    assert.equal(revision, 4)
    for (const status of ['open', 'doing', 'review'])
      await host.ok('records/update', {
        name,
        record: 'task',
        id,
        revision: (await host.ok('records/get', { name, record: 'task', id })).revision,
        data: { status },
      })
  })

  it('changes nothing at all when rows stand in the way', async () => {
    await pushTasks('strict', ({ record }) => {
      record.fields.assignee.required = true
      record.fields.area = { type: 'integer' }
    })
    const dry = await promote('strict', { dryRun: true })
    const reasons = [
      'status loses the value review, and 1 row has it',
      'area changes from string to integer, and 2 rows have a value that is none',
      'assignee becomes required, and 1 row has no value in it',
    ]
    assert.deepEqual([dry.status, dry.body.migrations[2].kind], [200, 'blocked'])
    assert.deepEqual(dry.body.migrations[2].reasons, reasons)
    const [before, listed, tasks] = [await everythingIn(host), await list('next'), await rows()]
    assert.ok(Object.values(before).flat().length > 50)
    const answer = await promote('strict')
    assertFault(answer, 'RECORD_MIGRATION_BLOCKED', {
      name,
      reasons: reasons.map((reason) => `task: ${reason}`),
    })
    assert.deepEqual(await everythingIn(host), before)
    assert.deepEqual([await list('next'), await rows()], [listed, tasks])
  })

  it('goes back to an older commit as to any other', async () => {
    const blocked = await promote(first)
    assert.deepEqual(blocked.body.data.reasons, ['task: status loses the value review, and 1 row has it'])
    const [{ id, revision }] = await rows({ status: 'review' })
    await host.ok('records/update', { name, record: 'task', id, revision, data: { status: 'done' } })
    const kept = await rows()
    const { status, body } = await promote(first)
    assert.deepEqual([status, body.migrations[2].kind], [200, 'migrate'])
    await assertListed('main', first, descriptorsOf(), descriptorsOf())
    assert.deepEqual(await rows(), kept)
    assert.equal((await rows({ assignee: 'grace', status: 'done' })).length, 1)
    const { payload } = (await host.events(name)).findLast(({ type }) => type === 'extension.promoted') ?? {}
    assert.deepEqual([payload?.before, payload?.after], [second, first])
  })
})
