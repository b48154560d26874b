// Webhooks that live in the repository: they come, change, go and come back with what is promoted.

import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { before, it } from 'node:test'
import {
  answerWith,
  assertInvalid,
  onEachDatabase,
  type Received,
  useReceiver,
} from '@trellis/server/testing'
import { Webhook } from 'standardwebhooks'
import { type Client, type RefEvent, until, useHost } from '../git/harness.ts'

interface Shown {
  name: string
  id: string
  status: string
  active: boolean
}

const assertSigned = (secret: string, received: Received | undefined): unknown =>
  new Webhook(secret.replace(/^webhsec_/, '')).verify(
    received?.body ?? '',
    received?.headers as Record<string, string>,
  )

onEachDatabase('declared webhooks', (create) => {
  const host = useHost(create, { TRELLIS_EGRESS_ALLOW: '127.0.0.1', TRELLIS_BUNDLE_CACHE_BYTES: '1' })
  const receiver = useReceiver()
  let client: Client
  const name = 'tools'
  const promote = (input: object = {}) => host.call('extensions/promote', { name, ...input })
  const hooks = async (): Promise<Shown[]> => (await host.ok('webhooks/list', { name })).items
  const hook = (webhook = 'ci') => host.ok('webhooks/get', { name, webhook })
  const deliveries = async (status?: string) =>
    (await host.ok('webhooks/deliveries/list', { name, webhook: 'ci', ...(status && { status }) })).items
  const secretOf = (webhook: string) => host.ok('webhooks/secret', { name, webhook })
  const push = async (files: Record<string, string | null>, branch = 'main') => {
    const oid = await client.commit(files)
    await client.run('push', '-q', '-f', host.remote(name), `HEAD:${branch}`)
    return oid
  }
  const declared = (webhook: string, more: object = {}) => ({
    [`webhooks/${webhook}/webhook.json`]: JSON.stringify({
      url: `${receiver.url}/${webhook}`,
      on: { event: { types: ['repo.updated'] } },
      ...more,
    }),
  })
  /** What `work` puts into the log. */
  const eventsOf = async (work: () => Promise<unknown>): Promise<RefEvent[]> => {
    const last = (await host.events(name)).at(-1)?.seq ?? 0
    await work()
    return host.events(name, last)
  }
  const promoted = (ref = 'main') => eventsOf(async () => assert.equal((await promote({ ref })).status, 200))
  const told = (events: RefEvent[]) => events.map(({ type, subject }) => `${type} ${subject}`)
  const PROMOTED = 'extension.promoted refs/trellis/canonical'
  const received = async (count: number) => {
    await until(`${count} deliveries have come`, () => receiver.received.length >= count)
    return receiver.received
  }
  const WITHOUT = Object.fromEntries(
    ['json', 'late', 'large', 'wrong'].map((webhook) => [`webhooks/${webhook}/webhook.json`, null]),
  )
  const happen = () => host.ok('repos/update', { name, readOnly: false })

  before(async () => {
    await host.repo(name)
    client = host.client()
    await client.run('init', '-q')
  })

  it('come with a promotion, and not before', async () => {
    await push(declared('ci'))
    assert.deepEqual((await host.ok('extensions/list', { name })).errors, [])
    const events = await eventsOf(async () => assert.equal((await promote({ dryRun: true })).status, 200))
    assert.deepEqual([events, await hooks()], [[], []])

    const [promotion, ...rest] = await promoted()
    assert.deepEqual(told(rest), ['webhook.created ci'])
    assert.deepEqual(promotion?.payload.webhooks, { added: ['ci'], changed: [], removed: [] })
    const { id, secretPrefix, createdAt, updatedAt, repoId, ...shown } = await hook()
    assert.deepEqual(shown, {
      name: 'ci',
      url: `${receiver.url}/ci`,
      on: { event: { types: ['repo.updated'] } },
      contentType: 'application/json',
      hasPayload: false,
      moduleHash: null,
      active: true,
      status: 'active',
    })
    await happen()
    const [first] = await received(1)
    // Nobody has seen the secret so far: it is given as it is, once.
    const { secret, ...more } = await secretOf('ci')
    assert.deepEqual([more, secret.startsWith(secretPrefix)], [{}, true])
    assertSigned(secret, first)
    assert.equal((await secretOf('ci')).previousSecret, secret)
  })

  it('are left alone by a promotion that does not change them', async () => {
    const before = await hook()
    await push({ 'README.md': 'more\n' })
    assert.deepEqual(told(await promoted()), [PROMOTED])
    assert.deepEqual(await hook(), before)
  })

  it('change with what is promoted, and keep who they are', async () => {
    const before = await hook()
    const contentType = 'application/vnd.acme+json'
    await push(declared('ci', { url: `${receiver.url}/moved#here`, contentType }), 'moved')
    assert.deepEqual(await hook(), before)
    const events = await promoted('moved')
    assert.deepEqual(told(events), [PROMOTED, 'webhook.updated ci'])
    assert.deepEqual(events[0]?.payload.webhooks, { added: [], changed: ['ci'], removed: [] })
    const { updatedAt, ...after } = await hook()
    assert.deepEqual(
      { ...after, updatedAt: before.updatedAt },
      { ...before, url: `${receiver.url}/moved`, contentType },
    )
    receiver.received.length = 0
    await happen()
    const [first] = await received(1)
    assert.deepEqual([first?.path, first?.headers['content-type']], ['/moved', contentType])
    assert.equal((await deliveries()).length, 2)
  })

  it('are changed and deleted in the repository alone, and stopped by anybody who may', async () => {
    const byName = { name, webhook: 'ci' }
    assertInvalid(await host.call('webhooks/update', { ...byName, on: {} }), ['webhook'])
    const refused = await host.call('webhooks/delete', byName)
    assertInvalid(refused, ['webhook'])
    assert.match(refused.body.data.issues[0].message, /declares this in webhooks\/ci\/webhook\.json/)
    assertInvalid(await host.call('webhooks/create', { ...byName, url: receiver.url }), ['webhook'])
    await host.ok('webhooks/disable', byName)
    await push(declared('ci'))
    await promoted()
    const { active, status } = await hook()
    assert.deepEqual([active, status], [false, 'active'], 'a promotion does not start what somebody stopped')
    await host.ok('webhooks/enable', byName)
  })

  it('keep the modules that make their bodies, and come with none that does not build', async () => {
    await push({
      ...declared('ci', { payload: 'body.ts' }),
      'webhooks/ci/body.ts': 'export default () => 1\n',
    })
    await promoted()
    const { hasPayload, moduleHash } = await hook()
    assert.deepEqual([hasPayload, /^sha256:[0-9a-f]{64}$/.test(moduleHash)], [true, true])
    const bundles = join(host.app.data, 'bundles')
    const stored = async () =>
      (await readdir(bundles, { recursive: true })).filter((file) => file.endsWith('.js'))
    for (const file of await stored()) await utimes(join(bundles, file), 1, 1)
    await host.app.background.run('old builds')
    const hex = moduleHash.slice('sha256:'.length)
    assert.deepEqual(await stored(), [join(hex.slice(0, 2), `${hex}.js`)])

    await push({ 'webhooks/ci/body.ts': 'import "node:fs"\nexport default 1\n' }, 'broken')
    const failed = await promote({ ref: 'broken' })
    assert.equal(failed.body.code, 'EXTENSION_BUILD_FAILED')
    assert.match(failed.body.data.message, /webhooks\/ci\/body\.ts:1:8/)
    await push({ ...declared('ci'), 'webhooks/ci/body.ts': null })
    await promoted()
  })

  it('have their bodies made by a module, or send nothing', async () => {
    const module = (webhook: string, code: string) => ({
      ...declared(webhook, { payload: 'body.ts', contentType: 'text/plain' }),
      [`webhooks/${webhook}/body.ts`]: code,
    })
    await push(
      {
        ...module('ci', "export default (event: { type: string }, ctx: object) => 'It is ' + event.type\n"),
        ...module('json', 'export default async ({ repo, seq }) => ({ repo: repo.name, seq })\n'),
        ...module('late', 'export default () => new Promise((done) => setTimeout(done, 60_000))\n'),
        ...module('large', "export default () => 'x'.repeat(1024 * 1024 + 1)\n"),
        ...module('wrong', "\n\nexport default () => { throw new RangeError('too far') }\n"),
      },
      'made',
    )
    receiver.received.length = 0
    receiver.answer = answerWith(500)
    await promoted('made')
    await happen()
    await received(2)
    const sent = (path: string) => receiver.received.filter((one) => one.path === path)
    const [first] = sent('/ci')
    assert.deepEqual([first?.body, first?.headers['content-type']], ['It is repo.updated', 'text/plain'])
    assertSigned((await secretOf('json')).secret, sent('/json')[0])
    assert.deepEqual(Object.keys(JSON.parse(sent('/json')[0]?.body ?? '')), ['repo', 'seq'])

    // Each attempt sends what was made for the first, whatever became of the module meanwhile.
    await push({ 'webhooks/ci/body.ts': "export default () => 'other'\n" }, 'made-anew')
    await promoted('made-anew')
    receiver.answer = answerWith(200)
    host.app.pass(10_000)
    await until('it has come again', () => sent('/ci').length === 2)
    assert.equal(sent('/ci')[1]?.body, 'It is repo.updated')
    assert.equal((await deliveries())[0].requestBodyTruncated, 'It is repo.updated')

    const ended = async (webhook: string) =>
      (await host.ok('webhooks/deliveries/list', { name, webhook })).items[0]
    for (const [webhook, reason] of [
      ['late', /longer than 5 s/],
      ['large', /1048577 characters/],
      ['wrong', /RangeError: too far[\s\S]*webhooks\/wrong\/body\.ts:3/],
    ] as const) {
      await until(`${webhook} has ended`, async () => (await ended(webhook)).status !== 'pending')
      const { status, attempt, requestBodyDigest, responseBodyTruncated } = await ended(webhook)
      assert.deepEqual([status, attempt, requestBodyDigest], ['dropped', 0, ''])
      assert.match(responseBodyTruncated, reason)
    }
    // What is asked for again is made by what is in force then; and built again when it is not there.
    await push({ 'webhooks/wrong/body.ts': "export default () => 'mended'\n" }, 'mended')
    await promoted('mended')
    await rm(join(host.app.data, 'bundles'), { recursive: true })
    await host.ok('webhooks/redeliver', { name, deliveryId: (await ended('wrong')).id })
    await until('it has come', () => sent('/wrong').length === 1)
    assert.equal(sent('/wrong')[0]?.body, 'mended')
    for (const path of ['/late', '/large']) assert.deepEqual(sent(path), [])
    await push({ ...declared('ci'), ...WITHOUT })
    await promoted()
  })

  it('are orphaned when they are not declared any more, and come back as they were', async () => {
    const { id, secretPrefix } = await hook()
    const { secret } = await secretOf('ci')
    receiver.answer = answerWith(500)
    receiver.received.length = 0
    await happen()
    await received(1)
    await push({ 'webhooks/ci/webhook.json': null }, 'without')
    const events = await promoted('without')
    assert.deepEqual(told(events), [PROMOTED, 'webhook.orphaned ci'])
    assert.deepEqual(events[0]?.payload.webhooks, { added: [], changed: [], removed: ['ci'] })
    const orphan = await hook()
    assert.deepEqual([orphan.status, orphan.id], ['orphaned', id])
    const [dropped] = await deliveries()
    assert.deepEqual([dropped.status, dropped.nextAttemptAt], ['dropped', null])
    assert.match(dropped.error, /does not declare this/)
    await happen()
    const again = await host.ok('webhooks/redeliver', { name, deliveryId: dropped.id })
    assert.equal(again.status, 'dropped')
    assert.deepEqual([(await deliveries('pending')).length, receiver.received.length], [0, 1])
    // As if somebody had asked for it in the moment of the promotion.
    await host.app.database.transact(async (tx) => {
      const now = host.app.now()
      const pending = { status: 'pending' as const, due_at: now }
      await tx.updateTable('webhook_deliveries').set(pending).where('id', '=', again.id).execute()
      await tx.updateTable('webhook_lines').set({ next_due_at: now }).where('webhook_id', '=', id).execute()
    })
    await until('it is dropped', async () => (await deliveries('pending')).length === 0)
    assert.equal(receiver.received.length, 1)

    receiver.answer = answerWith(200)
    const back = await promoted()
    assert.deepEqual(told(back), [PROMOTED, 'webhook.updated ci'])
    assert.deepEqual(back[0]?.payload.webhooks.added, ['ci'])
    const returned = await hook()
    assert.deepEqual([returned.status, returned.id, returned.active], ['active', id, true])
    assert.notEqual(returned.secretPrefix, secretPrefix)
    await happen()
    const second = (await received(2))[1]
    assertSigned(secret, second)
  })

  it('may be promoted away while something is on its way to them', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    receiver.received.length = 0
    receiver.answer = (response) => void released.then(() => response.writeHead(200).end())
    await happen()
    await received(1)
    // Not before: what is read together with the first may still go out for a second.
    await happen()
    await promoted('without')
    release()
    const ended = await deliveries()
    assert.deepEqual(
      ended.slice(0, 2).map(({ status }: { status: string }) => status),
      ['dropped', 'dropped'],
    )
    // The line is given back, and what was not on its way stays here.
    const { id } = await hook()
    const line = () =>
      host.app.database.db
        .selectFrom('webhook_lines')
        .select(['worker_id', 'pending_bytes', 'next_due_at'])
        .where('webhook_id', '=', id)
        .executeTakeFirstOrThrow()
    await until('nobody works at the line', async () => (await line()).worker_id === null)
    assert.deepEqual(await line(), { worker_id: null, pending_bytes: 0, next_due_at: null })
    assert.equal(receiver.received.length, 1)
    receiver.answer = answerWith(200)
    await promoted()
  })

  it('do not take the place of one that somebody made', async () => {
    await host.ok('webhooks/create', { name, webhook: 'mine', url: receiver.url, on: { push: {} } })
    await push({ ...declared('mine'), ...declared('other'), ...declared('ci', { on: {} }) }, 'taken')
    const before = [await host.refs(name), await hooks()]
    for (const dryRun of [true, false]) {
      const { status, body } = await promote({ ref: 'taken', dryRun })
      assert.deepEqual([status, body.code, body.data.extension], [422, 'EXTENSION_INVALID', undefined])
      assert.match(body.data.reason, /^webhooks\/mine\/webhook\.json: .*webhooks\/create/)
    }
    assert.deepEqual([await host.refs(name), await hooks()], before)

    // Whoever comes first has the name.
    await host.ok('webhooks/delete', { name, webhook: 'mine' })
    const input = { name, webhook: 'other', url: receiver.url, on: { push: {} } }
    const [made, taken] = await Promise.all([host.call('webhooks/create', input), promote({ ref: 'taken' })])
    assert.deepEqual(
      [made.status, taken.status].toSorted(),
      made.status === 200 ? [200, 422] : [200, 400],
      JSON.stringify([made.body, taken.body]),
    )
    if (made.status === 200) await host.ok('webhooks/delete', { name, webhook: 'other' })
  })

  it('are what they were after a promotion that was refused', async () => {
    await push({ ...declared('ci'), 'webhooks/mine/webhook.json': null, 'webhooks/other/webhook.json': null })
    await promoted()
    const before = [await host.refs(name), await hooks()]
    const inside = { url: 'http://169.254.169.254/latest' }
    await push({ ...declared('ci', inside), ...declared('new') }, 'refused')
    // Nothing is wrong with the file as such: another server may be allowed to.
    assert.deepEqual((await host.ok('extensions/list', { name, ref: 'refused' })).errors, [])
    for (const dryRun of [true, false]) {
      const { body } = await promote({ ref: 'refused', dryRun })
      assert.equal(body.code, 'EXTENSION_INVALID')
      assert.match(body.data.reason, /^webhooks\/ci\/webhook\.json#\/url: 169\.254\.169\.254 is not a public/)
    }
    const record = { name: 'task', fields: { title: { type: 'string' } } }
    const extension = (fields: object) => ({
      'extensions/t/extension.json': JSON.stringify({
        version: 1,
        name: 't',
        record: { ...record, fields: { ...record.fields, ...fields } },
      }),
      'extensions/t/index.ts': 'export default () => 1\n',
    })
    await push({ ...declared('ci'), 'webhooks/new/webhook.json': null, ...extension({}) })
    await promoted()
    await host.ok('records/create', { name, record: 'task', data: { title: 'one' } })
    const refs = await host.refs(name)
    const needed = { needed: { type: 'string', required: true } }
    await push({ ...declared('new'), ...extension(needed), 'webhooks/ci/webhook.json': null }, 'blocked')
    assert.equal((await promote({ ref: 'blocked' })).body.code, 'RECORD_MIGRATION_BLOCKED')
    assert.deepEqual(await hooks(), before[1])
    assert.equal((await host.refs(name))['refs/trellis/canonical'], refs['refs/trellis/canonical'])
  })

  it('are not those of a fork until they are promoted there', async () => {
    await host.ok('repos/fork', { name, newName: 'forked' })
    const inFork = async () => (await host.ok('webhooks/list', { name: 'forked' })).items
    assert.deepEqual(await inFork(), [])
    await host.ok('extensions/promote', { name: 'forked' })
    const own = await hooks()
    const [copied] = await inFork()
    assert.equal(copied.name, 'ci')
    assert.ok(own.every(({ id }) => id !== copied.id))
    assert.notEqual((await host.ok('webhooks/secret', { name: 'forked', webhook: 'ci' })).secret, '')
  })

  it('that are hostile are told apart, and the others listed', async () => {
    await client.run('checkout', '-q', '--orphan', 'hostile')
    await client.run('rm', '-rfq', '.')
    const url = 'https://example.com/'
    await client.commit({
      'webhooks/huge/webhook.json': JSON.stringify({ url, $schema: 'x'.repeat(70_000) }),
      'webhooks/deep/webhook.json': `{"url": "${url}", "on": ${'['.repeat(9000)}${']'.repeat(9000)}}`,
      'webhooks/proto/webhook.json': `{"url": "${url}", "__proto__": {"payload": "a.ts"}}`,
      'webhooks/built/webhook.json': `{"url": "${url}", "constructor": {}, "on": {"toString": 1}}`,
      'webhooks/secret/webhook.json': '{"url": "https://me:pw@example.com/", "contentType": "text/html"}',
      'webhooks/outside/webhook.json': `{"url": "${url}", "payload": "../../lib/a.ts"}`,
      'webhooks/.hidden/webhook.json': `{"url": "${url}"}`,
      'webhooks/real/webhook.json': `{"url": "${url}"}`,
      'webhooks/linked/README.md': '',
    })
    symlinkSync('../real/webhook.json', join(client.dir, 'webhooks/linked/webhook.json'))
    symlinkSync('real', join(client.dir, 'webhooks/alias'))
    await client.run('add', '-A')
    const commit = await client.rev('HEAD')
    await client.run('update-index', '--add', '--cacheinfo', `160000,${commit},webhooks/module`)
    await client.run('commit', '-qm', 'links')
    await client.run('push', '-q', host.remote(name), 'HEAD:hostile')
    const { errors } = await host.ok('extensions/list', { name, ref: 'hostile' })
    assert.deepEqual(errors.map(({ path }: { path: string }) => path).toSorted(), [
      'webhooks/.hidden',
      'webhooks/alias',
      'webhooks/built/webhook.json#/constructor',
      'webhooks/built/webhook.json#/on/toString',
      `webhooks/deep/webhook.json#/on${'/0'.repeat(63)}`,
      'webhooks/huge/webhook.json',
      'webhooks/linked/webhook.json',
      'webhooks/module',
      'webhooks/outside/webhook.json#/payload',
      'webhooks/proto/webhook.json#/__proto__',
      'webhooks/secret/webhook.json#/contentType',
      'webhooks/secret/webhook.json#/url',
    ])
    assert.equal((await promote({ ref: 'hostile' })).body.code, 'EXTENSION_INVALID')
  })

  it('are 64 at most, and so many of those that went are remembered', async () => {
    const many = async (prefix: string, count: number) => {
      await client.run('checkout', '-q', '--orphan', prefix)
      await client.run('rm', '-rfq', '.')
      const names = Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(2, '0')}`)
      await push(Object.assign({}, ...names.map((each) => declared(each))), prefix)
    }
    await many('a', 65)
    const tooMany = await promote({ ref: 'a' })
    assert.match(tooMany.body.data.reason, /^webhooks\/a64\/webhook\.json: A repository has up to 64/)
    for (const prefix of ['b', 'c']) {
      await many(prefix, 64)
      await promoted(prefix)
    }
    await promoted('without')
    const left = await hooks()
    assert.deepEqual([left.length, left.filter(({ status }) => status === 'orphaned').length], [50, 50])
    const { total } = await host.app.database.db
      .selectFrom('webhooks')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('removed_at', 'is', null)
      .where('repo_id', '=', await host.repoId(name))
      .executeTakeFirstOrThrow()
    assert.equal(Number(total), 64)
    const [orphan] = left
    assert.deepEqual(await host.ok('webhooks/delete', { name, webhook: orphan?.name }), { deleted: true })
  })
})
