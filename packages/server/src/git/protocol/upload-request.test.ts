import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startKeeping } from '../../testing/kept-bytes.ts'
import { DELIM_PACKET } from '../../testing/packets.ts'
import { countTurns } from '../../testing/turns.ts'
import { dataPacket, FLUSH_PACKET, ProtocolError } from './pkt-line.ts'
import { type FetchRequest, readUploadRequest } from './upload-request.ts'

async function* inChunks(bytes: Uint8Array, size = bytes.length > 10_000 ? 65536 : 11) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

function v2(
  command: string,
  args: string[],
  capabilities = ['agent=git/2.39.5', 'object-format=sha1'],
): Buffer {
  const head = [`command=${command}`, ...capabilities].map((line) => dataPacket(`${line}\n`))
  return Buffer.concat([...head, DELIM_PACKET, ...args.map((line) => dataPacket(`${line}\n`)), FLUSH_PACKET])
}

async function v2Fetch(args: string[], capabilities?: string[]): Promise<FetchRequest> {
  const request = await readUploadRequest(inChunks(v2('fetch', args, capabilities)), { version: 2 })
  assert.equal(request.kind, 'fetch')
  return request as FetchRequest
}

const oid = 'a'.repeat(40)
const other = 'b'.repeat(40)

test('understands ls-refs', async () => {
  const body = v2('ls-refs', ['peel', 'symrefs', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/'])
  assert.deepEqual(await readUploadRequest(inChunks(body), { version: 2 }), {
    kind: 'ls-refs',
    options: { peel: true, symrefs: true, unborn: false, prefixes: ['refs/heads/', 'refs/tags/'] },
  })
})

test('a lone flush or nothing at all asks for nothing', async () => {
  for (const version of [0, 1, 2] as const) {
    assert.deepEqual(await readUploadRequest(inChunks(FLUSH_PACKET), { version }), { kind: 'nothing' })
    assert.deepEqual(await readUploadRequest(inChunks(Buffer.alloc(0)), { version }), { kind: 'nothing' })
  }
})

test('tells a clone from a fetch that negotiates or names refs', async () => {
  const want = `want ${oid}`
  for (const args of [
    [want, 'done'],
    [want, 'filter blob:none', 'done'],
    [want, 'deepen 1', 'done'],
  ])
    assert.ok((await v2Fetch(args)).clone, args.join())
  const others = [
    [want],
    [want, `have ${other}`, 'done'],
    [want, `shallow ${other}`, 'done'],
    [want, 'deepen-not refs/heads/x', 'done'],
    [want, 'filter sparse:oid=main:x', 'done'],
    ['done'],
  ]
  for (const args of others) assert.equal((await v2Fetch(args)).clone, undefined, args.join())
})

test('equal clones have equal digests whoever sends them, and unequal ones have not', async () => {
  const digest = async (args: string[], capabilities?: string[]) =>
    (await v2Fetch(args, capabilities)).clone?.digest
  const wants = [`want ${oid}`, `want ${other}`]
  const first = await digest(['ofs-delta', ...wants, 'done'])
  const capabilities = ['agent=git/2.50', 'session-id=abc', 'object-format=sha1']
  assert.equal(await digest([...wants.toReversed(), 'ofs-delta', `want ${oid}`, 'done'], capabilities), first)
  assert.notEqual(await digest([...wants, 'done']), first)
  assert.notEqual(await digest([...wants, 'ofs-delta', 'deepen 3', 'done']), first)

  const v0 = async (words: string, version: 0 | 1 = 0) => {
    const lines = [dataPacket(`want ${oid} ${words}\n`), FLUSH_PACKET, dataPacket('done\n')]
    const request = await readUploadRequest(inChunks(Buffer.concat(lines)), { version })
    return (request as FetchRequest).clone?.digest
  }
  assert.equal(
    await v0('ofs-delta side-band-64k agent=git/1'),
    await v0('side-band-64k ofs-delta agent=git/2', 1),
  )
  assert.notEqual(await v0('ofs-delta'), await v0('side-band-64k'))
})

test('refuses what is malformed or too large', async () => {
  const refused = (body: Buffer, version: 0 | 1 | 2 = 2) =>
    assert.rejects(readUploadRequest(inChunks(body), { version }), ProtocolError)
  await refused(v2('delete-everything', []))
  await refused(v2('ls-refs', ['surprise']))
  await refused(v2('ls-refs', [], ['object-format=sha256']))
  await refused(v2('fetch', ['want me']))
  await refused(Buffer.from('0010command=fetch'))
  await refused(dataPacket(`want ${oid.slice(1)}\n`), 0)
  await refused(Buffer.from('0004'.repeat(300_000)))
  await refused(v2('fetch', Array(600).fill('x'.repeat(60_000))))
})

test('lets others in while it reads many lines, and keeps no answer to so many', async () => {
  const wants = Array.from({ length: 60_000 }, (_, i) => `want ${i.toString(16).padStart(40, '0')}`)
  const body = v2('fetch', [...wants, 'done'])
  using turns = countTurns()
  const request = await readUploadRequest(inChunks(body), { version: 2 })
  assert.ok(turns.count >= 20, `${turns.count} turns`)
  assert.ok(request.kind === 'fetch' && !request.clone)
  assert.deepEqual(request.body, body)
})

test('asks for all refs where it names very many', async () => {
  const prefixes = Array.from({ length: 60_000 }, (_, i) => `ref-prefix refs/heads/${i}`)
  assert.deepEqual(await readUploadRequest(inChunks(v2('ls-refs', ['peel', ...prefixes])), { version: 2 }), {
    kind: 'ls-refs',
    options: { peel: true, symrefs: false, unborn: false, prefixes: [] },
  })
})

test('takes hardly more memory than its bytes, however many lines they are', async () => {
  const haves = Array.from({ length: 240_000 }, (_, i) => `have ${i.toString(16).padStart(40, '0')}`)
  const body = v2('fetch', [`want ${oid}`, ...haves])
  const kept = startKeeping()
  let inHeap = 0
  const watched = async function* () {
    yield* inChunks(body)
    inHeap = kept()
  }
  // It goes on after the flush that version 2 ends with, so that all of it is still there when it is looked at.
  const request = await readUploadRequest(watched(), { version: 0 })
  assert.ok(request.kind === 'fetch')
  assert.deepEqual(request.body, body)
  assert.ok(inHeap < body.length, `${inHeap} bytes for ${body.length}`)
})

test('random requests give a request or a ProtocolError and nothing else', async () => {
  const lines = [
    'command=ls-refs',
    'command=fetch',
    `want ${oid}`,
    'want',
    'done',
    'peel',
    'ref-prefix ',
    '\0\n',
    '',
  ]
  const parts = [
    ...lines.map((line) => dataPacket(line)),
    FLUSH_PACKET,
    DELIM_PACKET,
    Buffer.from('0002'),
    randomBytes(5),
  ]
  for (let round = 0; round < 1500; round++) {
    const chosen = Array.from(
      { length: round % 9 },
      () => parts[Math.floor(Math.random() * parts.length)] as Buffer,
    )
    const version = (round % 3) as 0 | 1 | 2
    await readUploadRequest(inChunks(Buffer.concat(chosen), 1 + (round % 20)), { version }).catch(
      (error: unknown) => assert.ok(error instanceof ProtocolError, String(error)),
    )
  }
})
