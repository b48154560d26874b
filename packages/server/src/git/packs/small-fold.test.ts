import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo } from '../../testing/git-repo.ts'
import { formatCommit, formatTree } from '../objects/format.ts'
import { createObjectSet, formatPack, writePack } from '../objects/pack-writer.ts'
import { foldSmallPacks } from './small-fold.ts'

const person = { name: 'Ann', email: 'ann@example.org', time: 1_700_000_000_000, timezone: '+0100' }

/** Packs of a commit each, as commits of one file leave them. */
async function packsOfCommits(count: number) {
  const packs = []
  for (let i = 0; i < count; i++) {
    const objects = createObjectSet()
    // Some are in several packs.
    const blob = objects.add('blob', Buffer.from(`${i % 7}\n`.repeat(i * 20)))
    const tree = objects.add(
      'tree',
      await formatTree([{ mode: '100644', type: 'blob', oid: blob, name: 'file' }]),
    )
    const commit = { tree, parents: [], author: person, committer: person, message: `${i}` }
    objects.add('commit', formatCommit(commit))
    packs.push(await formatPack(objects))
  }
  return packs
}

test('packs are folded into one that git finds sound, with all that was in them', async () => {
  using t = createTestRepo()
  const packs = await packsOfCommits(60)
  const folded = await foldSmallPacks(packs)
  assert.ok(folded)
  const quarantine = t.quarantine()
  await writePack(quarantine, folded)
  const packDir = join(quarantine, 'pack')
  t.adopt(packDir)
  const [idx] = readdirSync(packDir).filter((name) => name.endsWith('.idx'))
  t.git(['verify-pack', join(packDir, idx as string)])
  t.git(['fsck', '--full', '--strict'])
  const there = t.git(['cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)'])
  const wanted = packs.flatMap(({ entries }) => entries.map(({ oid, type }) => `${oid} ${type}`))
  assert.deepEqual(there.split('\n'), [...new Set(wanted)].sort())
  assert.equal(folded.objects, new Set(wanted).size)
  // What was folded can be folded again.
  const again = await foldSmallPacks([folded, ...(await packsOfCommits(3))])
  assert.equal(again?.objects, folded.objects)
})

test('packs with differences in them are for git', async () => {
  using t = createTestRepo()
  const text = 'a line of many\n'.repeat(100)
  const tip = t.commit({ file: `${text}more\n` }, t.commit({ file: text }))
  const name = t.git(['pack-objects', '--revs', '-q', join(t.root, 'delta')], `${tip}\n`)
  const [pack, idx] = ['pack', 'idx'].map((part) => readFileSync(join(t.root, `delta-${name}.${part}`)))
  assert.ok(pack && idx)
  assert.match(t.git(['verify-pack', '-v', join(t.root, `delta-${name}.idx`)]), /chain length = 1/)
  assert.equal(await foldSmallPacks([{ pack, idx }]), undefined)
})

test('packs in which any byte is another are for git', async () => {
  const [one, two] = await packsOfCommits(2)
  assert.ok(one && two)
  for (const part of ['pack', 'idx'] as const)
    for (let at = 0; at < one[part].length; at++) {
      const damaged: Buffer = Buffer.from(one[part])
      damaged[at] = (damaged[at] as number) ^ (1 << (at % 8))
      assert.equal(await foldSmallPacks([two, { ...one, [part]: damaged }]), undefined, `${part} at ${at}`)
    }
})

test('packs that end too early are for git', async () => {
  const [one] = await packsOfCommits(1)
  assert.ok(one)
  for (let length = 0; length < one.pack.length; length++)
    assert.equal(await foldSmallPacks([{ ...one, pack: one.pack.subarray(0, length) }]), undefined)
  for (let length = 0; length < one.idx.length; length += 7)
    assert.equal(await foldSmallPacks([{ ...one, idx: one.idx.subarray(0, length) }]), undefined)
})
