import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { onEachDatabase, type Person, useApp } from '../testing/index.ts'
import { createBodies, type MakeBody } from './bodies.ts'
import * as lines from './line-store.ts'
import * as store from './store.ts'

onEachDatabase('bodies that modules make', (create) => {
  // Nothing is sent: what is due stays where it is.
  const app = useApp(create, { TRELLIS_WEBHOOK_CONCURRENCY: '0' })
  const name = 'made'
  let ada: Person
  let webhookId: string

  before(async () => {
    ada = await app.signUp('ada')
    await client().repos.create({ name })
    const on = { event: { types: ['repo.updated'] } }
    const hook = { name, webhook: 'ci', url: 'https://example.com/', on }
    webhookId = (await client().webhooks.create(hook)).id
    await setModule('sha256:1')
  })

  const client = () => app.client(ada.token)
  const setModule = (module_hash: string | null) =>
    app.database.transact((tx) => store.updateWebhook(tx, webhookId, { module_hash }))
  const find = async () => {
    const webhook = await store.findWebhookById(app.database.db, webhookId)
    const due = await lines.listDue(app.database.db, { webhookId, now: app.now(), limit: 10 })
    return { webhook: webhook ?? assert.fail(), due }
  }
  /** One more event, and what becomes of its delivery. */
  async function deliver(makeBody: MakeBody) {
    await client().webhooks.disable({ name, webhook: 'ci' })
    await client().webhooks.enable({ name, webhook: 'ci' })
    await client().repos.update({ name, readOnly: false })
    const bodies = createBodies({ database: app.database, clock: app.now, makeBody })
    const ensure = async () => {
      const { webhook, due } = await find()
      return bodies.ensure(webhook, due[0] ?? assert.fail(), new AbortController().signal)
    }
    const shown = async () =>
      (await client().webhooks.deliveries.list({ name, limit: 1 })).items[0] ?? assert.fail()
    return { ensure, shown }
  }
  async function assertCounted() {
    const { pending_bytes } = await app.database.db
      .selectFrom('webhook_lines')
      .select('pending_bytes')
      .executeTakeFirstOrThrow()
    const { due } = await find()
    assert.equal(
      pending_bytes,
      due.reduce((sum, { body }) => sum + lines.bytesOfDelivery(body), 0),
    )
  }

  it('are made once, and stored before anything is sent', async () => {
    const orders: Parameters<MakeBody>[0][] = []
    const { ensure, shown } = await deliver(async (order) => {
      orders.push(order)
      return { body: `made ${orders.length}` }
    })
    assert.deepEqual([(await shown()).requestBodyDigest, (await shown()).requestBodyTruncated], ['', ''])
    assert.equal((await ensure()).ready?.body, 'made 1')
    assert.equal((await shown()).requestBodyTruncated, 'made 1')
    assert.equal((await ensure()).ready?.body, 'made 1', 'the next attempt sends the same')
    assert.equal(orders.length, 1)
    const { moduleHash, event, webhook } = orders[0] ?? assert.fail()
    assert.deepEqual([moduleHash, webhook], ['sha256:1', { id: webhookId, name: 'ci' }])
    const { type, repo } = event as { type: string; repo: { name: string } }
    assert.deepEqual([type, repo.name], ['repo.updated', name])
    await assertCounted()
    await client().webhooks.disable({ name, webhook: 'ci' })
    const { id } = await shown()
    const again = await client().webhooks.redeliver({ name, deliveryId: id })
    assert.equal(again.requestBodyTruncated, 'made 1', 'and so does a redelivery')
  })

  it('are not sent when there are none, and it is said why', async () => {
    for (const [makeBody, reason] of [
      [async () => ({ dropped: 'TypeError: no' }), /^TypeError: no$/],
      [async () => ({ body: 'x'.repeat(1024 * 1024 + 1) }), /1048577 characters/],
    ] as [MakeBody, RegExp][]) {
      const { ensure, shown } = await deliver(makeBody)
      assert.deepEqual(await ensure(), {})
      const { status, attempt, responseBodyTruncated, nextAttemptAt } = await shown()
      assert.deepEqual([status, attempt, nextAttemptAt], ['dropped', 0, null])
      assert.match(responseBodyTruncated ?? '', reason)
      await assertCounted()
    }
  })

  it('are tried again when nobody could make them', async () => {
    let attempts = 0
    const { ensure, shown } = await deliver(async () =>
      ++attempts === 1 ? { pauseMs: 5 } : { body: 'later' },
    )
    assert.deepEqual(await ensure(), { pauseMs: 5 })
    assert.equal((await shown()).status, 'pending')
    await assertCounted()
    assert.equal((await ensure()).ready?.body, 'later')
  })

  it('are not kept for a delivery that was dropped meanwhile', async () => {
    const { ensure, shown } = await deliver(async () => {
      await client().webhooks.disable({ name, webhook: 'ci' })
      return { body: 'too late' }
    })
    assert.deepEqual(await ensure(), {})
    assert.equal((await shown()).requestBodyDigest, '')
    await assertCounted()
  })

  it('are the event itself when the webhook has no module any more', async () => {
    const { ensure } = await deliver(async () => assert.fail('there is nothing to run'))
    await setModule(null)
    assert.equal(JSON.parse((await ensure()).ready?.body ?? '').type, 'repo.updated')
  })
})
