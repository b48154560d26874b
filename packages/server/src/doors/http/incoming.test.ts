import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../testing/history.ts'
import { GatheringMessage } from './incoming.ts'
import { parseInTurns } from './parsing.ts'

describe('a body in chunks', () => {
  let pieces: number[] = []
  const server = createServer({ IncomingMessage: GatheringMessage }, async (incoming, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of incoming as IncomingMessage) chunks.push(chunk)
      pieces = chunks.map(({ length }) => length)
      response.end(Buffer.concat(chunks))
    } catch {
      response.destroy()
    }
  })
  parseInTurns(server)
  const port = () => (server.address() as AddressInfo).port
  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  after(() => server.close())

  function echo(chunks: readonly Buffer[], pause?: () => Promise<unknown>): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ port: port(), host: '127.0.0.1', method: 'POST' }, async (response) =>
        resolve(Buffer.concat(await response.toArray())),
      )
      outgoing.on('error', reject)
      const send = async () => {
        for (const chunk of chunks) {
          outgoing.write(chunk)
          await pause?.()
        }
        outgoing.end()
      }
      send().catch(reject)
    })
  }

  const chunkOf = (length: number, i: number) => Buffer.alloc(length, `${i % 10}`)

  it('is given as it was sent, whatever their sizes and whenever they come', async () => {
    const random = createRandom(7)
    for (let round = 0; round < 20; round++) {
      const chunks = Array.from({ length: 1 + random(200) }, (_, i) =>
        chunkOf(1 + (random(10) === 0 ? random(40_000) : random(2_000)), i),
      )
      const pause = random(3) === 0 ? () => sleep(random(3)) : undefined
      assert.ok((await echo(chunks, pause)).equals(Buffer.concat(chunks)))
    }
  })

  it('comes in few pieces where the chunks are small', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => Buffer.from(`{"line":${i}}\n`))
    assert.ok((await echo(lines)).equals(Buffer.concat(lines)))
    assert.ok(pieces.length < 1_000, `${pieces.length}`)
  })

  it('is whole, however much has come at once on however many connections', async () => {
    const chunks = 5_000
    const sockets = Array.from({ length: 40 }, () => connect(port(), '127.0.0.1'))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const answers = sockets.map(async (socket) => {
      let heard = ''
      socket.write(
        `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'8\r\naaaaaaaa\r\n'.repeat(chunks)}0\r\n\r\n`,
      )
      for await (const data of socket) {
        heard += data
        if (heard.includes('\r\n\r\n')) break
      }
      return heard
    })
    for (const heard of await Promise.all(answers))
      assert.match(heard, new RegExp(`content-length: ${8 * chunks}`, 'i'))
  })

  it('goes on in the same way on a connection that is kept, with requests of all kinds', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (chunks: readonly string[], headers: Record<string, string> = {}) =>
      new Promise<string>((resolve, reject) => {
        const outgoing = request(
          { port: port(), host: '127.0.0.1', method: 'POST', agent, headers },
          async (response) => resolve(Buffer.concat(await response.toArray()).toString()),
        )
        outgoing.on('error', reject)
        for (const chunk of chunks) outgoing.write(chunk)
        outgoing.end()
      })
    for (let i = 0; i < 5; i++) {
      assert.equal(await ask(['whole'], { 'content-length': '5' }), 'whole')
      const parts = Array.from({ length: 3_000 }, (_, part) => `part ${part};`)
      assert.equal(await ask(parts), parts.join(''))
      assert.equal(await ask(['x'.repeat(100_000)], { 'content-length': '100000' }), 'x'.repeat(100_000))
    }
    agent.destroy()
  })

  it('is hung up on when there is next to nothing in them', async () => {
    const socket = connect(port(), '127.0.0.1')
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    let heard = ''
    socket.on('error', () => undefined).on('data', (data) => (heard += data))
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(50_000)}0\r\n\r\n`,
    )
    await closed
    assert.equal(heard, '')
  })
})
