import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, it } from 'node:test'
import { createUntakenAnswers } from './untaken.ts'

const BYTES = 16 * 1024 * 1024
const sockets: Socket[] = []
let cut = 0
const untaken = createUntakenAnswers({ maxBytes: 2.5 * BYTES, onCut: () => cut++ })
const server = createServer((_request, response) => {
  untaken.note(response, BYTES)
  response.end(Buffer.alloc(BYTES))
})

before(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')))
after(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

/** Asks, and takes nothing of the answer but its beginning. */
async function ask(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await once(socket, 'readable')
  return socket
}

async function takeAll(socket: Socket): Promise<number> {
  let taken = 0
  socket.on('data', (chunk) => {
    taken += chunk.length
  })
  if (!socket.closed) await once(socket, 'close')
  return taken
}

it('large answers that are left lying cost no more than so much memory, and whoever came first loses', async () => {
  const [first, second, third] = [await ask(), await ask(), await ask()]
  assert.equal(cut, 1)
  assert.ok((await takeAll(first)) < BYTES)
  assert.ok((await takeAll(second)) > BYTES)
  assert.ok((await takeAll(third)) > BYTES)
  // What was taken makes room.
  const [fourth, fifth] = [await ask(), await ask()]
  assert.equal(cut, 1)
  assert.ok((await takeAll(fourth)) > BYTES)
  assert.ok((await takeAll(fifth)) > BYTES)
})
