import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertFault, assertInvalid, createSqlite, startReceiver, useApp } from '@trellis/server/testing'

const DISGUISES = [
  'http://127.0.0.1/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://0x7f.0.0.0x1/',
  'http://127.0.0.1.:8787/',
  'http://0/',
  'http://0.0.0.0/',
  'http://１２７.０.０.１/',
  'http://127。0。0。1/',
  'http://[::1]/',
  'http://[::]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[0:0:0:0:0:ffff:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.100.100.200/latest/meta-data/',
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://168.63.129.16/',
  'http://192.0.0.192/',
  'https://127.0.0.1/',
]

describe('addresses that are not public', () => {
  const app = useApp(createSqlite)
  let token: string

  before(async () => {
    token = (await app.signUp('ada')).token
    await app.client(token).repos.create({ name: 'inside' })
    await app.client(token).webhooks.create({ name: 'inside', webhook: 'ok', url: 'https://192.0.1.1/' })
  })

  for (const url of DISGUISES)
    it(`are refused as ${url}, at creation and when it is changed`, async () => {
      const input = { name: 'inside', webhook: 'bad', url }
      assertInvalid(await app.call('webhooks/create', input, { token }), ['url'])
      assertInvalid(await app.call('webhooks/update', { ...input, webhook: 'ok' }, { token }), ['url'])
    })

  it('are refused again when a connection is made, though nobody refused them before', async () => {
    const receiver = await startReceiver()
    const client = app.client(token)
    await client.repos.create({ name: 'rebound' })
    const on = { event: { types: ['repo.updated'] } }
    const hook = await client.webhooks.create({
      name: 'rebound',
      webhook: 'ci',
      url: 'https://192.0.1.1/',
      on,
    })
    const { port } = new URL(receiver.url)
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433']) {
      await app.database.transact((tx) =>
        tx
          .updateTable('webhooks')
          .set({ url: `http://${host}:${port}/` })
          .where('id', '=', hook.id)
          .execute(),
      )
      await client.repos.update({ name: 'rebound', readOnly: false })
      for (let open = true; open; ) {
        const [last] = (await client.webhooks.deliveries.list({ name: 'rebound', limit: 1 })).items
        open = last?.attempt === 0
        if (!open) assert.equal(last?.error, 'the address is not a public one')
      }
    }
    assert.deepEqual(receiver.received, [])
    await receiver.close()
  })
})

describe('webhooks that are switched off', () => {
  const app = useApp(createSqlite, { TRELLIS_WEBHOOKS: 'off' })

  it('answer that they are not available, and nothing is kept for later', async () => {
    const { token } = await app.signUp('ada')
    await app.client(token).repos.create({ name: 'quiet' })
    const byName = { name: 'quiet', webhook: 'ci' }
    const byId = { name: 'quiet', deliveryId: '01900000-0000-7000-8000-000000000000' }
    for (const [operation, input] of Object.entries({
      create: { ...byName, url: 'https://example.com/' },
      list: { name: 'quiet' },
      get: byName,
      update: byName,
      enable: byName,
      disable: byName,
      delete: byName,
      secret: byName,
      redeliver: byId,
      'deliveries/list': { name: 'quiet' },
      'deliveries/get': byId,
    }))
      assertFault(await app.call(`webhooks/${operation}`, input, { token }), 'FEATURE_UNAVAILABLE', {
        feature: 'webhooks',
      })
  })

  it('still follow what repositories declare', async () => {
    const { token } = await app.signUp('ben')
    const { repos, git, extensions } = app.client(token)
    const name = 'declared'
    await repos.create({ name })
    const content = JSON.stringify({ url: 'https://192.0.1.1/' })
    const changes = [{ op: 'put' as const, path: 'webhooks/ci/webhook.json', content }]
    await git.commits.create({ name, branch: 'main', message: 'Declare', changes })
    await extensions.promote({ name })
    const kept = await app.database.db.selectFrom('webhooks').select(['name', 'status']).execute()
    assert.deepEqual(kept, [{ name: 'ci', status: 'active' }])
    assert.deepEqual(await app.database.db.selectFrom('webhook_deliveries').selectAll().execute(), [])
  })
})
