import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createObjectSet, formatPack } from '../objects/pack-writer.ts'
import { createLocalPackStore } from './pack-store.ts'
import { createStoredObjects } from './stored-objects.ts'

const MB = 1024 * 1024

/** Everything but what is in memory is gone. */
async function storeAndLoseFiles(contents: Buffer[], { maxBytes = 16 * MB } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'trellis-fresh-'))
  const store = createLocalPackStore(root)
  const set = createObjectSet()
  const oids = contents.map((content) => set.add('blob', content))
  const { packId } = await store.add(await formatPack(set))
  rmSync(root, { recursive: true })
  const objects = createStoredObjects({ store, maxBytes })
  const startGit = () => Promise.reject(new Error('git was asked'))
  const reading = { owner: 'org', listPacks: async () => [packId], startGit }
  const read = () =>
    objects.read(reading, (reader) => Promise.all(oids.map((oid) => reader.findBlob(oid, MB))))
  return { store, packId, objects, reading, oids, read }
}

test('what was stored a moment ago is known without its files, until it is removed', async () => {
  const contents = ['one', 'two', ''].map((text) => Buffer.from(text))
  const { store, packId, objects, oids, reading, read } = await storeAndLoseFiles(contents)
  assert.deepEqual(await read(), contents)
  const infos = await objects.read(reading, (reader) => reader.listInfo(oids))
  assert.deepEqual(
    infos.map((info) => info?.size),
    [3, 3, 0],
  )
  const missing = await objects.read(reading, (reader) => reader.findBlob('ab'.repeat(20) as never, MB))
  assert.equal(missing, undefined)
  await store.remove(packId)
  await assert.rejects(store.openPack(packId), { name: 'PackMissing' })
  objects.close()
})

test('takes no more memory than it counts', async () => {
  // Node would hand out all of these from the same memory.
  const { store, packId } = await storeAndLoseFiles([Buffer.from('one'), Buffer.from('two')])
  const { fresh } = await store.openPack(packId)
  // The header of a pack has twelve bytes.
  const first = fresh?.objectAt(12)
  assert.ok((first?.bytes.buffer.byteLength ?? MB) < 100)
  assert.ok((fresh?.index.packChecksum.buffer.byteLength ?? MB) < 1000)
})

test('a small pack of much content is not kept', async () => {
  const { store, packId } = await storeAndLoseFiles([Buffer.alloc(MB)])
  await assert.rejects(store.openPack(packId), { name: 'PackMissing' })
})

test('where nothing may be kept in memory, git is asked', async () => {
  const { read } = await storeAndLoseFiles([Buffer.from('one')], { maxBytes: 0 })
  await assert.rejects(read(), /git was asked/)
})
