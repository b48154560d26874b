import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo, oid, path, type TestRepo } from '../../testing/git-repo.ts'
import { makeHistory } from '../../testing/history.ts'
import { compareObjects, openSight, type StoredPacks, storePacks } from '../../testing/object-equality.ts'
import { EMPTY_TREE_OID, type Oid } from '../names.ts'
import {
  ObjectMissing,
  type ObjectReader,
  ObjectTooLarge,
  startReader,
  withObjects,
} from '../objects/reader.ts'
import { PackMissing } from './pack-store.ts'
import { createStoredObjects, type StoredObjects } from './stored-objects.ts'

const missing = 'f'.repeat(40) as Oid
const MB = 1024 * 1024

const repack = (t: TestRepo, ...options: string[]) => t.git(['repack', '-adfq', '--depth=250', ...options])

/** Reads from what is stored of a repository. */
const reading = (t: TestRepo, { store, packIds }: StoredPacks, signal?: AbortSignal) => {
  const objects = createStoredObjects({ store, maxBytes: 16 * MB })
  const read = <T>(use: (reader: ObjectReader) => Promise<T>) =>
    objects.read(
      { owner: 'org', listPacks: async () => packIds, startGit: () => startReader(t.repo), signal },
      use,
    )
  return { objects, read, [Symbol.dispose]: objects.close }
}

const ofGit = ({ counts }: StoredObjects) => counts.git

test('reads every object of a history as git does, whatever way it is packed', async () => {
  using t = createTestRepo()
  makeHistory(t, { commits: 150, files: 20 })
  // Bases by their distance, and by their ids.
  for (const byDistance of [true, false]) {
    t.git(['config', 'repack.useDeltaBaseOffset', String(byDistance)])
    repack(t, '--window=20')
    using stored = await storePacks(t.gitDir)
    using sight = openSight({ ...stored, listPacks: () => stored.packIds })
    const { objects, unusual, different } = await compareObjects(t.gitDir, sight)
    assert.ok(objects > 800, String(objects))
    assert.deepEqual([different, [...unusual]], [[], []])
    // And with so little memory that everything is forgotten at once.
    using forgetful = openSight({ ...stored, listPacks: () => stored.packIds, maxBytes: 200_000 })
    assert.deepEqual((await compareObjects(t.gitDir, forgetful)).different, [])
  }
})

test('finds at paths what git finds there, and nothing where git finds nothing', async () => {
  using t = createTestRepo()
  const blob = t.git(['hash-object', '-w', '--stdin'], 'x')
  const inner = t.git(['mktree'], `100644 blob ${blob}\tinner\n100644 blob ${blob}\tb\n`)
  const raw = Buffer.concat([
    ...[
      `100644 blob ${blob}\tnl\n"\0`,
      `100755 blob ${blob}\tünï\0`,
      `120000 blob ${blob}\tlink\0`,
      `040000 tree ${inner}\ta\0`,
      `100644 blob ${blob}\ta-b\0`,
      `100644 blob ${blob}\ta0\0`,
      `100644 blob ${blob}\ta.txt\0`,
      `040000 tree ${inner}\tdir\0`,
      `040000 tree ${EMPTY_TREE_OID}\tempty\0`,
      `160000 commit ${'1'.repeat(40)}\tmodule\0`,
    ].map((line) => Buffer.from(line)),
    Buffer.from(`100644 blob ${blob}\tcaf\xe9\0`, 'latin1'),
  ])
  const tree = oid(t.git(['mktree', '-z', '--missing'], raw))
  const commit = oid(t.git(['commit-tree', tree, '-m', 'all kinds']))
  t.git(['tag', '-a', '-m', 'one', 'one', commit])
  t.git(['tag', '-a', '-m', 'two', 'two', 'one'])
  t.git(['update-ref', 'refs/heads/main', commit])
  repack(t)
  using stored = await storePacks(t.gitDir)
  using reader = reading(t, stored)
  const { objects, read } = reader
  const paths = [
    'a',
    'a/inner',
    'a/b',
    'a/c',
    'a-b',
    'a0',
    'a.txt',
    'dir/inner',
    'nl\n"',
    'ünï',
    'none',
    'dir/none',
  ]
  paths.push(
    'link',
    'link/x',
    'module',
    'module/x',
    'DIR',
    'caf\ufffd',
    'a.txt/x',
    'empty',
    'empty/x',
    'dir/inner/x',
  )
  const tag = oid(t.git(['rev-parse', 'refs/tags/two']))
  await withObjects(t.repo, (theirs) =>
    read(async (ours) => {
      for (const root of [commit, tree, missing, oid(blob)])
        for (const at of paths) {
          const wanted = path(at)
          assert.deepEqual(
            await ours.findAt(root, wanted),
            await theirs.findAt(root, wanted),
            `${root} ${at}`,
          )
          assert.deepEqual(await ours.findDirectory(root, wanted), await theirs.findDirectory(root, wanted))
        }
      for (const any of [commit, tree, oid(blob), tag, missing, EMPTY_TREE_OID]) {
        assert.deepEqual(await ours.peel(any), await theirs.peel(any))
        assert.deepEqual(await ours.findCommit(any), await theirs.findCommit(any))
        assert.deepEqual(await ours.findTree(any), await theirs.findTree(any))
        for (const type of ['commit', 'tree'] as const)
          assert.deepEqual(await ours.findBytes(any, type), await theirs.findBytes(any, type))
        assert.deepEqual(await ours.findBlob(any, 10), await theirs.findBlob(any, 10))
        assert.deepEqual(await ours.listInfo([any]), await theirs.listInfo([any]))
        assert.deepEqual(await ours.findDirectory(any), await theirs.findDirectory(any))
      }
      const entries = (await theirs.findTree(tree)) ?? []
      assert.deepEqual(await ours.addSizes(entries), await theirs.addSizes(entries))
      await assert.rejects(ours.findBlob(oid(blob), 0), ObjectTooLarge)
      assert.equal(ofGit(objects), 0, 'no process was needed')
      assert.deepEqual(await ours.findAt(tag, path('a0')), await theirs.findAt(tag, path('a0')))
    }),
  )
  assert.equal(ofGit(objects), 1, 'below a tag git looks')
})

