import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPlaces } from '../../platform/places.ts'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import { DELIM_PACKET } from '../../testing/packets.ts'
import type { Oid } from '../names.ts'
import { createGit, openRepo } from '../process/command.ts'
import { dataPacket, FLUSH_PACKET, type Packet, ProtocolError, readPackets } from '../protocol/pkt-line.ts'
import { type FetchRequest, readUploadRequest } from '../protocol/upload-request.ts'
import { type CloneCache, createCloneCache, type Produce } from './cache.ts'
import { writeUploadPack } from './upload-pack.ts'
import type { WriteAnswer } from './written-spool.ts'

const dir = mkdtempSync(join(tmpdir(), 'written-spool-'))
let repo: TestRepo
let tip: Oid
before(() => {
  repo = createTestRepo()
  const first = repo.commit({ 'a.txt': 'a', 'big.bin': randomBytes(3_000_000).toString('base64') })
  tip = repo.commit({ 'b.txt': 'b' }, first)
  repo.git(['update-ref', 'refs/heads/main', tip])
})
after(() => {
  repo[Symbol.dispose]()
  rmSync(dir, { recursive: true })
})

const cloning =
  (...args: string[]): WriteAnswer =>
  async (file, signal) => {
    const lines = args.map((line) => dataPacket(`${line}\n`))
    const body = Buffer.concat([dataPacket('command=fetch\n'), DELIM_PACKET, ...lines, FLUSH_PACKET])
    const request = await readUploadRequest(streamOf([body]), { version: 2 })
    await writeUploadPack(repo.repo.with({ signal }), request as FetchRequest, file)
  }

const mustNotWrite: WriteAnswer = () => assert.fail('written again')
const noOther: Produce = () => assert.fail('there is room')
const other: Produce = () => streamOf([Buffer.from('other')])

const read = (cache: CloneCache, write: WriteAnswer, signal?: AbortSignal) =>
  cache.readWritten('key', { write, otherwise: noOther }, signal ? { signal } : {})

const bytesOf = async (answer: AsyncIterable<Buffer>) => Buffer.concat(await Array.fromAsync(answer))

/** The pack in an answer, which must end as it should, and what a client shows meanwhile. */
async function understand(answer: Buffer) {
  const packets: Packet[] = []
  const reader = readPackets(streamOf([answer]), 1e9)
  for (let packet = await reader.next(); packet; packet = await reader.next()) packets.push(packet)
  assert.deepEqual(packets.shift(), { kind: 'data', data: Buffer.from('packfile\n') })
  assert.deepEqual(packets.pop(), { kind: 'flush' })
  const band = (number: number) =>
    packets.flatMap((packet) =>
      packet.kind === 'data' && packet.data[0] === number ? [packet.data.subarray(1)] : [],
    )
  return { pack: Buffer.concat(band(1)), shown: Buffer.concat(band(2)).toString() }
}

/** The ids of the objects in a pack, which must be whole. */
function objectsIn(pack: Buffer): string[] {
  using fresh = createTestRepo()
  fresh.git(['index-pack', '--stdin', '--strict'], pack)
  return fresh.git(['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).split('\n').sort()
}

test('git writes an answer once, for all who ask at once or later', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  let written = 0
  const write: WriteAnswer = (file, signal) => {
    written++
    return cloning('ofs-delta', `want ${tip}`, 'done')(file, signal)
  }
  const together = await Promise.all(Array.from({ length: 5 }, () => bytesOf(read(cache, write))))
  assert.equal(written, 1)
  const [first] = together
  assert.ok(first)
  const { pack, shown } = await understand(first)
  const wanted = repo.git(['rev-list', '--objects', tip]).split('\n')
  assert.deepEqual(objectsIn(pack), wanted.map((line) => line.slice(0, 40)).sort())
  assert.match(shown, /Total 7/)
  for (const answer of together) assert.ok(answer.equals(first))
  assert.ok((await bytesOf(read(cache, mustNotWrite))).equals(first))
  assert.equal(cache.bytes, first.length)
})

test('readers get what there is while more is being written', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const more = Promise.withResolvers<void>()
  const content = randomBytes(1_000_000)
  const answer = read(cache, async ({ fd }) => {
    writeSync(fd, content.subarray(0, 700_000))
    await more.promise
    writeSync(fd, content.subarray(700_000))
  })
  const seen: Buffer[] = []
  // Also what does not fill a stretch, after a while.
  for (let size = 0; size < 700_000; size += seen.at(-1)?.length ?? 0) {
    const { value } = await answer.next()
    assert.ok(value)
    seen.push(Buffer.from(value))
  }
  more.resolve()
  for await (const chunk of answer) seen.push(Buffer.from(chunk))
  assert.ok(Buffer.concat(seen).equals(content))
})

