import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readBytes } from './body.ts'

const LIMIT = { bytes: 10_000_000, scope: 'git_workspace_memory' } as const

describe('reading a body', () => {
  /** How long the server looks away before it reads: what arrives meanwhile is already there. */
  let delayMs = 0
  const server = createServer(async (incoming: IncomingMessage, response) => {
    await sleep(delayMs)
    const bytes = await readBytes(incoming, LIMIT)
    response.end(bytes)
  })
  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  after(() => server.close())

  function echo(body: Buffer): Promise<Buffer> {
    const { port } = server.address() as AddressInfo
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': body.length } },
        async (response) => resolve(Buffer.concat(await response.toArray())),
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  for (const ms of [0, 50])
    it(`gives all of it, whatever its size, when it is looked at after ${ms} ms`, async () => {
      delayMs = ms
      for (const size of [1, 1000, 16_384, 65_535, 65_536, 65_537, 112_842, 131_072, 200_000, 1_000_000]) {
        const body = Buffer.alloc(size, 'abcdefghijklmnopqrstuvwxyz')
        const returned = await echo(body)
        assert.equal(returned.length, size)
        assert.ok(returned.equals(body))
      }
    })

  it('goes on as long as it comes along, and no longer', async (t) => {
    const limit = { ...LIMIT, bytes: 60_000_000 }
    const arrived = Promise.withResolvers<IncomingMessage>()
    const slow = createServer((incoming) => arrived.resolve(incoming))
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    t.after(() => slow.close())
    const outgoing = request({
      port: (slow.address() as AddressInfo).port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { 'content-length': limit.bytes },
    })
    outgoing.on('error', () => undefined)
    outgoing.flushHeaders()
    const incoming = await arrived.promise
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const read = readBytes(incoming, limit)
    const chunk = Buffer.alloc(9 * 1024 * 1024)
    for (let i = 0; i < 3; i++) {
      let came = 0
      const all = new Promise<void>((resolve) =>
        incoming.on('data', ({ length }) => {
          came += length
          if (came >= chunk.length) resolve()
        }),
      )
      outgoing.write(chunk)
      await all
      t.mock.timers.tick(30_000)
    }
    outgoing.write('too little')
    t.mock.timers.tick(30_000)
    await assert.rejects(read, { code: 'BAD_REQUEST' })
    outgoing.destroy()
  })
})
