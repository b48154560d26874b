import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqlite, openSocket, readToEnd, startTestApp } from '../../testing/index.ts'
import { readBytes } from './body.ts'
import { boundConnections } from './connections.ts'
import { refuseSlowBodies } from './slow-bodies.ts'

const opened: Socket[] = []
const servers: Server[] = []
after(() => {
  for (const socket of opened) socket.destroy()
  for (const server of servers) server.close()
})

async function listening(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function dial(port: number, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  opened.push(socket)
  return socket.on('error', () => {})
}

/** What a server answers on a connection that has been idle so far; nothing if it was closed. */
async function isServed(socket: Socket): Promise<boolean> {
  if (socket.destroyed) return false
  const answered = once(socket, 'data').then(() => true)
  const closed = once(socket, 'close').then(() => false)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return Promise.race([answered, closed])
}

describe('connections that are held open', () => {
  async function bounded(limits: { total: number; perAddress: number }, exempt = '') {
    let refused = 0
    const server = createServer((_, response) => response.end('hello'))
    boundConnections(server, {
      limits,
      isExempt: (address) => address === exempt,
      onRefused: () => {
        refused += 1
      },
    })
    return { port: await listening(server), refused: () => refused }
  }

  async function openOne(port: number, from?: string): Promise<boolean> {
    const socket = dial(port, from)
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    return isServed(socket)
  }

  it('leave no more than so many to an address, and all others theirs', async () => {
    const { port, refused } = await bounded({ total: 100, perAddress: 3 })
    for (let n = 0; n < 3; n++) assert.equal(await openOne(port, '127.0.0.2'), true)
    for (let n = 0; n < 4; n++) assert.equal(await openOne(port, '127.0.0.2'), false)
    assert.equal(refused(), 4)
    assert.equal(await openOne(port, '127.0.0.3'), true)
    // One that is closed makes room.
    opened.find((socket) => socket.localAddress === '127.0.0.2' && !socket.destroyed)?.destroy()
    for (let tries = 0; !(await openOne(port, '127.0.0.2')); tries++) assert.ok(tries < 50)
  })

  it('are not counted for an address that speaks for many', async () => {
    const { port } = await bounded({ total: 100, perAddress: 1 }, '127.0.0.2')
    for (let n = 0; n < 5; n++) assert.equal(await openOne(port, '127.0.0.2'), true)
  })

  it('are no more than so many in all', async () => {
    const { port, refused } = await bounded({ total: 4, perAddress: 100 })
    for (let n = 0; n < 4; n++) assert.equal(await openOne(port, `127.0.0.${n + 2}`), true)
    assert.equal(await openOne(port, '127.0.0.9'), false)
    assert.equal(refused(), 1)
  })

  it('are bounded by the settings of a server, which counts those it refused', async () => {
    await using database = await createSqlite()
    await using app = await startTestApp(database, { TRELLIS_MAX_CONNECTIONS: '8' })
    const idle = Array.from({ length: 8 }, () => openSocket(app.url).on('error', () => {}))
    opened.push(...idle)
    await Promise.all(idle.map((socket) => once(socket, 'connect')))
    await sleep(50)
    assert.equal(await readToEnd(openSocket(app.url)), '')
    for (const socket of idle) socket.destroy()
    // It may take a moment until the server knows that they are gone, and refuses until then.
    let refused = 1
    let metrics: string | undefined
    while (metrics === undefined)
      try {
        metrics = await (await fetch(`${app.url}/metrics`)).text()
      } catch {
        refused += 1
      }
    assert.match(metrics, new RegExp(`trellis_connections_refused_total ${refused}\n`))
  })
})

describe('a body that arrives slowly', () => {
  const patienceMs = 400
  let readAfterMs = 0
  const server = createServer(async (request, response) => {
    await sleep(readAfterMs)
    const bytes = await readBytes(request, { bytes: 1e9, scope: 'git_workspace_memory' }).catch(
      () => undefined,
    )
    response.end(String(bytes?.length))
  })
  let port = 0
  before(async () => {
    port = await listening(server)
  })
  refuseSlowBodies(server, { bytesPerSecond: 100, patienceMs })

  const head = (length: number) =>
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`

  it('ends with the connection, when nothing comes and when it drips', async () => {
    for (const drip of ['', 'x']) {
      const socket = dial(port)
      socket.write(head(1000))
      const dripping = setInterval(() => socket.write(drip), 20)
      assert.equal(await readToEnd(socket), '')
      clearInterval(dripping)
    }
  })

  it('is taken when it keeps to the rate, however long it takes, and when it is the server that waits', async () => {
    const socket = dial(port)
    const parts = 15
    socket.write(head(parts * 200))
    for (let n = 0; n < parts; n++) {
      socket.write('x'.repeat(200))
      await sleep(100)
    }
    assert.match(await readToEnd(socket), /\r\n\r\n3000$/)

    readAfterMs = 3 * patienceMs
    const waiting = dial(port)
    waiting.write(head(1001) + 'x'.repeat(1000))
    setTimeout(() => waiting.write('x'), readAfterMs + 50)
    assert.match(await readToEnd(waiting), /\r\n\r\n1001$/)
  })
})
