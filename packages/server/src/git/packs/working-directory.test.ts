import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Oid, RefName } from '../names.ts'
import type { Ref } from '../protocol/advertisement.ts'
import { compareNames, type MovedRef, SortedRefs } from '../protocol/sorted-refs.ts'
import { createLocalPackStore } from './pack-store.ts'
import { createWorkingDirectories, type WorkingDirectories } from './working-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'working-directory-'))
const store = createLocalPackStore(join(root, 'store'))
const main = 'refs/heads/main' as RefName
let commit: Oid
let tag: Oid
let first: string
let second: string

before(async () => {
  const source = join(root, 'source')
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', source, ...args], { stdio: 'pipe' })
      .toString()
      .trim()
  execFileSync('git', ['init', '-q', '-b', 'main', source])
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@example.com')
  git('commit', '-q', '--allow-empty', '-m', 'first')
  commit = git('rev-parse', 'HEAD') as Oid
  git('repack', '-adq')
  first = (await store.adopt(join(source, '.git/objects'))).packId
  git('tag', '-a', '-m', 'x', 'v1')
  tag = git('rev-parse', 'v1') as Oid
  git('repack', '-adq')
  second = (await store.adopt(join(source, '.git/objects'))).packId
})
after(() => rmSync(root, { recursive: true }))

const git = (dir: string, ...args: string[]) =>
  execFileSync('git', [`--git-dir=${dir}`, ...args], { stdio: 'pipe' }).toString()
const packsIn = (dir: string) =>
  readdirSync(join(dir, 'objects/pack'))
    .filter((name) => name.endsWith('.idx'))
    .map((name) => name.slice(5, 45))

async function reading(
  directories: WorkingDirectories,
  contents: Parameters<WorkingDirectories['lease']>[0],
  work: () => Promise<void>,
): Promise<void> {
  using _lease = await directories.lease(contents)
  await work()
}

function refs(): Ref[] {
  const names = [
    'refs/tags/v1',
    'refs/heads/main',
    'refs/heads/\u{1f600}',
    'refs/heads/\uff5e',
    'refs/heads/a-b',
    'refs/heads/a/b',
  ]
  return names
    .map((name) => {
      const isTag = name === 'refs/tags/v1'
      return { name: name as RefName, oid: isTag ? tag : commit, peeled: isTag ? commit : null }
    })
    .sort((a, b) => compareNames(a.name, b.name))
}

test('builds a directory that git takes as a sound repository, with every ref', async () => {
  const dir = join(root, 'sound')
  const directories = createWorkingDirectories()
  await reading(directories, { dir, packIds: [first, second], store }, async () => {
    await directories.writeRefs(dir, { headBranch: main, version: '1', refs })
    git(dir, 'fsck', '--full', '--strict')
    assert.equal(git(dir, 'rev-parse', 'HEAD').trim(), commit)
    for (const { name, oid } of refs()) assert.equal(git(dir, 'rev-parse', name).trim(), oid)
    const theirs = git(dir, 'show-ref', '--dereference')
    // git writes the file itself; the bytes must not differ.
    const ours = readFileSync(join(dir, 'packed-refs'), 'utf8')
    git(dir, 'pack-refs', '--all')
    assert.equal(readFileSync(join(dir, 'packed-refs'), 'utf8'), ours)
    assert.equal(git(dir, 'show-ref', '--dereference'), theirs)
  })
})

test('writes refs only when their version is new, and an empty list leaves none', async () => {
  const dir = join(root, 'versions')
  const directories = createWorkingDirectories()
  await directories.ensure({ dir, packIds: [second], store })
  await directories.writeRefs(dir, { headBranch: main, version: '1', refs })
  const written = statSync(join(dir, 'packed-refs')).ino
  await directories.writeRefs(dir, {
    headBranch: main,
    version: '1',
    refs: () => assert.fail('asked for refs'),
  })
  assert.equal(statSync(join(dir, 'packed-refs')).ino, written)
  await directories.writeRefs(dir, {
    headBranch: 'refs/heads/other' as RefName,
    version: '2',
    refs: () => [],
  })
  assert.equal(git(dir, 'for-each-ref'), '')
  assert.equal(git(dir, 'symbolic-ref', 'HEAD'), 'refs/heads/other\n')
})

