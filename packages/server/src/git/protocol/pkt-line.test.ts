import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DELIM_PACKET } from '../../testing/packets.ts'
import {
  dataPacket,
  FLUSH_PACKET,
  type Packet,
  ProtocolError,
  packetText,
  readPackets,
  sideband,
} from './pkt-line.ts'

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

async function readAll(bytes: Uint8Array, size = 7, maxBytes = 1 << 20): Promise<Packet[]> {
  const reader = readPackets(inChunks(bytes, size), maxBytes)
  const packets: Packet[] = []
  for (let packet = await reader.next(); packet; packet = await reader.next()) packets.push(packet)
  return packets
}

test('reads back every kind of packet whatever the chunks are', async () => {
  const long = Buffer.alloc(65516, 'x')
  const wire = Buffer.concat([
    dataPacket('want\n'),
    DELIM_PACKET,
    dataPacket(long),
    Buffer.from('0004'),
    Buffer.from('0002'),
    FLUSH_PACKET,
  ])
  for (const size of [1, 3, 4096, wire.length]) {
    const packets = await readAll(wire, size)
    assert.deepEqual(
      packets.map((packet) => packet.kind),
      ['data', 'delim', 'data', 'data', 'response-end', 'flush'],
    )
    assert.deepEqual(packets[2], { kind: 'data', data: long })
  }
})

test('strips one newline from the text of a packet', () => {
  assert.equal(packetText(Buffer.from('done\n')), 'done')
  assert.equal(packetText(Buffer.from('done')), 'done')
  assert.equal(packetText(Buffer.alloc(0)), '')
})

test('refuses lengths that are no lengths, and input that ends inside a packet', async () => {
  for (const wire of ['zzzz', '0003', 'fff1', '00', '0010abc', '-001', '+0x4', ' 004']) {
    await assert.rejects(readAll(Buffer.from(wire)), ProtocolError, wire)
  }
})

test('refuses more packets than the bound allows, even empty ones', async () => {
  await assert.rejects(readAll(Buffer.from('0000'.repeat(100)), 64, 100), ProtocolError)
  await assert.rejects(readAll(dataPacket('x'.repeat(200)), 64, 100), ProtocolError)
})

test('hands over what follows the packets untouched', async () => {
  const tail = Buffer.from('PACK and some more bytes')
  for (const size of [1, 5, 1000]) {
    const reader = readPackets(inChunks(Buffer.concat([dataPacket('a'), FLUSH_PACKET, tail]), size), 1000)
    await reader.next()
    await reader.next()
    const rest: Buffer[] = []
    for await (const chunk of reader.rest()) rest.push(chunk)
    assert.deepEqual(Buffer.concat(rest), tail)
  }
})

test('splits a side band into packets that every client takes', async () => {
  const payload = Buffer.alloc(200_000, 'y')
  const packets = await readAll(Buffer.concat([...sideband('data', payload)]), 9999)
  const parts = packets.map((packet) => (packet.kind === 'data' ? packet.data : Buffer.alloc(0)))
  assert.deepEqual(
    parts.map((part) => part.length - 1),
    [65515, 65515, 65515, 3455],
  )
  assert.ok(parts.every((part) => part[0] === 1))
  assert.deepEqual(Buffer.concat(parts.map((part) => part.subarray(1))), payload)
})

test('random bytes give packets or a ProtocolError and nothing else', async () => {
  const digits = '0123456789abcdef\n\0 gx'
  for (let round = 0; round < 2000; round++) {
    const length = Math.floor(Math.random() * 64)
    const text = Array.from({ length }, () => digits[Math.floor(Math.random() * digits.length)]).join('')
    await readAll(Buffer.from(text, 'latin1'), 1 + (round % 9), 4096).catch((error: unknown) => {
      assert.ok(error instanceof ProtocolError, `${error} for ${JSON.stringify(text)}`)
    })
  }
})
