import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { answerWith, onEachDatabase, type Person, plansOf, useApp, useReceiver } from '../testing/index.ts'
import { listDeliveries } from './store.ts'

const DAY_MS = 86_400_000

onEachDatabase('upkeep of webhooks', (create) => {
  const app = useApp(create, { TRELLIS_EGRESS_ALLOW: '127.0.0.1' })
  const receiver = useReceiver()
  let ada: Person

  before(async () => {
    ada = await app.signUp('ada')
  })

  const client = () => app.client(ada.token)
  const count = async (table: 'webhooks' | 'webhook_deliveries' | 'webhook_messages') => {
    const { rows } = await app.database.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    return Number(rows)
  }
  async function hooked(name: string): Promise<void> {
    await client().repos.create({ name })
    const on = { event: { types: ['repo.*'] } }
    await client().webhooks.create({ name, webhook: 'ci', url: receiver.url, on })
  }
  async function whenTried(name: string): Promise<void> {
    for (;;) {
      const { items } = await client().webhooks.deliveries.list({ name })
      if (items.length > 0 && items.every(({ attempt }) => attempt > 0)) return
    }
  }
  const metric = async (name: string) => {
    const text = await (await fetch(`${app.url}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const prune = () => app.background.run('webhook pruning')

  it('removes deliveries that ended long ago and their bodies, never what is pending', async () => {
    await hooked('old')
    await client().repos.update({ name: 'old', readOnly: false })
    await whenTried('old')
    receiver.answer = answerWith(500)
    await client().repos.update({ name: 'old', readOnly: false })
    await whenTried('old')
    await prune()
    assert.deepEqual([await count('webhook_deliveries'), await count('webhook_messages')], [2, 2])

    const pending = await client().webhooks.deliveries.list({ name: 'old', status: 'pending' })
    await app.database.transact((tx) =>
      // Kept from being tried, so that it stays as it is.
      tx
        .updateTable('webhook_deliveries')
        .set({ due_at: app.now() + 100 * DAY_MS })
        .where('status', '=', 'pending')
        .execute(),
    )
    app.pass(31 * DAY_MS)
    await prune()
    const left = await client().webhooks.deliveries.list({ name: 'old' })
    assert.deepEqual(
      left.items.map(({ id }) => id),
      pending.items.map(({ id }) => id),
    )
    assert.equal(await count('webhook_messages'), 1)
    await client().webhooks.disable({ name: 'old', webhook: 'ci' })
    await prune()
    assert.deepEqual([await count('webhook_deliveries'), await count('webhook_messages')], [0, 0])
  })

  it('finds the deliveries of a rare status in an index', async () => {
    const plans = await plansOf(app.database, async (db) => {
      await listDeliveries(db, { repoId: 'r', status: 'failed', limit: 50 })
      await listDeliveries(db, { repoId: 'r', webhookId: 'w', status: 'failed', before: 'x', limit: 50 })
      await listDeliveries(db, { repoId: 'r', limit: 50 })
    })
    assert.equal(plans.length, 6)
    for (const plan of plans) {
      assert.match(plan, /webhook_deliveries_(repo|webhook)/)
      assert.doesNotMatch(plan, /sort|temp b-tree/i)
    }
  })

  it('removes the webhooks of a deleted repository only when they have heard of it', async () => {
    await hooked('doomed')
    receiver.answer = answerWith(500)
    await client().repos.delete({ name: 'doomed' })
    const before = await count('webhooks')
    await prune()
    assert.equal(await count('webhooks'), before)
    receiver.answer = answerWith(200)
    app.pass(6_000)
    const { received } = receiver
    await receiver.until(() => JSON.parse(received.at(-1)?.body ?? '{}').type === 'repo.deleted')
    for (; (await count('webhooks')) === before; await setTimeout(20)) await prune()
    assert.equal(await count('webhooks'), before - 1)
  })

  it('tells how much waits, how long, and how attempts ended', async () => {
    await hooked('watched')
    receiver.answer = answerWith(500)
    const retries = await metric('trellis_webhook_attempts_total\\{outcome="retry"\\}')
    await client().repos.update({ name: 'watched', readOnly: false })
    await whenTried('watched')
    assert.equal(await metric('trellis_webhook_backlog'), 1)
    assert.ok((await metric('trellis_webhook_backlog_oldest_seconds')) >= 0)
    assert.ok((await metric('trellis_webhook_attempts_total\\{outcome="retry"\\}')) > retries)
    receiver.answer = answerWith(410)
    await client().repos.update({ name: 'watched', readOnly: false })
    while ((await client().webhooks.get({ name: 'watched', webhook: 'ci' })).active);
    assert.equal(await metric('trellis_webhook_backlog'), 0)
    assert.equal(await metric('trellis_webhook_backlog_oldest_seconds'), 0)
    assert.equal(await metric('trellis_webhooks_given_up_total\\{reason="gone"\\}'), 1)
  })
})
