import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase, type Receiver, startReceiver, startTestApp } from '@trellis/server/testing'

const EVENTS = 20
/** More webhooks at one receiver than that receiver gets places. */
const HOOKS_EACH = 12

const hang: Receiver['answer'] = () => {}
const drip: Receiver['answer'] = (response) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), 50)
  response.on('close', () => clearInterval(timer))
}

onEachDatabase('a receiver that hangs and one that drips', (create) => {
  it('delay nobody else: all is delivered elsewhere before the first attempt with them has ended', async () => {
    await using database = await create()
    await using hanging = await startReceiver()
    await using dripping = await startReceiver()
    await using healthy = await startReceiver()
    const receivers = { hanging, dripping, healthy }
    receivers.hanging.answer = hang
    receivers.dripping.answer = drip
    await using app = await startTestApp(database, {
      TRELLIS_EGRESS_ALLOW: '127.0.0.1',
      TRELLIS_WEBHOOK_CONCURRENCY: '16',
      TRELLIS_WEBHOOK_TIMEOUT_SECONDS: '60',
      TRELLIS_SHUTDOWN_SECONDS: '0',
    })
    const { token } = await app.signUp('ada')
    const client = app.client(token)
    await client.repos.create({ name: 'busy' })
    const on = { event: { types: ['repo.updated'] } }
    for (const [name, { url }] of Object.entries(receivers))
      for (let i = 0; i < (name === 'healthy' ? 1 : HOOKS_EACH); i++)
        await client.webhooks.create({ name: 'busy', webhook: `${name}-${i}`, url, on })

    for (let i = 0; i < EVENTS; i++) {
      await client.repos.update({ name: 'busy', readOnly: false })
      // Each before the next happens: nothing waits for anybody else.
      await receivers.healthy.until(({ length }) => length === i + 1)
    }
    const { items } = await client.webhooks.deliveries.list({ name: 'busy', status: 'success' })
    assert.ok(items.every(({ webhookName }) => webhookName === 'healthy-0'))
    for (const slow of ['hanging-0', 'dripping-0']) {
      const first = await client.webhooks.deliveries.list({ name: 'busy', webhook: slow, limit: EVENTS })
      assert.ok(first.items.every(({ attempt, status }) => attempt === 0 && status === 'pending'))
    }
    assert.ok(receivers.hanging.received.length <= HOOKS_EACH)
  })

  it('fail when their time is over, however many bytes have come', async () => {
    await using database = await create()
    await using receiver = await startReceiver()
    await using app = await startTestApp(database, {
      TRELLIS_EGRESS_ALLOW: '127.0.0.1',
      TRELLIS_WEBHOOK_TIMEOUT_SECONDS: '1',
      TRELLIS_WEBHOOK_RETRY_SECONDS: '0',
    })
    const { token } = await app.signUp('ada')
    const client = app.client(token)
    await client.repos.create({ name: 'slow' })
    const on = { event: { types: ['repo.updated'] } }
    await client.webhooks.create({ name: 'slow', webhook: 'ci', url: receiver.url, on })
    for (const answer of [hang, drip]) {
      receiver.answer = answer
      await client.repos.update({ name: 'slow', readOnly: false })
      const seen = receiver.received.length
      await receiver.until(({ length }) => length >= seen + 2)
    }
    for (let open = true; open; ) {
      const { items } = await client.webhooks.deliveries.list({ name: 'slow' })
      open = items.length < 2 || items.some(({ status }) => status === 'pending')
      if (!open)
        assert.deepEqual(
          items.map(({ status, responseStatus, error, attempt }) => [status, responseStatus, error, attempt]),
          Array(2).fill(['failed', null, 'no complete answer within 1 s', 2]),
        )
    }
    // An endless answer that comes fast is cut off, and what it said first counts.
    receiver.answer = (response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    await client.repos.update({ name: 'slow', readOnly: false })
    for (let open = true; open; ) {
      const [last] = (await client.webhooks.deliveries.list({ name: 'slow', limit: 1 })).items
      open = last?.status === 'pending'
      if (!open) assert.deepEqual([last?.status, last?.responseBodyTruncated?.length], ['success', 4096])
    }
  })
})
