import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createObjectSet, formatPack, type PackBytes } from '../objects/pack-writer.ts'
import { createLocalPackStore, type StoredPack } from './pack-store.ts'

const root = mkdtempSync(join(tmpdir(), 'pack-store-'))
after(() => rmSync(root, { recursive: true }))

/** An object directory that holds one pack with `blobs` blobs. */
function objectsWithPack(name: string, blobs: number): string {
  const dir = join(root, name)
  execFileSync('git', ['init', '-q', '--bare', dir])
  const ids = Array.from({ length: blobs }, () =>
    execFileSync('git', ['-C', dir, 'hash-object', '-w', '--stdin'], { input: randomBytes(50) }),
  )
  execFileSync('git', ['-C', dir, 'pack-objects', '-q', 'objects/pack/pack'], { input: Buffer.concat(ids) })
  return join(dir, 'objects')
}

async function listed(store: { list(): AsyncIterable<StoredPack> }): Promise<StoredPack[]> {
  return Array.fromAsync(store.list())
}

test('adopts a pack, lists it, links it where git can read it, and removes it', async () => {
  const store = createLocalPackStore(join(root, 'a'))
  const started = Date.now()
  const pack = await store.adopt(objectsWithPack('a-source', 3))
  assert.equal(pack.objects, 3)
  assert.ok(pack.bytes > 150)
  const [only, ...others] = await listed(store)
  assert.deepEqual(others, [])
  assert.equal(only?.packId, pack.packId)
  assert.ok(Number(only?.modifiedMs) >= started - 1000)

  const reader = join(root, 'a-reader')
  execFileSync('git', ['init', '-q', '--bare', reader])
  await store.linkInto(pack.packId, join(reader, 'objects/pack'))
  await store.linkInto(pack.packId, join(reader, 'objects/pack'))
  await store.remove(pack.packId)
  await store.remove(pack.packId)
  assert.deepEqual(await listed(store), [])
  // Whoever has linked it keeps it.
  const count = execFileSync('git', ['-C', reader, 'count-objects', '-v']).toString()
  assert.match(count, /in-pack: 3\n/)
  execFileSync('git', ['-C', reader, 'fsck', '--full'], { stdio: 'pipe' })
})

test('gives the same content a new id each time, so that removing one copy never takes another', async () => {
  const store = createLocalPackStore(join(root, 'b'))
  const source = objectsWithPack('b-source', 1)
  const packs = await Promise.all([store.adopt(source), store.adopt(source), store.adopt(source)])
  assert.equal(new Set(packs.map((pack) => pack.packId)).size, 3)
  await store.remove(packs[0].packId)
  const left = (await listed(store)).map(({ packId }) => packId)
  assert.deepEqual(left.sort(), [packs[1].packId, packs[2].packId].sort())
})

test('a listing shows what a killed adoption left, so that a sweep finds it', async () => {
  const store = createLocalPackStore(join(root, 'c'))
  const packId = 'ab'.repeat(20)
  mkdirSync(join(root, 'c/packs/ab'), { recursive: true })
  writeFileSync(join(root, `c/packs/ab/${packId}.pack`), 'half')
  assert.deepEqual(
    (await listed(store)).map((pack) => pack.packId),
    [packId],
  )
  await store.remove(packId)
  assert.deepEqual(readdirSync(join(root, 'c/packs/ab')), [])
})

test('refuses ids that are none, packs that are not there, and anything but one pack', async () => {
  const store = createLocalPackStore(join(root, 'd'))
  assert.deepEqual(await listed(store), [])
  await assert.rejects(store.remove('../../etc/passwd'), RangeError)
  await assert.rejects(store.linkInto('cd'.repeat(20), root), { name: 'PackMissing' })
  mkdirSync(join(root, 'd-empty/pack'), { recursive: true })
  await assert.rejects(store.adopt(join(root, 'd-empty')), /found 0/)
})

/** A pack in memory, as the server makes them. */
async function packOf(...texts: string[]): Promise<PackBytes> {
  const objects = createObjectSet()
  for (const text of texts) objects.add('blob', Buffer.from(text))
  return formatPack(objects)
}

