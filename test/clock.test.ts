import assert from 'node:assert/strict'
import { mkdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onEachDatabase, type Person, useApp, useReceiver } from '@trellis/server/testing'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

onEachDatabase('a clock that is set', (create) => {
  const app = useApp(create, {
    TRELLIS_EGRESS_ALLOW: '127.0.0.1',
    TRELLIS_RATE_PER_SECOND: '1',
    TRELLIS_RATE_BURST: '50',
  })
  const receiver = useReceiver()
  let ada: Person

  before(async () => {
    ada = await app.signUp('ada')
    await app.client(ada.token).repos.create({ name: 'busy' })
    const on = { event: { types: ['repo.updated'] } }
    await app.client(ada.token).webhooks.create({ name: 'busy', webhook: 'ci', url: receiver.url, on })
  })

  let turned = 0
  const setClock = (byMs: number) => {
    turned += byMs
    app.setClock(byMs)
  }
  afterEach(() => setClock(-turned))

  const list = async (token: string | undefined) => (await app.call('repos/list', {}, { token })).status
  const update = () => app.client(ada.token).repos.update({ name: 'busy', readOnly: false })
  /** Has something happen, and waits until the receiver has heard of it. */
  async function deliver(): Promise<void> {
    const { length } = receiver.received
    app.pass(60_000)
    await update()
    await receiver.until((received) => received.length > length)
  }

  for (const [title, byMs] of [
    ['back by a day', -DAY_MS],
    ['forth by a day', DAY_MS],
  ] as const)
    it(`${title} locks nobody out, and limits hold and recover`, async () => {
      app.pass(HOUR_MS)
      const { secret } = await app.client(app.ownerKey).keys.create({ name: title })
      for (const token of [secret, ada.token]) {
        assert.equal(await list(token), 200)
        setClock(byMs)
        assert.equal(await list(token), 200)
        let answered = 0
        while ((await list(token)) === 200) assert.ok(answered++ < 100, 'the limit does not hold')
        assert.ok(answered >= 45, `after ${answered} the limit was reached`)
        app.pass(1_000)
        assert.equal(await list(token), 200)
        setClock(-byMs)
      }
    })

  it('back by a day has deliveries go on, also those put into line before', async () => {
    await deliver()
    const { length } = receiver.received
    // In line, and not yet sent when the clock is set: the line is in the hands of one who died over it.
    await app.database.transact((tx) =>
      tx
        .insertInto('workers')
        .values({ id: 'dead', alive_until: app.now() + 15_000 })
        .execute(),
    )
    await app.database.transact((tx) => tx.updateTable('webhook_lines').set({ worker_id: 'dead' }).execute())
    await update()
    setClock(-DAY_MS)
    await app.background.run('misdated deliveries')
    await receiver.until((received) => received.length > length)
    await deliver()
    const seqs = receiver.received.map(({ body }) => JSON.parse(body).seq)
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    )
    const workers = await app.database.db.selectFrom('workers').select('alive_until').execute()
    const living = workers.filter(({ alive_until }) => alive_until > app.now())
    assert.ok(living.some(({ alive_until }) => alive_until <= app.now() + 15_000))
  })

  /** Whether what failed is in line again, and in nobody's hands. */
  async function isWaiting(): Promise<boolean> {
    const line = app.database.db.selectFrom('webhook_lines').select(['worker_id', 'next_due_at'])
    const { worker_id, next_due_at } = await line.executeTakeFirstOrThrow()
    return worker_id === null && next_due_at !== null && next_due_at > app.now()
  }

  it('back by a day leaves a retry no later than it was to be', async () => {
    app.pass(60_000)
    receiver.answer = (response) => response.writeHead(500).end()
    const { length } = receiver.received
    await update()
    await receiver.until((received) => received.length > length)
    while (!(await isWaiting())) await sleep(5)
    receiver.answer = (response) => response.writeHead(200).end()
    setClock(-DAY_MS)
    await app.background.run('misdated deliveries')
    await receiver.until((received) => received.length > length + 1)
  })

  it('forth by a day has deliveries go on, and nothing is lost should it be set back', async () => {
    app.pass(HOUR_MS)
    const anonymous = await app.call('invites/createAnonymous', { name: 'fleeting' })
    assert.equal(anonymous.status, 200, JSON.stringify(anonymous.body))
    // Of another process over the same directory, which says that it lives every minute.
    const alive = join(app.data, 'scratch', 'of-another')
    await mkdir(alive)
    const seconds = app.now() / 1000
    await utimes(alive, seconds, seconds)
    const count = async () => (await app.database.db.selectFrom('repos').select('id').execute()).length
    const before = await count()

    setClock(DAY_MS)
    await app.expire()
    for (const work of ['abandoned scratch', 'unlisted packs', 'webhook pruning'])
      await app.background.run(work)
    await deliver()
    setClock(-DAY_MS)
    assert.equal(await count(), before)
    await mkdir(join(alive, 'still-there'))
    await deliver()
  })
})