test('what git refuses, and what breaks before the first byte, is only a failure', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const unknown = read(cache, cloning(`want ${'a'.repeat(40)}`, 'done'))
  await assert.rejects(
    unknown.next(),
    (error) => error instanceof ProtocolError && /not our ref a+/.test(error.message),
  )
  await assert.rejects(read(cache, cloning(`want ${tip}`, 'filter nonsense', 'done')).next(), ProtocolError)
  await assert.rejects(
    read(cache, async () => {
      throw new Error('no git')
    }).next(),
    /no git/,
  )
  assert.equal(cache.entries, 0)
})

test('what breaks after the first byte is no whole answer, and is not kept', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const breaking = read(cache, async ({ fd }) => {
    writeSync(fd, randomBytes(600_000))
    await sleep(50)
    throw new Error('the disk is full')
  })
  assert.ok((await breaking.next()).value)
  await assert.rejects(Array.fromAsync(breaking), /the disk is full/)
  assert.equal(cache.entries, 0)
  await understand(await bytesOf(read(cache, cloning(`want ${tip}`, 'done'))))
})

test('a refusal is no answer, however long git takes to end', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const answer = read(cache, async ({ fd }) => {
    writeSync(fd, dataPacket('ERR upload-pack: not our ref'))
    // Longer than readers wait for more.
    await sleep(700)
    throw new ProtocolError('not our ref')
  })
  await assert.rejects(answer.next(), ProtocolError)
})

test('git goes with its last reader, and not before', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const pool = createPlaces({ size: 2 })
  const binary = join(dir, 'endless')
  // Not so fast that it outgrows its place meanwhile.
  writeFileSync(binary, '#!/bin/sh\nwhile head -c 100000 /dev/zero; do sleep 0.02; done\n', { mode: 0o755 })
  const endless = openRepo(createGit({ binary, pool }), repo.gitDir)
  const write: WriteAnswer = ({ fd }, signal) =>
    endless
      .with({ signal })
      .run({ verb: 'upload-pack', into: fd, stdin: '' })
      .then(() => {})
  const left = new AbortController()
  const first = read(cache, write, left.signal)
  const second = read(cache, write)
  await first.next()
  await second.next()
  assert.equal(pool.running, 1)
  left.abort(new Error('the client left'))
  await assert.rejects(Array.fromAsync(first), /the client left/)
  assert.equal(pool.running, 1)
  await second.return()
  while (pool.running > 0) await sleep(5)
  assert.equal(cache.entries, 0)
})

test('an answer that outgrows its place ends, and so does its file', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 10_000_000, maxEntryBytes: 500_000 })
  t.after(() => cache.close())
  await assert.rejects(bytesOf(read(cache, cloning(`want ${tip}`, 'done'))), /larger than its place/)
  assert.equal(cache.entries, 0)
  while (cache.bytes > 0) await sleep(5)
  // From then on it is made the other way.
  const again = cache.readWritten('key', { write: mustNotWrite, otherwise: other })
  assert.equal((await bytesOf(again)).toString(), 'other')
})

test('without room to keep it the answer is made the other way', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 10_000_000, maxEntries: 0 })
  t.after(() => cache.close())
  const answer = cache.readWritten('key', { write: mustNotWrite, otherwise: other })
  assert.equal((await bytesOf(answer)).toString(), 'other')
})

async function* streamOf(chunks: Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  yield* chunks
}
