import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestRepo, oid, type TestRepo } from '../../testing/git-repo.ts'
import type { Oid } from '../names.ts'
import {
  findBrokenTips,
  ingestPack,
  isAllThereIs,
  PackRejected,
  type QuarantinedRepo,
  withQuarantine,
} from './intake.ts'

let source: TestRepo
let server: TestRepo
let first: Oid
let second: Oid
before(() => {
  source = createTestRepo()
  server = createTestRepo()
  const text = randomBytes(3000).toString('hex')
  first = source.commit({ 'a.txt': text, 'b.txt': 'b' })
  second = source.commit({ 'a.txt': `${text}changed` }, first)
  server.git(['fetch', '-q', source.gitDir, first])
  server.git(['update-ref', 'refs/heads/main', first])
})
after(() => {
  source[Symbol.dispose]()
  server[Symbol.dispose]()
})

const quarantines = () => join(server.root, 'quarantines')
const nothingLeft = () => assert.deepEqual(readdirSync(quarantines()), [])

function packOf(revisions: string, ...options: string[]): Buffer {
  const args = ['pack-objects', '--revs', '--stdout', '-q', ...options]
  return execFileSync('git', args, { cwd: source.gitDir, input: revisions })
}

/** A pack of exactly these objects. */
const packOfObjects = (...oids: string[]) =>
  execFileSync('git', ['pack-objects', '--stdout', '-q'], { cwd: source.gitDir, input: oids.join('\n') })

async function* inChunks(bytes: Uint8Array, size = 1000) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

function quarantined<T>(work: (repo: QuarantinedRepo) => Promise<T>): Promise<T> {
  return withQuarantine(server.repo, quarantines(), work)
}

const take = (pack: Buffer) => quarantined((repo) => ingestPack(repo, { pack: inChunks(pack) }))

test('takes a thin pack into quarantine, completes it, and leaves the repository alone', async () => {
  const thin = packOf(`${second}\n^${first}\n`, '--thin')
  const beforehand = server.git(['count-objects', '-v'])
  await quarantined(async (repo) => {
    assert.deepEqual(await ingestPack(repo, { pack: inChunks(thin, 100) }), {
      hasObjects: true,
      isClosed: false,
    })
    assert.deepEqual(await findBrokenTips(repo, [second, first]), new Set())
    const files = readdirSync(join(repo.objectsDir, 'pack'))
    assert.equal(files.filter((name) => name.endsWith('.pack')).length, 1)
    const index = files.find((name) => name.endsWith('.idx')) ?? ''
    execFileSync('git', ['verify-pack', join(repo.objectsDir, 'pack', index)])
  })
  assert.equal(server.git(['count-objects', '-v']), beforehand)
  nothingLeft()
})

test('says when a pack holds no object', async () => {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  const { hasObjects } = await take(Buffer.concat([header, createHash('sha1').update(header).digest()]))
  assert.equal(hasObjects, false)
})

test('refuses truncated, corrupt, endless, oversized and absent packs with a reason', async () => {
  const whole = packOf(`${second}\n`)
  const corrupt = Buffer.from(whole)
  corrupt[Math.floor(whole.length / 2)] = (corrupt[Math.floor(whole.length / 2)] ?? 0) ^ 0xff
  const promisesMore = Buffer.from(whole)
  promisesMore.writeUInt32BE(0x7fffffff, 8)
  const cases: [string, Buffer, RegExp][] = [
    ['truncated', whole.subarray(0, whole.length - 30), /EOF|inflate|corrupt/],
    ['corrupt', corrupt, /./],
    ['promises more', promisesMore, /./],
    ['absent', Buffer.alloc(0), /early EOF/],
    ['noise', randomBytes(5000), /pack signature mismatch/],
  ]
  for (const [what, pack, reason] of cases) {
    await assert.rejects(
      take(pack),
      (error) =>
        error instanceof PackRejected && reason.test(error.message) && !error.message.includes(server.root),
      what,
    )
  }
  nothingLeft()
})