test('leaves large objects to git, started once and only for them', async () => {
  using t = createTestRepo()
  const large = oid(t.git(['hash-object', '-w', '--stdin'], Buffer.alloc(MB + 1, 'large ')))
  const small = oid(t.git(['hash-object', '-w', '--stdin'], Buffer.alloc(MB, 'small ')))
  const tree = t.git(['mktree'], `100644 blob ${large}\tlarge\n100644 blob ${small}\tsmall\n`)
  t.git(['update-ref', 'refs/heads/main', t.git(['commit-tree', tree, '-m', 'large'])])
  repack(t)
  using stored = await storePacks(t.gitDir)
  using reader = reading(t, stored)
  const { objects, read } = reader
  await read(async (reader) => {
    assert.equal((await reader.findBlob(small, 2 * MB))?.length, MB)
    assert.deepEqual(
      (await reader.addSizes((await reader.findTree(oid(tree))) ?? [])).map(({ size }) => size),
      [MB + 1, MB],
    )
    await assert.rejects(reader.findBlob(large, MB), ObjectTooLarge)
    assert.equal(ofGit(objects), 0)
    const [one, other] = await Promise.all([reader.findBlob(large, 2 * MB), reader.findBlob(large, 2 * MB)])
    assert.deepEqual([one?.length, other?.length], [MB + 1, MB + 1])
  })
  assert.equal(ofGit(objects), 2)
})

test('goes on reading what is removed or folded meanwhile, and finds what has come', async () => {
  using t = createTestRepo()
  makeHistory(t, { commits: 20, files: 3, lines: 2000 })
  repack(t)
  using before = await storePacks(t.gitDir)
  const first = oid(t.git(['rev-parse', 'main']))
  const second = t.commit({ new: 'new' }, first)
  t.git(['update-ref', 'refs/heads/main', second])
  repack(t)
  using after = await storePacks(t.gitDir)
  const where = { ids: before.packIds }
  const store = {
    openPack: (id: string) => (before.packIds.includes(id) ? before : after).store.openPack(id),
  }
  const objects = createStoredObjects({ store, maxBytes: 16 * MB })
  using _closed = { [Symbol.dispose]: objects.close }
  const startGit = () => assert.fail('git is not needed')
  const read = <T>(use: (reader: ObjectReader) => Promise<T>) =>
    objects.read({ owner: 'org', listPacks: async () => where.ids, startGit }, use)
  await read(async (reader) => {
    assert.equal((await reader.findCommit(first))?.parents.length, 1)
    assert.equal(await reader.findCommit(second), undefined)
    for (const id of before.packIds) await before.store.remove(id)
    const parent = (await reader.findCommit(first))?.parents[0] as Oid
    assert.ok(await reader.findDirectory(parent), 'what is open is read')
    where.ids = after.packIds
    assert.deepEqual((await reader.findCommit(second))?.parents, [first])
  })
  // Whoever read the list just before looks once more.
  const lists = [before.packIds, after.packIds]
  const fresh = createStoredObjects({ store, maxBytes: 16 * MB })
  using _freshClosed = { [Symbol.dispose]: fresh.close }
  const lately = { owner: 'org', listPacks: async () => lists.shift() ?? after.packIds, startGit }
  assert.ok(await fresh.read(lately, (reader) => reader.findCommit(second)))
  where.ids = before.packIds
  const gone = { owner: 'other', listPacks: async () => where.ids, startGit }
  await assert.rejects(
    fresh.read(gone, (reader) => reader.findCommit(first)),
    PackMissing,
  )
})

