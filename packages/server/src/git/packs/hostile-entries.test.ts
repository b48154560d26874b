// Packs that nobody sends, because index-pack would refuse them, but that a disk might give back: never a crash, never
// more memory than an object may take, never an answer that git would not give. TRELLIS_TEST_FUZZED says how many.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { deflateSync } from 'node:zlib'
import { createRandom } from '../../testing/history.ts'
import { openSight } from '../../testing/object-equality.ts'
import {
  deltaSize,
  entryHeader,
  formatRawPack,
  ofsEntry,
  openRawPack,
  placePack,
  type RawEntry,
  refEntry,
  wholeEntry,
} from '../../testing/pack-files.ts'
import { runProgramSync } from '../../testing/programs.ts'
import type { Oid } from '../names.ts'
import { oidOf } from '../objects/format.ts'
import { applyDelta, readDeltaSizes } from './delta.ts'
import { Unusual } from './unusual.ts'

const FUZZED = Number(process.env.TRELLIS_TEST_FUZZED ?? 150)
/** A process takes longer than all the rest. */
const isAskingGit = (i: number) => process.env.TRELLIS_TEST_FUZZED !== undefined || i % 10 === 0
const text = (seed: number, length: number) => {
  const random = createRandom(seed)
  return Buffer.from(Array.from({ length }, () => 97 + random(20)))
}
const copy = (from: number, count: number) => [0x80 | 0x0f | 0x70, ...word(from, 4), ...word(count, 3)]
const word = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, i) => (value >>> (8 * i)) & 255)
const MOST = 1024 * 1024
const fakeOid = (seed: number) => oidOf('blob', Buffer.from(`fake ${seed}`))

interface Files {
  pack: Uint8Array
  idx: Uint8Array
}

/** Asks for ids in one pack, without git. */
async function askOurs(files: Files, oids: readonly Oid[]): Promise<Answer[]> {
  const open = openRawPack(files)
  using sight = openSight({ store: { openPack: async () => open }, listPacks: () => ['it'] })
  const ask = async (oid: Oid): Promise<Answer> => {
    try {
      const info = await sight.findInfo(oid)
      const found = await sight.find(oid)
      if (found) assert.deepEqual([info?.type, info?.size], [found.type, found.size])
      return found ? found.bytes : 'absent'
    } catch (error) {
      if (error instanceof Unusual) return 'left to git'
      throw error
    }
  }
  const answers: Answer[] = []
  for (const oid of oids) answers.push(await ask(oid))
  return answers
}