/** Moves refs in steps, as those of a repository move, and writes each that is asked for. */
async function movingIn(dir: string) {
  const directories = createWorkingDirectories()
  const steps: MovedRef[][] = []
  let list = SortedRefs.of(refs())
  let writes = 0
  await directories.ensure({ dir, packIds: [second], store })
  return {
    list: () => list,
    wholeWrites: () => writes,
    move(...moved: (readonly [name: string, oid: Oid | null])[]): void {
      const step = moved.map(([name, oid]) => {
        const ref = oid && { name: name as RefName, oid, peeled: oid === tag ? commit : null }
        return { name: name as RefName, ref }
      })
      steps.push(step)
      list = list.with(step)
    },
    write: () =>
      directories.writeRefs(dir, {
        headBranch: main,
        version: String(steps.length),
        refs: () => {
          writes++
          return list
        },
        movedSince: (version) => steps.slice(Number(version)).flat(),
      }),
  }
}

const seenIn = (dir: string) =>
  git(dir, 'for-each-ref', '--format=%(refname) %(objectname) %(*objectname)').split('\n').slice(0, -1)
const expected = (list: Iterable<Ref>) =>
  [...list].map(({ name, oid, peeled }) => `${name} ${oid} ${peeled ?? ''}`)

test('writes what has moved and not what has not', async () => {
  const dir = join(root, 'moving')
  const moving = await movingIn(dir)
  const check = async (wholeWrites: number) => {
    await moving.write()
    assert.deepEqual(seenIn(dir), expected(moving.list()))
    assert.equal(moving.wholeWrites(), wholeWrites)
  }
  await check(1)
  const packed = statSync(join(dir, 'packed-refs')).ino
  moving.move(['refs/heads/main', tag])
  moving.move(['refs/heads/new/one', commit], ['refs/tags/v1', commit])
  moving.move(['refs/heads/new/one', tag])
  await check(1)
  moving.move(['refs/heads/new/two', commit])
  await check(1)
  assert.equal(statSync(join(dir, 'packed-refs')).ino, packed)
  // One that has a file of its own, and one that is packed.
  moving.move(['refs/heads/new/one', null])
  await check(2)
  moving.move(['refs/heads/a-b', null])
  await check(3)
  // In the place of a folder, and the other way round.
  moving.move(['refs/heads/x/y', commit])
  await check(3)
  moving.move(['refs/heads/x/y', null], ['refs/heads/x', commit])
  await check(4)
  moving.move(['refs/heads/x', null], ['refs/heads/x/y/z', commit])
  await check(5)
  moving.move([`refs/heads/${'n'.repeat(300)}`, commit])
  await check(6)
  moving.move(...Array.from({ length: 40 }, (_, i) => [`refs/heads/many-${i}`, commit] as const))
  await check(6)
  moving.move(...Array.from({ length: 40 }, (_, i) => [`refs/heads/many-${i}`, tag] as const))
  await check(7)
  assert.equal(readdirSync(dir).filter((name) => name.endsWith('.tmp')).length, 0)
})

test('is right again after refs could not be written', async () => {
  const dir = join(root, 'failing')
  const moving = await movingIn(dir)
  await moving.write()
  moving.move(['refs/heads/main', tag])
  await moving.write()
  // git would not have it, but something keeps a file from being written.
  rmSync(join(dir, 'HEAD'))
  rmSync(join(dir, 'refs'), { recursive: true })
  writeFileSync(join(dir, 'refs'), '')
  moving.move(['refs/heads/main', commit], ['refs/heads/b', tag])
  await assert.rejects(moving.write())
  rmSync(join(dir, 'refs'))
  mkdirSync(join(dir, 'refs/heads'), { recursive: true })
  writeFileSync(join(dir, 'refs/heads/stale'), `${tag}\n`)
  await moving.write()
  assert.deepEqual(seenIn(dir), expected(moving.list()))
})

