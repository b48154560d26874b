// One tenant's load does not stop another's.

import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { pushHostileExtensions } from '../extensions/hostile-extensions.ts'
import { createBystander, type Slowdown } from './bystander.ts'
import { createClient, createSandbox, pushBody, type ServerProcess, startServer } from './harness.ts'

const sandbox = createSandbox()
after(() => sandbox.remove())

/** How fast is for `npm run bench` to say. Here: an attack is not waited for. */
function assertServed({ served, longestGet }: Slowdown): void {
  for (const [name, count] of Object.entries(served)) assert.ok(count > 0, `${name} waited for the attack`)
  assert.ok(
    longestGet < 0.5,
    `one repos/get took ${Math.round(longestGet * 100)} % of the time of the attack`,
  )
}

async function withServer(work: (server: ServerProcess) => Promise<void>): Promise<void> {
  const server = await startServer(sandbox.path('data'), {
    TRELLIS_LOG_LEVEL: 'error',
    TRELLIS_EGRESS_ALLOW: '127.0.0.1',
    TRELLIS_WEBHOOK_CONCURRENCY: '0',
  })
  try {
    await work(server)
  } finally {
    await server.stop()
  }
}

describe('somebody else is served', { timeout: 900_000 }, () => {
  it('while 3,000 refs are pushed to 50 webhooks, again and again', () =>
    withServer(async (server) => {
      await server.post('repos/create', { name: 'attacked' })
      const client = createClient(sandbox.path('attacker'), { token: server.key })
      await client.run('init', '-q')
      const oid = await client.commit({ a: 'a\n' })
      await client.run('push', '-q', server.remote('attacked'), 'main')
      for (let i = 0; i < 50; i++) {
        const url = `http://127.0.0.1:9/${i}`
        const made = await server.post('webhooks/create', { name: 'attacked', webhook: `hook-${i}`, url })
        assert.equal(made.status, 200)
      }
      const push = async (turn: number) => {
        const commands = Array.from({ length: 3_000 }, (_, i) => ({
          ref: `refs/heads/${turn}/b${i}`,
          after: oid,
        }))
        const response = await fetch(`${server.remote('attacked')}/git-receive-pack`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${server.key}`,
            'content-type': 'application/x-git-receive-pack-request',
          },
          body: pushBody(commands),
        })
        assert.match(await response.text(), /unpack ok/)
      }
      const bystander = await createBystander(server, sandbox)
      assertServed(await bystander.during(push))
    }))

  it('while extensions are listed that are made to take long', () =>
    withServer(async (server) => {
      const name = 'attacked'
      await server.post('repos/create', { name })
      const client = createClient(sandbox.path('attacker'), { token: server.key })
      await client.run('init', '-q')
      const bystander = await createBystander(server, sandbox)
      const slowdown = await bystander.during(async (turn) => {
        await pushHostileExtensions(client, server.remote(name), { turn, part: 0.1 })
        const { status } = await server.post('extensions/list', { name, ref: `hostile-${turn}` })
        assert.equal(status, 200)
      })
      assertServed(slowdown)
    }))

  it('while bodies of 50 MB are sent, honest ones and hostile ones', () =>
    withServer(async (server) => {
      await server.post('repos/create', { name: 'attacked' })
      const content = Buffer.alloc(36 * 1024 * 1024, 'noise').toString('base64')
      const changes = [{ op: 'put', path: 'large', content, encoding: 'base64' }]
      const honest = JSON.stringify({ name: 'attacked', branch: 'main', message: 'large', changes })
      const hostile = `[${'{},'.repeat(16 * 1024 * 1024)}{}]`
      const send = async (body: string) => {
        const response = await fetch(`${server.url}/api/v1/git/commits/create`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${server.key}` },
          body,
        })
        await response.arrayBuffer()
        return response.status
      }
      const bystander = await createBystander(server, sandbox)
      const slowdown = await bystander.during(async () => {
        assert.deepEqual(await Promise.all([send(honest), send(hostile)]), [200, 400])
      })
      assertServed(slowdown)
    }))
})
