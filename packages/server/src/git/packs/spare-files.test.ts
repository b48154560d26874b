import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSpareFiles, type SpareFiles } from './spare-files.ts'

let root: string
let spares: SpareFiles

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trellis-spare-'))
  spares = createSpareFiles(join(root, 'spare'))
})

afterEach(async () => {
  await spares.close()
  rmSync(root, { recursive: true, force: true })
})

const spareNames = () => readdirSync(join(root, 'spare'), { withFileTypes: true }).map(({ name }) => name)

async function write(name: string, text: string): Promise<void> {
  await using file = await spares.open(join(root, name))
  await file.write(text)
}

/** So many as are kept, once it has been quiet. */
async function filled(): Promise<string[]> {
  for (let tries = 0; tries < 500; tries++) {
    await sleep(5)
    const names = await Promise.resolve()
      .then(spareNames)
      .catch(() => [])
    if (names.length === 8) return names
  }
  throw new Error('no files were made')
}

test('a file is a new one at first, and then one that was made before', async () => {
  await write('first', 'one')
  const before = await filled()
  const inodes = before.map((name) => statSync(join(root, 'spare', name)).ino)
  await write('second', 'two')
  const second = statSync(join(root, 'second'))
  assert.ok(inodes.includes(second.ino))
  assert.equal(readFileSync(join(root, 'second'), 'utf8'), 'two')
  for (const name of ['first', 'second']) assert.equal(statSync(join(root, name)).mode & 0o777, 0o400)
  assert.equal((await filled()).length, 8)
})

test('many at once have a file each, whether one was made before or not', async () => {
  await write('first', 'one')
  await filled()
  const names = Array.from({ length: 30 }, (_, i) => `many-${i}`)
  await Promise.all(names.map((name) => write(name, name)))
  for (const name of names) assert.equal(readFileSync(join(root, name), 'utf8'), name)
})

test('a file is made when those before are gone', async () => {
  await write('first', 'one')
  await filled()
  rmSync(join(root, 'spare'), { recursive: true })
  for (let i = 0; i < 10; i++) await write(`later-${i}`, String(i))
  for (let i = 0; i < 10; i++) assert.equal(readFileSync(join(root, `later-${i}`), 'utf8'), String(i))
  await filled()
})

/** Memory that is a file system, on Linux. */
const ELSEWHERE = '/dev/shm'
const isElsewhere = existsSync(ELSEWHERE) && statSync(ELSEWHERE).dev !== statSync(tmpdir()).dev

test('those on another file system are of no use, and no more are made', { skip: !isElsewhere }, async () => {
  const folder = mkdtempSync(join(ELSEWHERE, 'trellis-spare-'))
  const elsewhere = createSpareFiles(folder)
  try {
    for (const name of ['first', 'second', 'third']) {
      await using file = await elsewhere.open(join(root, name))
      await file.write(name)
      await sleep(100)
    }
    for (const name of ['first', 'second', 'third'])
      assert.equal(readFileSync(join(root, name), 'utf8'), name)
    // One was tried and thrown away.
    assert.equal(readdirSync(folder).length, 7)
    await elsewhere.close()
    assert.deepEqual(readdirSync(folder), [])
  } finally {
    await elsewhere.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('nothing is left of them when it ends', async () => {
  await write('first', 'one')
  await filled()
  await spares.close()
  assert.deepEqual(spareNames(), [])
  await write('after', 'two')
  await sleep(50)
  assert.deepEqual(spareNames(), [])
})