test('refuses objects that git knows to be malicious, and takes the odd ones of old tools', async () => {
  const blob = source.git(['hash-object', '-w', '--stdin'], 'x')
  const tree = (entry: Buffer) =>
    source.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], entry)
  const entry = (mode: string, name: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(blob, 'hex')])
  for (const name of ['.git', '..', 'a/b']) {
    const pack = packOfObjects(blob, tree(entry('100644', name)))
    await assert.rejects(take(pack), PackRejected, name)
  }
  assert.equal((await take(packOfObjects(blob, tree(entry('0100644', 'padded'))))).hasObjects, true)
})

test('says whether a pack needs nothing beside it, and whether there is anything', async () => {
  const blob = source.git(['hash-object', '-w', '--stdin'], 'alone')
  using empty = createTestRepo()
  const closed = (repo: TestRepo, pack: Buffer) =>
    withQuarantine(repo.repo, quarantines(), async (inside) => [
      (await ingestPack(inside, { pack: inChunks(pack) })).isClosed,
      await isAllThereIs(inside),
    ])
  server.git(['repack', '-adq'])
  assert.deepEqual(await closed(empty, packOf(`${second}\n`)), [true, true])
  assert.deepEqual(await closed(empty, packOfObjects(blob)), [true, true])
  assert.deepEqual(await closed(server, packOf(`${second}\n`)), [true, false])
  assert.deepEqual(await closed(server, packOf(`${second}\n^${first}\n`)), [false, false])
  await assert.rejects(closed(empty, packOf(`${second}\n^${first}\n`)), PackRejected)
})

test('finds the tips that are not whole, and only those', async () => {
  const parentless = source.commit({ 'c.txt': 'c' }, second)
  const commitOnly = source.git(['rev-parse', `${parentless}^{tree}`])
  await quarantined(async (repo) => {
    // The tip and its tree without its parent: index-pack would refuse it, so it is put there directly.
    const loose = (id: string, type: string) =>
      execFileSync('git', ['hash-object', '-t', type, '-w', '--literally', '--stdin'], {
        cwd: server.gitDir,
        input: execFileSync('git', ['cat-file', type, id], { cwd: source.gitDir }),
        env: { PATH: process.env.PATH, GIT_OBJECT_DIRECTORY: repo.objectsDir },
      })
    loose(parentless, 'commit')
    loose(commitOnly, 'tree')
    const unknown = oid('e'.repeat(40))
    assert.deepEqual(await findBrokenTips(repo, [parentless, first, unknown]), new Set([parentless, unknown]))
    assert.deepEqual(await findBrokenTips(repo, []), new Set())
  })
})

test('stops when told to, and nothing is left', async () => {
  const abort = new AbortController()
  async function* stalled() {
    yield packOf(`${second}\n`).subarray(0, 100)
    abort.abort(new Error('the client left'))
    await new Promise(() => {})
  }
  const repo = server.repo.with({ signal: abort.signal })
  const taking = withQuarantine(repo, quarantines(), (inside) => ingestPack(inside, { pack: stalled() }))
  await assert.rejects(taking, /the client left/)
  nothingLeft()
})

test('relays progress but not complaints', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`f${i}`, `${'line\n'.repeat(500)}${i}`]),
  )
  const tip = source.commit(files)
  const said: string[] = []
  const onProgress = (chunk: Buffer) => void said.push(chunk.toString())
  await quarantined((repo) => ingestPack(repo, { pack: inChunks(packOf(`${tip}\n`)), onProgress }))
  const wrong = { pack: inChunks(randomBytes(100)), onProgress }
  await assert.rejects(
    quarantined((repo) => ingestPack(repo, wrong)),
    PackRejected,
  )
  assert.doesNotMatch(said.join(''), /fatal/)
})