/** What git says, which ends at whatever it cannot read and is asked again for the rest. */
function askGit(files: Files, oids: readonly Oid[]): (Buffer | undefined)[] {
  const root = mkdtempSync(join(tmpdir(), 'trellis-hostile-'))
  try {
    placePack(join(root, 'objects'), files)
    mkdirSync(join(root, 'refs'))
    writeFileSync(join(root, 'HEAD'), 'ref: refs/heads/main\n')
    const answers: (Buffer | undefined)[] = []
    while (answers.length < oids.length) {
      const input = oids.slice(answers.length).join('\n')
      const { stdout } = runProgramSync(['git', 'cat-file', '--batch'], {
        cwd: root,
        env: process.env,
        input,
      })
      let isCut = false
      for (let at = 0; at < stdout.length; ) {
        const end = stdout.indexOf('\n', at)
        const [, , size] = stdout.toString('latin1', at, end).split(' ')
        const length = Number(size)
        const isWhole = size !== undefined && stdout.length > end + 1 + length
        isCut = size !== undefined && !isWhole
        answers.push(isWhole ? stdout.subarray(end + 1, end + 1 + length) : undefined)
        at = size === undefined ? end + 1 : end + length + 2
      }
      // It ended at the last one, or before it said a word of the next.
      if (!isCut && answers.length < oids.length) answers.push(undefined)
    }
    return answers
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

type Answer = Buffer | 'absent' | 'left to git'

/** A pack of texts, some as differences to others. */
function sample(seed: number): RawEntry[] {
  const base = text(seed, 2000)
  const delta = Buffer.from([...deltaSize(2000), ...deltaSize(1500), ...copy(500, 1500)])
  const result = base.subarray(500)
  const whole = wholeEntry('blob', base)
  const small = Buffer.from(`small ${seed}`)
  const blob = (content: Uint8Array, bytes: Buffer) => ({ oid: oidOf('blob', content), bytes })
  const again = Buffer.from([...deltaSize(1500), ...deltaSize(1000), ...copy(0, 1000)])
  return [
    blob(base, whole),
    blob(result, ofsEntry(whole.length, delta)),
    blob(result.subarray(0, 1000), refEntry(oidOf('blob', result), again)),
    blob(small, wholeEntry('blob', small)),
  ]
}

test('packs with changed bytes give what git gives, or nothing', async () => {
  const random = createRandom(1)
  let answered = 0
  let left = 0
  for (let i = 0; i < FUZZED; i++) {
    const entries = sample(i)
    const { pack, idx } = formatRawPack(entries)
    const files = { pack: Buffer.from(pack), idx: Buffer.from(idx) }
    const target = random(4) === 0 ? files.idx : files.pack
    for (let n = random(3); n >= 0; n--) target[random(target.length)] = random(256)
    if (random(8) === 0) files.pack = files.pack.subarray(0, random(files.pack.length))
    const oids = entries.map(({ oid }) => oid)
    const ours = await askOurs(files, oids)
    const theirs = isAskingGit(i) ? askGit(files, oids) : undefined
    for (const [n, answer] of ours.entries()) {
      const oid = oids[n] as Oid
      if (answer === 'left to git') left++
      if (!(answer instanceof Buffer)) {
        if (answer === 'absent' && theirs) assert.equal(theirs[n], undefined, `${i}: git finds ${oid}`)
        continue
      }
      answered++
      assert.equal(oidOf('blob', answer), oid)
      if (theirs) assert.deepEqual(theirs[n], answer, `${i}: ${oid}`)
    }
  }
  assert.ok(answered > FUZZED / 4 && left > FUZZED, `${answered} answered, ${left} left to git`)
})

test('differences with any instructions make what git makes of them, or nothing', async () => {
  const random = createRandom(2)
  const base = text(1, 3000)
  const whole = wholeEntry('blob', base)
  const deltas = Array.from({ length: FUZZED }, () => {
    const size = 100 + random(400)
    const instructions = [
      ...copy(random(2500), 100),
      5,
      ...Buffer.from('hello'),
      ...copy(random(3000), size - 105),
    ]
    const delta = Buffer.from([...deltaSize(3000), ...deltaSize(size), ...instructions])
    for (let n = random(3); n > 0; n--) delta[random(delta.length)] = random(256)
    return delta.subarray(0, random(10) === 0 ? random(delta.length) + 1 : delta.length)
  })
  const entries: RawEntry[] = [{ oid: oidOf('blob', base), bytes: whole }]
  let distance = whole.length
  for (const [i, delta] of deltas.entries()) {
    const bytes = ofsEntry(distance, delta)
    entries.push({ oid: fakeOid(i), bytes })
    distance += bytes.length
  }
  const files = formatRawPack(entries)
  const oids = deltas.map((_, i) => fakeOid(i))
  // They are under false ids, so nobody is given them.
  assert.deepEqual([...new Set(await askOurs(files, oids))], ['left to git'])
  const theirs = askGit(files, oids)
  let made = 0
  for (const [i, delta] of deltas.entries()) {
    const result = applied(base, delta)
    if (result) made++
    assert.deepEqual(theirs[i], result, delta.toString('hex'))
  }
  assert.ok(made > FUZZED / 4 && made < FUZZED, `${made} of ${FUZZED}`)
})

function applied(base: Buffer, delta: Buffer): Buffer | undefined {
  try {
    // Whoever applies one looks at this first.
    return readDeltaSizes(delta).result > MOST ? undefined : applyDelta(base, delta)
  } catch (error) {
    assert.ok(error instanceof Unusual)
    return undefined
  }
}

test('what claims or inflates to more than an object may have is left to git', async () => {
  const bomb = Buffer.concat([entryHeader('blob', 100), deflateSync(Buffer.alloc(50 * 1024 * 1024))])
  const liar = Buffer.concat([entryHeader('blob', 2 ** 40), deflateSync('x')])
  const base = wholeEntry('blob', Buffer.from('base'))
  const huge = ofsEntry(base.length, Buffer.from([...deltaSize(4), ...deltaSize(2 ** 45), ...copy(0, 4)]))
  const self = refEntry(fakeOid(1), Buffer.from([...deltaSize(4), ...deltaSize(4), ...copy(0, 4)]))
  const pairs = [2, 3].map((of) => ({
    oid: fakeOid(of),
    bytes: refEntry(fakeOid(5 - of), Buffer.from([...deltaSize(4), ...deltaSize(4), ...copy(0, 4)])),
  }))
  const before = ofsEntry(2 ** 30, Buffer.from([4, 4, ...copy(0, 4)]))
  const entries: RawEntry[] = [
    { oid: oidOf('blob', Buffer.from('base')), bytes: base },
    { oid: fakeOid(4), bytes: huge },
    { oid: fakeOid(1), bytes: self },
    ...pairs,
    { oid: fakeOid(5), bytes: bomb },
    { oid: fakeOid(6), bytes: liar },
    { oid: fakeOid(7), bytes: before },
    { oid: fakeOid(8), bytes: refEntry(fakeOid(99), Buffer.from([4, 4, ...copy(0, 4)])) },
  ]
  const [good, ...others] = await askOurs(
    formatRawPack(entries),
    entries.map(({ oid }) => oid),
  )
  assert.deepEqual(good, Buffer.from('base'))
  assert.deepEqual(others, new Array(entries.length - 1).fill('left to git'))
})