test('stores packs that are in memory, many at the same time', async () => {
  const now = Date.now() - 86_400_000
  const store = createLocalPackStore(join(root, 'f'), { clock: () => now })
  // More than go into one folder.
  const texts = Array.from({ length: 100 }, (_, i) => [`${i}`, `more ${i}`])
  const packs = await Promise.all(texts.map(async (text) => store.add(await packOf(...text))))
  assert.ok(packs.every(({ objects }) => objects === 2))
  assert.equal(new Set(packs.map(({ packId }) => packId)).size, 100)
  assert.deepEqual(
    (await listed(store)).map(({ packId }) => packId).sort(),
    packs.map(({ packId }) => packId).sort(),
  )
  // By the clock that rows go by too.
  for (const { modifiedMs } of await listed(store)) assert.equal(Math.round(modifiedMs), now)
  for (const { packId, bytes } of packs)
    assert.equal(await store.examine({ id: packId, bytes }, {}), undefined)
  const reader = join(root, 'f-reader')
  execFileSync('git', ['init', '-q', '--bare', reader])
  for (const { packId } of packs) await store.linkInto(packId, join(reader, 'objects/pack'))
  const count = execFileSync('git', ['-C', reader, 'count-objects', '-v']).toString()
  assert.match(count, /in-pack: 200\n/)
  execFileSync('git', ['-C', reader, 'fsck', '--full'], { stdio: 'pipe' })
})

test('git reads back objects of every length, compressed or not', async () => {
  const store = createLocalPackStore(join(root, 'h'))
  const objects = createObjectSet()
  const lengths = [0, 1, 2, 15, 16, 255, 256, 511, 512, 513, 4096, 4097, 40_000]
  const contents = lengths.flatMap((length) => [Buffer.alloc(length, 0xff), Buffer.alloc(length, 'text ')])
  const oids = contents.map((content) => objects.add('blob', content))
  const { packId } = await store.add(await formatPack(objects))
  const reader = join(root, 'h-reader')
  execFileSync('git', ['init', '-q', '--bare', reader])
  await store.linkInto(packId, join(reader, 'objects/pack'))
  execFileSync('git', ['-C', reader, 'fsck', '--full', '--strict'], { stdio: 'pipe' })
  for (const [i, oid] of oids.entries())
    assert.deepEqual(execFileSync('git', ['-C', reader, 'cat-file', 'blob', oid]), contents[i])
})

test('leaves nothing of a pack in memory that could not be stored', async () => {
  const store = createLocalPackStore(join(root, 'g'))
  const pack = await packOf('x')
  // Stands for a disk that takes the first file and not the second.
  const failing = { ...pack, idx: { length: 1 } as Buffer }
  await assert.rejects(store.add(failing), TypeError)
  assert.deepEqual(await listed(store), [])
  await store.add(pack)
  assert.equal((await listed(store)).length, 1)
})

for (const way of ['adopt', 'add'] as const) {
  test(`every pack that ${way} reported is whole after the process was killed`, async () => {
    const source = objectsWithPack(`e-${way}-source`, 5)
    const store = join(root, `e-${way}`)
    const script = `
    import { createLocalPackStore } from ${JSON.stringify(import.meta.resolve('./pack-store.ts'))}
    import { createObjectSet, formatPack } from ${JSON.stringify(import.meta.resolve('../objects/pack-writer.ts'))}
    import { writeSync } from 'node:fs'
    const store = createLocalPackStore(${JSON.stringify(store)})
    const objects = createObjectSet()
    objects.add('blob', Buffer.from('x'))
    const pack = await formatPack(objects)
    const given = { adopt: ${JSON.stringify(source)}, add: pack }
    for (;;) writeSync(1, (await store.${way}(given.${way})).packId + '\\n')`
    let reported = ''
    for (let round = 0; round < 4; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script])
      child.stdout.on('data', (chunk) => {
        reported += chunk
      })
      await once(child.stdout, 'data')
      await sleep(Math.random() * 60)
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    const packIds = reported.split('\n').filter(Boolean)
    assert.ok(packIds.length >= 4)
    const packDir = join(root, `e-${way}-reader`)
    mkdirSync(packDir)
    for (const packId of packIds) await createLocalPackStore(store).linkInto(packId, packDir)
    const indexes = packIds.slice(-20).map((packId) => join(packDir, `pack-${packId}.idx`))
    execFileSync('git', ['verify-pack', ...indexes])
  })
}
