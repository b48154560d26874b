import assert from 'node:assert/strict'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLocalPackStore, type PackInfo, type PackStore } from './pack-store.ts'

const KEPT = 4
const MINUTE = 60_000

let root: string
let store: PackStore
let now: number

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trellis-spare-'))
  now = Date.now()
  store = createLocalPackStore(root, { clock: () => now, keepsSpares: true })
})

afterEach(async () => {
  await store.close()
  rmSync(root, { recursive: true, force: true })
})

const add = (text: string) =>
  store.add({ pack: Buffer.from(`pack ${text}`), idx: Buffer.from(`idx ${text}`), objects: 1 })

const files = (): string[] =>
  readdirSync(join(root, 'packs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

const fileOf = (packId: string, part: string) => join(root, 'packs', packId.slice(0, 2), `${packId}.${part}`)
const inodesOf = (packId: string) => ['pack', 'idx'].map((part) => statSync(fileOf(packId, part)).ino)

function requireStored(packId: string, text: string): void {
  for (const part of ['pack', 'idx']) {
    assert.equal(readFileSync(fileOf(packId, part), 'utf8'), `${part} ${text}`)
    assert.equal(statSync(fileOf(packId, part)).mode & 0o777, 0o400)
  }
}

/** The empty ones, once it has been quiet. */
async function filled(): Promise<string[]> {
  for (let tries = 0; tries < 500; tries++) {
    await sleep(5)
    const empty = files().filter((path) => statSync(path).size === 0)
    if (empty.length === 2 * KEPT) return empty
  }
  throw new Error('no files were made')
}

test('a pack goes into files of its own at first, and then into some that were made before', async () => {
  requireStored((await add('one')).packId, 'one')
  const inodes = (await filled()).map((path) => statSync(path).ino)
  let pack: PackInfo
  // They are there a moment before they count.
  do {
    pack = await add('two')
    requireStored(pack.packId, 'two')
    assert.equal(pack.bytes, 'pack twoidx two'.length)
  } while (!inodesOf(pack.packId).every((inode) => inodes.includes(inode)))
  await filled()
})

test('many at once have files each, whether some were made before or not', async () => {
  await add('first')
  await filled()
  const texts = Array.from({ length: 30 }, (_, i) => `many-${i}`)
  const packs = await Promise.all(texts.map(add))
  for (const [i, { packId }] of packs.entries()) requireStored(packId, texts[i] as string)
  assert.equal(new Set(packs.map(({ packId }) => packId)).size, texts.length)
})

/** What somebody may do to files that wait for a pack. */
const meddling: Record<string, (path: string) => void> = {
  'removed what was made for it': (path) => rmSync(path),
  'removed the file for its objects': (path) => path.endsWith('.pack') && rmSync(path),
  'removed the file for its index': (path) => path.endsWith('.idx') && rmSync(path),
  'given its files other names': (path) => renameSync(path, `${path}.old`),
  'removed its files, which have other names too': (path) => {
    linkSync(path, `${path}.old`)
    rmSync(path)
  },
  'put copies in the place of its files': (path) => {
    renameSync(path, `${path}.old`)
    copyFileSync(`${path}.old`, path)
  },
  'put folders in the place of its files': (path) => {
    rmSync(path)
    mkdirSync(path)
  },
  'written into its files': (path) => {
    chmodSync(path, 0o600)
    writeFileSync(path, 'x'.repeat(8_000))
    chmodSync(path, 0o400)
  },
}

async function requireStoredAfter(meddle: (files: readonly string[]) => void): Promise<void> {
  await add('first')
  const made = await filled()
  // They are there a moment before they count.
  await sleep(20)
  meddle(made)
  for (let i = 0; i < KEPT; i++) requireStored((await add(`later-${i}`)).packId, `later-${i}`)
}

for (const [what, meddle] of Object.entries(meddling))
  test(`a pack is stored when somebody has ${what}`, () =>
    requireStoredAfter((files) => {
      for (const path of files) meddle(path)
    }))

test('a pack is stored when somebody has moved its folder away and put a copy there', () =>
  requireStoredAfter((files) => {
    const folder = dirname(files[0] as string)
    renameSync(folder, join(root, 'aside'))
    cpSync(join(root, 'aside'), folder, { recursive: true })
  }))

test('files are of no use any more long before a sweep takes them for leftovers', async () => {
  await add('first')
  for (const passed of [11 * MINUTE, -22 * MINUTE]) {
    const old = (await filled()).map((path) => statSync(path).ino)
    now += passed
    const { packId } = await add('later')
    requireStored(packId, 'later')
    for (const inode of inodesOf(packId)) assert.ok(!old.includes(inode))
  }
})

test('the age of what waits for a pack counts from when it was made, and of a pack from when it was written', async () => {
  const minutesOf = async () => {
    const packs = await Array.fromAsync(store.list())
    return new Map(packs.map((pack) => [pack.packId, Math.round((now - pack.modifiedMs) / MINUTE)]))
  }
  // Unlike that of the file system, so that it is seen when files are dated: they are there a moment before.
  now -= 60 * MINUTE
  await add('first')
  await filled()
  while ([...(await minutesOf()).values()].some((minutes) => minutes !== 0)) await sleep(5)
  now += 9 * MINUTE
  assert.deepEqual([...(await minutesOf()).values()], Array(1 + KEPT).fill(9))
  const { packId } = await add('second')
  assert.equal((await minutesOf()).get(packId), 0)
})

test('nothing is left of them when it ends', async () => {
  const { packId } = await add('first')
  await filled()
  await store.close()
  assert.deepEqual(files().sort(), [fileOf(packId, 'idx'), fileOf(packId, 'pack')])
  requireStored((await add('after')).packId, 'after')
  await sleep(50)
  assert.equal(files().length, 4)
})
