import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import type { NumberedEvent } from '@trellis/contract'
import { onEachDatabase, type Receiver, startReceiver } from '@trellis/server/testing'
import { type ServerProcess, startServer } from '../git/harness.ts'
import { afterwards } from './afterwards.ts'

const EVENTS = 200
const KILLS = 2
const WRITERS = 4
/** Between which of the kills the receiver comes back. */
const BACK_AFTER = 1

onEachDatabase('an outage', (create) => {
  it(`loses none of ${EVENTS} events while the receiver is down and the server is killed ${KILLS} times`, async (t) => {
    const undoing = afterwards(t)
    const database = await create()
    undoing(() => database.drop())
    const data = await mkdtemp(join(tmpdir(), 'trellis-outage-'))
    undoing(() => rm(data, { recursive: true, force: true }))
    const env = {
      TRELLIS_DATABASE_URL: database.url,
      TRELLIS_EGRESS_ALLOW: '127.0.0.1',
      TRELLIS_WEBHOOK_RETRY_SECONDS: Array(50).fill('2').join(),
      TRELLIS_WEBHOOK_LEASE_SECONDS: '2',
      TRELLIS_RATE_PER_SECOND: '100000',
      TRELLIS_LOG_LEVEL: 'error',
    }
    let receiver: Receiver | undefined
    const away = await startReceiver()
    const port = Number(new URL(away.url).port)
    await away.close()

    let server: ServerProcess = await startServer(data, env)
    let over = false
    undoing(async () => {
      over = true
      await server.kill()
      await receiver?.close()
    })
    await server.post('repos/create', { name: 'busy' })
    const made = await server.post('webhooks/create', {
      name: 'busy',
      webhook: 'ci',
      url: away.url,
      on: { event: { types: ['repo.updated'] } },
    })
    assert.equal(made.status, 200)

    let acknowledged = 0
    async function write(): Promise<void> {
      while (acknowledged < EVENTS && !over) {
        // In the middle of a kill nobody knows whether it happened: it is asked for again.
        const answer = await server
          .post('repos/update', { name: 'busy', readOnly: false })
          .catch(() => undefined)
        if (answer?.status === 200) acknowledged++
        else await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    const writing = Promise.all(Array.from({ length: WRITERS }, write))
    for (let kill = 1; kill <= KILLS; kill++) {
      while (acknowledged < (EVENTS * kill) / (KILLS + 1))
        await new Promise((resolve) => setTimeout(resolve, 5))
      await server.kill()
      if (kill === BACK_AFTER) receiver = await startReceiver(port)
      server = await startServer(data, env)
    }
    await writing
    assert.ok(receiver)

    const happened: NumberedEvent[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await server.post('events/list', {
        name: 'busy',
        types: ['repo.updated'],
        limit: 250,
        cursor,
      })
      const page = body as { items: NumberedEvent[]; nextCursor: string | null }
      happened.push(...page.items)
      cursor = page.nextCursor
    }
    assert.ok(happened.length >= EVENTS)
    await receiver.until(
      (all) => new Set(all.map(({ headers }) => headers['webhook-id'])).size >= happened.length,
    )

    const counts = new Map<string, number>()
    for (const { body } of receiver.received) {
      const { id } = JSON.parse(body)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    assert.deepEqual(
      happened.filter(({ id }) => !counts.has(id)),
      [],
      'lost',
    )
    assert.equal(counts.size, happened.length)
    assert.ok(Math.max(...counts.values()) <= 1 + KILLS, `one came ${Math.max(...counts.values())} times`)
    await server.stop()
  })
})