test('keeps packs that are no longer listed until the last reader has left', async () => {
  const dir = join(root, 'lease')
  const directories = createWorkingDirectories()
  await reading(directories, { dir, packIds: [first], store }, async () => {
    assert.equal(await directories.ensure({ dir, packIds: [second], store }), false)
    assert.deepEqual(packsIn(dir).sort(), [first, second].sort())
  })
  writeFileSync(join(dir, 'objects/pack/multi-pack-index'), 'names a pack that goes')
  assert.equal(await directories.ensure({ dir, packIds: [second], store }), true)
  assert.deepEqual(packsIn(dir), [second])
  assert.equal(existsSync(join(dir, 'objects/pack/multi-pack-index')), false)
})

test('comes back after being deleted or left half made', async () => {
  const dir = join(root, 'back')
  const directories = createWorkingDirectories()
  const contents = { dir, packIds: [first], store }
  await directories.ensure(contents)
  rmSync(dir, { recursive: true })
  await reading(directories, contents, () =>
    directories.writeRefs(dir, {
      headBranch: main,
      version: '1',
      refs: () => refs().filter(({ name }) => name === main),
    }),
  )
  assert.equal(git(dir, 'rev-parse', 'main').trim(), commit)

  const half = join(root, 'half')
  mkdirSync(join(half, 'refs/heads'), { recursive: true })
  writeFileSync(join(half, 'refs/heads/main'), `${tag}\n`)
  writeFileSync(join(half, 'packed-refs'), `${tag} refs/heads/old\n`)
  writeFileSync(join(half, 'packed-refs.123.tmp'), 'unfinished')
  mkdirSync(join(half, 'objects/pack'), { recursive: true })
  writeFileSync(join(half, 'objects/pack/pack-1.idx.tmp'), 'unfinished')
  await createWorkingDirectories().ensure({ dir: half, packIds: [first], store })
  assert.equal(git(half, 'for-each-ref'), '')
  assert.deepEqual(packsIn(half), [first])
  assert.deepEqual(readdirSync(half).sort(), ['HEAD', 'config', 'objects', 'refs'])
  git(half, 'fsck', '--full')
})

test('parallel use of one directory is in order', async () => {
  const dir = join(root, 'parallel')
  const directories = createWorkingDirectories()
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      reading(directories, { dir, packIds: i % 2 ? [first, second] : [second], store }, async () => {
        await directories.writeRefs(dir, { headBranch: main, version: String(i % 3), refs })
        assert.equal(git(dir, 'cat-file', '-t', tag).trim(), 'tag')
      }),
    ),
  )
  assert.equal(readdirSync(dir).filter((name) => name.endsWith('.tmp')).length, 0)
})

test('a missing pack is an error that names it', async () => {
  const directories = createWorkingDirectories()
  const contents = { dir: join(root, 'missing'), packIds: ['ef'.repeat(20)], store }
  await assert.rejects(directories.ensure(contents), { name: 'PackMissing' })
})

test('goes when nobody has used it for a while or its repository is gone, and not under a reader', async () => {
  const directories = createWorkingDirectories()
  const [idle, gone, read] = ['idle', 'gone', 'read'].map((name) => join(root, `unused-${name}`)) as [
    string,
    string,
    string,
  ]
  for (const dir of [idle, gone, read]) await directories.ensure({ dir, packIds: [first], store })
  const isGone = async (dir: string) => dir === gone
  assert.equal(await directories.removeIdle({ afterMs: 60_000, isGone }), 1)
  assert.deepEqual([idle, gone, read].map(existsSync), [true, false, true])
  await reading(directories, { dir: read, packIds: [first], store }, async () => {
    assert.equal(await directories.removeIdle({ afterMs: 0, isGone }), 1)
    assert.deepEqual([idle, read].map(existsSync), [false, true])
    assert.deepEqual(packsIn(read), [first])
  })
  await reading(directories, { dir: idle, packIds: [first, second], store }, () =>
    directories.writeRefs(idle, { headBranch: main, version: '1', refs }),
  )
  assert.equal(git(idle, 'cat-file', '-t', tag).trim(), 'tag')
})
