import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { onEachDatabase, startReceiver } from '@trellis/server/testing'
import { type ServerProcess, startServer } from '../git/harness.ts'
import { afterwards } from './afterwards.ts'

const RECEIVERS = 8
const EVENTS = 40
const ANSWER_AFTER_MS = 40

async function successes({ url }: ServerProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/trellis_webhook_attempts_total\{outcome="success"\} (\d+)/.exec(text)?.[1] ?? 0)
}

onEachDatabase('two processes', (create) => {
  it('share the work, keep the order of each webhook, and one takes over what the other leaves', async (t) => {
    const undoing = afterwards(t)
    const database = await create()
    undoing(() => database.drop())
    const data = await mkdtemp(join(tmpdir(), 'trellis-processes-'))
    undoing(() => rm(data, { recursive: true, force: true }))
    const env = {
      TRELLIS_DATABASE_URL: database.url,
      TRELLIS_EGRESS_ALLOW: '127.0.0.1',
      TRELLIS_WEBHOOK_CONCURRENCY: '2',
      TRELLIS_WEBHOOK_TIMEOUT_SECONDS: '2',
      TRELLIS_WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1',
      TRELLIS_WEBHOOK_LEASE_SECONDS: '2',
      TRELLIS_LOG_LEVEL: 'error',
    }
    const one = await startServer(data, env)
    undoing(() => one.kill())
    const two = await startServer(data, env)
    undoing(() => two.kill())
    const receivers = await Promise.all(Array.from({ length: RECEIVERS }, () => startReceiver()))
    for (const receiver of receivers) undoing(() => receiver.close())
    for (const receiver of receivers)
      receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), ANSWER_AFTER_MS)

    await one.post('repos/create', { name: 'shared' })
    for (const [i, { url }] of receivers.entries()) {
      const on = { event: { types: ['repo.updated'] } }
      const { status } = await one.post('webhooks/create', { name: 'shared', webhook: `hook-${i}`, url, on })
      assert.equal(status, 200)
    }
    for (let i = 0; i < EVENTS; i++) await one.post('repos/update', { name: 'shared', readOnly: false })
    const numbers = (got: { body: string }[]) => new Set(got.map(({ body }) => JSON.parse(body).seq))
    await Promise.all(receivers.map((receiver) => receiver.until((got) => numbers(got).size >= EVENTS)))

    for (const { received } of receivers) {
      // One that was not answered in time comes once more.
      const seqs = [...numbers(received)]
      assert.deepEqual(
        seqs,
        Array.from({ length: EVENTS }, (_, i) => seqs[0] + i),
      )
    }
    for (const server of [one, two]) assert.ok((await successes(server)) > 0, 'one process did everything')

    // Killed with deliveries in its hands.
    for (const receiver of receivers) receiver.answer = () => {}
    await one.post('repos/update', { name: 'shared', readOnly: false })
    await receivers[0]?.until(() => receivers.some(({ received }) => numbers(received).size > EVENTS))
    await one.kill()
    for (const receiver of receivers) receiver.answer = (response) => response.writeHead(204).end()
    for (let i = 0; i < 3; i++) await two.post('repos/update', { name: 'shared', readOnly: false })
    await Promise.all(receivers.map((receiver) => receiver.until((got) => numbers(got).size === EVENTS + 4)))
    await two.stop()
  })
})
