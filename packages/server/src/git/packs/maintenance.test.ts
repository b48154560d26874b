import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import type { Oid } from '../names.ts'
import { foldPacks, planFold, writeIndexes } from './maintenance.ts'

const sizes = (packs: { bytes: number }[]) => packs.map((pack) => pack.bytes)
const packs = (...bytes: number[]) => bytes.map((size) => ({ bytes: size }))

test('folds what breaks the geometric row and leaves what does not', () => {
  assert.deepEqual(planFold(packs()), [])
  assert.deepEqual(planFold(packs(100, 10, 1)), [])
  assert.deepEqual(sizes(planFold(packs(1000, 1, 1, 1, 1))), [1, 1, 1, 1])
  assert.deepEqual(sizes(planFold(packs(100, 60, 1, 1, 1, 1))), [1, 1, 1, 1, 60, 100])
  assert.deepEqual(planFold(packs(100, 1, 1)), [], 'two small ones are not worth it')
})

test('a plan always leaves a geometric row, few packs, and little rewriting', () => {
  let row: { bytes: number }[] = []
  let rewritten = 0
  let added = 0
  for (let i = 0; i < 3000; i++) {
    const size = 1 + ((i * 7919) % 100)
    added += size
    row.push({ bytes: size })
    const fold = planFold(row)
    const folded = sizes(fold).reduce((a, b) => a + b, 0)
    rewritten += folded
    if (fold.length > 0) row = [...row.filter((pack) => !fold.includes(pack)), { bytes: folded }]
    assert(row.length < 24, `${row.length} packs`)
  }
  assert(rewritten < added * 20, `${rewritten} of ${added}`)
})

/** Commits pushed one after the other, each in a pack of its own. */
function manyPacks(t: TestRepo, count: number): Oid {
  let tip: Oid | undefined
  for (let i = 0; i < count; i++) {
    const parents = tip ? [tip] : []
    tip = t.commit({ [`f${i}`]: `content ${i}\n`.repeat(30), log: `${i}\n` }, ...parents)
    t.git(['update-ref', 'refs/heads/main', tip])
    t.git(['repack', '-dq'])
  }
  assert(tip)
  return tip
}

const packDir = (t: TestRepo) => join(t.gitDir, 'objects/pack')
const packIds = (t: TestRepo) =>
  readdirSync(packDir(t))
    .filter((name) => name.endsWith('.pack'))
    .map((name) => name.slice(5, 45))
const bytesOf = (dir: string) =>
  readdirSync(dir).map((name) => [name, readFileSync(join(dir, name)).toString('latin1')])

test('a fold holds everything its packs held and touches none of them', async () => {
  using t = createTestRepo()
  const tip = manyPacks(t, 6)
  const unreachable = t.git(['hash-object', '-w', '--stdin'], 'reachable from nothing')
  execFileSync('git', ['pack-objects', '-q', join(packDir(t), 'pack')], {
    cwd: t.gitDir,
    input: `${unreachable}\n`,
  })
  t.git(['prune-packed'])
  const all = packIds(t)
  const fold = all.slice(0, 5)
  const keep = all.slice(5)
  const before = bytesOf(packDir(t))
  const scratch = t.quarantine()
  assert.equal(await foldPacks(t.repo, { fold, keep, scratch }), true)
  assert.deepEqual(bytesOf(packDir(t)), before)

  t.adopt(join(scratch, 'pack'))
  for (const id of fold) for (const end of ['pack', 'idx']) rmSync(join(packDir(t), `pack-${id}.${end}`))
  t.git(['fsck', '--full', '--strict'])
  assert.equal(t.git(['rev-list', '--count', tip]), '6')
  assert.equal(t.git(['cat-file', '-p', unreachable]), 'reachable from nothing')
  assert.equal(packIds(t).length, keep.length + 1)
})

test('a fold of what the kept packs hold makes no pack', async () => {
  using t = createTestRepo()
  manyPacks(t, 2)
  const small = packIds(t)
  t.git(['repack', '-aq'])
  const keep = packIds(t).filter((id) => !small.includes(id))
  assert.equal(await foldPacks(t.repo, { fold: small, keep, scratch: t.quarantine() }), false)
})

test('a fold that fails leaves nothing outside its scratch folder', async () => {
  using t = createTestRepo()
  manyPacks(t, 4)
  const fold = packIds(t)
  const damaged = join(packDir(t), `pack-${fold.at(-1)}.pack`)
  chmodSync(damaged, 0o600)
  const bytes = readFileSync(damaged)
  // The end of the last object, which is a file: git finds out when it has begun to write.
  writeFileSync(damaged, bytes.fill(0xff, bytes.length - 28, bytes.length - 20))
  const before = readdirSync(packDir(t))
  await assert.rejects(foldPacks(t.repo, { fold, keep: [], scratch: t.quarantine() }))
  assert.deepEqual(readdirSync(packDir(t)), before)
})

test('refuses ids that are no pack ids', async () => {
  using t = createTestRepo()
  const request = { fold: ['../x\n'], keep: [], scratch: t.quarantine() }
  await assert.rejects(foldPacks(t.repo, request), RangeError)
})

test('writes indexes that git uses and verifies', async () => {
  using t = createTestRepo()
  const tip = manyPacks(t, 4)
  t.git(['tag', '-a', '-m', 'm', 'v1', tip])
  t.git(['repack', '-dq'])
  const tag = t.git(['rev-parse', 'v1']) as Oid
  await writeIndexes(t.repo, [tip, tag], t.quarantine())
  const files = readdirSync(packDir(t))
  assert(files.includes('multi-pack-index'))
  assert(files.some((name) => /^multi-pack-index-.*\.bitmap$/.test(name)))
  assert(existsSync(join(t.gitDir, 'objects/info/commit-graph')))
  t.git(['multi-pack-index', 'verify'])
  t.git(['commit-graph', 'verify'])
  t.git(['rev-list', '--test-bitmap', tip])
  const inode = statSync(join(packDir(t), 'multi-pack-index')).ino
  manyPacks(t, 1)
  await writeIndexes(t.repo, [tip, tag], t.quarantine())
  assert.notEqual(statSync(join(packDir(t), 'multi-pack-index')).ino, inode)
  t.git(['fsck', '--full'])
})

test('works upon an empty set of tips', async () => {
  using t = createTestRepo()
  manyPacks(t, 1)
  await writeIndexes(t.repo, [], t.quarantine())
  t.git(['fsck', '--full'])
})