test('gives no wrong answer from a pack in which a byte has changed', async () => {
  using t = createTestRepo()
  makeHistory(t, { commits: 20, files: 4 })
  repack(t)
  const all = t.git(['cat-file', '--batch-all-objects', '--batch-check']).split('\n')
  using stored = await storePacks(t.gitDir)
  const [id = ''] = stored.packIds
  const [file] = await stored.store.filesOf(id)
  assert.ok(file)
  const bytes = readFileSync(file.path)
  await chmod(file.path, 0o600)
  const middle = Math.floor(bytes.length / 2)
  writeFileSync(file.path, bytes.with(middle, (bytes[middle] ?? 0) ^ 1))
  using reader = reading(t, stored)
  const { objects, read } = reader
  const readAll = () =>
    read(async (ours) => {
      const before = ofGit(objects)
      for (const line of all) {
        const [of, type, size] = line.split(' ')
        const [info] = await ours.listInfo([of as Oid])
        assert.deepEqual(info, { type, size: Number(size) })
        if (type === 'blob') assert.equal((await ours.findBlob(of as Oid, MB))?.length, Number(size))
      }
      return ofGit(objects) - before
    })
  const left = await readAll()
  // The copy that git has here is whole.
  assert.ok(left > 0 && left < all.length, `${left} of ${all.length} left to git`)
  writeFileSync(file.path, bytes)
  assert.equal(await readAll(), 0, 'what was put right is read again')
})

test('refuses what git reads of another object than was asked for', async () => {
  using t = createTestRepo()
  const [a, b] = ['a', 'b'].map((text) => oid(t.git(['hash-object', '-w', '--stdin'], text)))
  const loose = (of: Oid) => join(t.gitDir, 'objects', of.slice(0, 2), of.slice(2))
  await chmod(loose(a as Oid), 0o600)
  writeFileSync(loose(a as Oid), readFileSync(loose(b as Oid)))
  await assert.rejects(
    withObjects(t.repo, (reader) => reader.findBlob(a as Oid, 10)),
    ObjectMissing,
  )
})

test('an abort ends the reading', async () => {
  using t = createTestRepo()
  makeHistory(t, { commits: 5, files: 2 })
  repack(t)
  using stored = await storePacks(t.gitDir)
  const controller = new AbortController()
  using aborted = reading(t, stored, controller.signal)
  const { read } = aborted
  const ended = read(async (reader) => {
    await reader.listInfo([missing])
    controller.abort(new Error('gone away'))
    return reader.listInfo([missing])
  })
  await assert.rejects(ended, /gone away/)
})

test('keeps what was made of objects with them, within their memory and by owner', async () => {
  using t = createTestRepo()
  makeHistory(t, { commits: 1, files: 1 })
  using stored = await storePacks(t.gitDir)
  using reader = reading(t, stored)
  const { objects } = reader
  const value = { content: 'x' }
  objects.keepShown('org', 'small', { value, size: 1 })
  assert.equal(objects.recallShown('org', 'small'), value)
  assert.equal(objects.recallShown('other', 'small'), undefined)
  assert.equal(objects.counts.memory, 1)

  objects.keepShown('org', 'large', { value, size: 100_000 })
  assert.equal(objects.recallShown('org', 'large'), undefined)
  for (let i = 0; i < 1_000; i++) objects.keepShown('org', `many ${i}`, { value, size: 10_000 })
  assert.equal(objects.recallShown('org', 'small'), undefined)
  assert.equal(objects.recallShown('org', 'many 999'), value)
  assert.ok(objects.bytes > MB && objects.bytes <= 2 * MB, String(objects.bytes))
})
