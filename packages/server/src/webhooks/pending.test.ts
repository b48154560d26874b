import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import {
  answerWith,
  assertInvalid,
  onEachDatabase,
  type Person,
  useApp,
  useReceiver,
} from '../testing/index.ts'

onEachDatabase('what is pending for a webhook', (create) => {
  const app = useApp(create, {
    TRELLIS_EGRESS_ALLOW: '127.0.0.1',
    TRELLIS_WEBHOOK_MAX_PENDING_BYTES: '5000',
  })
  const receiver = useReceiver()
  const name = 'busy'
  let ada: Person

  before(async () => {
    ada = await app.signUp('ada')
    await client().repos.create({ name })
    const on = { event: { types: ['repo.updated'] } }
    await client().webhooks.create({ name, webhook: 'dead', url: receiver.url, on })
  })

  const client = () => app.client(ada.token)
  const update = () => client().repos.update({ name, readOnly: false })
  const list = async (status?: 'pending' | 'dropped') =>
    (await client().webhooks.deliveries.list({ name, ...(status && { status }) })).items
  const pendingBytes = async () => {
    const line = await app.database.db
      .selectFrom('webhook_lines')
      .select('pending_bytes')
      .executeTakeFirstOrThrow()
    const { bytes } = await app.database.db
      .selectFrom('webhook_deliveries')
      .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('bytes'), eb.lit(0)).as('bytes'))
      .where('status', '=', 'pending')
      .executeTakeFirstOrThrow()
    assert.equal(line.pending_bytes, Number(bytes))
    return line.pending_bytes
  }

  it('is bounded: what comes beyond that is dropped, said so, and counted', async () => {
    receiver.answer = answerWith(500)
    for (let i = 0; i < 10; i++) await update()
    const dropped = await list('dropped')
    const pending = await list('pending')
    assert.ok(pending.length >= 3 && pending.length + dropped.length === 10, `${pending.length} are pending`)
    assert.ok((await pendingBytes()) <= 5000)
    assert.match(dropped[0]?.error ?? '', /Too much was pending/)
    assert.deepEqual([dropped[0]?.attempt, dropped[0]?.nextAttemptAt], [0, null])
    // Nobody else heard of these, so their bodies are not kept.
    const { messages } = await app.database.db
      .selectFrom('webhook_messages')
      .select((eb) => eb.fn.countAll<number>().as('messages'))
      .executeTakeFirstOrThrow()
    assert.equal(Number(messages), pending.length)
    const input = { name, deliveryId: dropped[0]?.id }
    assertInvalid(await app.call('webhooks/redeliver', input, { token: ada.token }), ['deliveryId'])
    const metrics = await (await fetch(`${app.url}/metrics`)).text()
    assert.match(metrics, new RegExp(`^trellis_webhook_dropped_total ${dropped.length}$`, 'm'))
    assert.match(app.logged(), /dropped deliveries: too much is pending already/)
  })

  it('makes room again by being delivered, and by being dropped', async () => {
    await client().webhooks.disable({ name, webhook: 'dead' })
    assert.equal(await pendingBytes(), 0)
    await client().webhooks.enable({ name, webhook: 'dead' })
    receiver.answer = answerWith(200)
    for (let i = 0; i < 20; i++) {
      await update()
      while ((await list('pending')).length > 0) await setTimeout(5)
    }
    assert.equal((await list()).filter(({ status }) => status === 'success').length, 20)
    assert.equal(await pendingBytes(), 0)
  })
})
