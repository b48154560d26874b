import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import type { Oid } from '../names.ts'
import { createGit, GitError, openRepo } from '../process/command.ts'
import { createProcessPool } from '../process/pool.ts'
import { type Packet, readPackets } from '../protocol/pkt-line.ts'
import type { PlainClone } from '../protocol/upload-request.ts'
import { type CloneCache, createCloneCache, type Produce } from './cache.ts'
import type { WritePack } from './pack-spool.ts'
import { writePlainClone } from './plain-clone.ts'

const dir = mkdtempSync(join(tmpdir(), 'plain-clone-'))
let repo: TestRepo
let tip: Oid
before(() => {
  repo = createTestRepo()
  const first = repo.commit({ 'a.txt': 'a', 'big.bin': randomBytes(3_000_000).toString('base64') })
  tip = repo.commit({ 'b.txt': 'b' }, first)
  repo.git(['update-ref', 'refs/heads/main', tip])
  repo.git(['tag', '-a', '-m', 'A tag', 'v1', tip])
})
after(() => {
  repo[Symbol.dispose]()
  rmSync(dir, { recursive: true })
})

const wanting = (wanted: Partial<PlainClone> = {}): PlainClone => ({
  wants: [tip],
  thin: true,
  ofsDelta: true,
  includeTag: false,
  progress: false,
  ...wanted,
})

const writing =
  (clone: PlainClone): WritePack =>
  (to, signal) =>
    writePlainClone(repo.repo.with({ signal }), clone, to)

const mustNotWrite: WritePack = () => assert.fail('written again')
const otherwise: Produce = () => assert.fail('there is room')

const read = (cache: CloneCache, write: WritePack, signal?: AbortSignal) =>
  cache.readPack('key', { write, otherwise }, signal)

/** What a client makes of an answer: the pack, what it shows, and that the answer ends as it should. */
async function understand(answer: AsyncIterable<Buffer>) {
  const packets: Packet[] = []
  const reader = readPackets(answer, 1e9)
  for (let packet = await reader.next(); packet; packet = await reader.next()) packets.push(packet)
  const [first, ...others] = packets
  assert.deepEqual(first, { kind: 'data', data: Buffer.from('packfile\n') })
  assert.deepEqual(others.pop(), { kind: 'flush' })
  const band = (number: number) =>
    others.flatMap((packet) =>
      packet.kind === 'data' && packet.data[0] === number ? [packet.data.subarray(1)] : [],
    )
  assert.equal(band(1).length + band(2).length, others.length)
  return { pack: Buffer.concat(band(1)), shown: Buffer.concat(band(2)).toString() }
}

/** The ids of the objects in a pack, which must be whole. */
function objectsIn(pack: Buffer): string[] {
  using fresh = createTestRepo()
  fresh.git(['index-pack', '--stdin', '--strict'], pack)
  return fresh.git(['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).split('\n').sort()
}

test('answers with a whole pack of what is wanted, for all who ask at once or later', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  let written = 0
  const write: WritePack = (to, signal) => {
    written++
    return writing(wanting())(to, signal)
  }
  const together = await Promise.all(Array.from({ length: 5 }, () => understand(read(cache, write))))
  assert.equal(written, 1)
  const [first] = together
  assert.ok(first)
  const wanted = repo.git(['rev-list', '--objects', tip]).split('\n')
  assert.deepEqual(objectsIn(first.pack), wanted.map((line) => line.slice(0, 40)).sort())
  assert.equal(first.shown, '')
  for (const { pack } of together) assert.ok(pack.equals(first.pack))
  assert.ok((await understand(read(cache, mustNotWrite))).pack.equals(first.pack))
  assert.equal(cache.bytes, first.pack.length)
})

test('brings the tags that belong to it, and says how far it is, when it is asked to', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const { pack, shown } = await understand(
    read(cache, writing(wanting({ includeTag: true, progress: true }))),
  )
  assert.ok(objectsIn(pack).includes(repo.git(['rev-parse', 'refs/tags/v1'])))
  assert.match(shown, /Enumerating objects/)
  assert.match(shown, /Total 8/)
})

test('readers get what there is while more is being written', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const more = Promise.withResolvers<void>()
  const content = randomBytes(1_000_000)
  const answer = read(cache, async ({ fd, tell }) => {
    tell(Buffer.from('Counting'))
    writeSync(fd, content.subarray(0, 700_000))
    await more.promise
    writeSync(fd, content.subarray(700_000))
  })
  const seen: Buffer[] = []
  let size = 0
  // All but what does not fill a stretch.
  while (size < 500_000) {
    const { value } = await answer.next()
    assert.ok(value)
    seen.push(value)
    size += value.length
  }
  more.resolve()
  for await (const chunk of answer) seen.push(chunk)
  const { pack, shown } = await understand(arrayOf(seen))
  assert.equal(pack.length, content.length)
  assert.ok(pack.equals(content))
  assert.equal(shown, 'Counting')
})

test('a client that waits for long sees that somebody is still at work', { timeout: 20_000 }, async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const heard = Promise.withResolvers<void>()
  const answer = read(cache, async ({ fd }) => {
    await heard.promise
    writeSync(fd, 'PACK')
  })
  const first = await answer.next()
  assert.ok(first.value)
  heard.resolve()
  const others = await Array.fromAsync(answer)
  assert.equal((await understand(arrayOf([first.value, ...others]))).pack.toString(), 'PACK')
})

test('a failure before the first byte is only a failure, and one after it is no whole answer', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const missing = read(cache, writing(wanting({ wants: ['a'.repeat(40) as Oid] })))
  await assert.rejects(missing.next(), GitError)
  assert.equal(cache.entries, 0)

  const breaking = read(cache, async ({ fd }) => {
    writeSync(fd, randomBytes(600_000))
    await sleep(50)
    throw new Error('the disk is full')
  })
  assert.ok((await breaking.next()).value)
  await assert.rejects(Array.fromAsync(breaking), /the disk is full/)
  assert.equal(cache.entries, 0)
  assert.ok((await understand(read(cache, writing(wanting())))).pack.length > 0)
})

test('git goes with its last reader, and not before', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => cache.close())
  const pool = createProcessPool({ size: 2 })
  const binary = join(dir, 'endless')
  writeFileSync(binary, '#!/bin/sh\nexec yes\n', { mode: 0o755 })
  const endless = openRepo(createGit({ binary, pool }), repo.gitDir)
  const write: WritePack = ({ fd }, signal) =>
    endless
      .with({ signal })
      .run({ verb: 'pack-objects', into: fd, stdin: '' })
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

test('a pack that outgrows its place ends, and so does its file', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 10_000_000, maxEntryBytes: 500_000 })
  t.after(() => cache.close())
  await assert.rejects(Array.fromAsync(read(cache, writing(wanting()))), /larger than its place/)
  assert.equal(cache.entries, 0)
  while (cache.bytes > 0) await sleep(5)
  // From then on it is made the other way.
  const again = cache.readPack('key', {
    write: mustNotWrite,
    otherwise: async function* () {
      yield Buffer.from('other')
    },
  })
  assert.equal(Buffer.concat(await Array.fromAsync(again)).toString(), 'other')
})

test('without room to keep it the answer is made the other way', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 10_000_000, maxEntries: 0 })
  t.after(() => cache.close())
  const answer = cache.readPack('key', {
    write: mustNotWrite,
    otherwise: async function* () {
      yield Buffer.from('other')
    },
  })
  assert.equal(Buffer.concat(await Array.fromAsync(answer)).toString(), 'other')
})

async function* arrayOf(chunks: Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks
}
