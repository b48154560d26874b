import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import { countTurns } from '../../testing/turns.ts'
import type { Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import { type MergeRequest, mergeCommits, mergeTrees } from './merge.ts'

const ann = { name: 'Ann', email: 'ann@example.org', time: 1_700_000_000_000, timezone: '+0100' }

async function merge(t: TestRepo, ours: Oid, theirs: Oid, strategy: MergeRequest['strategy'] = 'merge') {
  const people = { author: ann, committer: ann }
  const objectsDir = t.quarantine()
  const result = await mergeCommits(t.repo, objectsDir, {
    ours,
    theirs,
    strategy,
    ...people,
    message: 'Merge',
  })
  const adopt = () => t.adopt(join(objectsDir, 'pack'))
  return { result, adopt }
}

const outcome = async (...how: Parameters<typeof merge>) => (await merge(...how)).result

/** Two sides that change different lines of one file and more. */
function twoSides(t: TestRepo) {
  const base = t.commit({ f: 'a\nb\nc\nd\ne\n', g: 'g\n', 'dir/h': 'h\n' })
  const ours = t.commit({ f: 'A\nb\nc\nd\ne\n', new: 'n' }, base)
  const theirs = t.commit({ f: 'a\nb\nc\nd\nE\n', g: undefined, 'dir/i': 'i' }, base)
  return { base, ours, theirs }
}

test('makes the merge that stock git makes', async () => {
  using t = createTestRepo()
  const { ours, theirs } = twoSides(t)
  const merged = await outcome(t, ours, theirs)
  assert(merged.outcome === 'merged')
  const tree = t.git(['merge-tree', '--write-tree', ours, theirs])
  const stock = t.git(['commit-tree', tree, '-p', ours, '-p', theirs], 'Merge\n')
  assert.equal(merged.commit, stock)
})

test('leaves the repository alone until the pack is taken', async () => {
  using t = createTestRepo()
  const { ours, theirs } = twoSides(t)
  const { result: merged, adopt } = await merge(t, ours, theirs)
  assert(merged.outcome === 'merged')
  assert.equal(
    existsSync(`${t.gitDir}/objects/${merged.commit.slice(0, 2)}/${merged.commit.slice(2)}`),
    false,
  )
  adopt()
  t.git(['update-ref', 'refs/heads/main', merged.commit])
  t.git(['fsck', '--strict'])
  assert.equal(t.git(['show', `${merged.commit}:f`]), 'A\nb\nc\nd\nE')
  assert.equal(t.git(['rev-parse', `${merged.commit}^1`, `${merged.commit}^2`]), `${ours}\n${theirs}`)
})

test('fast-forwards only when asked to and possible', async () => {
  using t = createTestRepo()
  const { base, ours, theirs } = twoSides(t)
  assert.deepEqual(await outcome(t, base, ours, 'fast-forward'), { outcome: 'fast-forward', commit: ours })
  const { result: always, adopt } = await merge(t, base, ours, 'merge')
  assert(always.outcome === 'merged')
  adopt()
  assert.equal(t.git(['rev-parse', `${always.commit}^{tree}`]), t.git(['rev-parse', `${ours}^{tree}`]))
  assert.equal((await outcome(t, ours, theirs, 'fast-forward')).outcome, 'merged')
})

test('has nothing to do when everything is already there', async () => {
  using t = createTestRepo()
  const { base, ours } = twoSides(t)
  assert.deepEqual(await outcome(t, ours, base), { outcome: 'up-to-date' })
  assert.deepEqual(await outcome(t, ours, ours), { outcome: 'up-to-date' })
  const same = t.commit({ f: 'A\nb\nc\nd\ne\n', new: 'n' }, base)
  assert.deepEqual(await outcome(t, same, t.commit({}, ours), 'squash'), { outcome: 'up-to-date' })
})

test('squashes into one commit with one parent', async () => {
  using t = createTestRepo()
  const { ours, theirs } = twoSides(t)
  const { result: squashed, adopt } = await merge(t, ours, t.commit({ more: 'm' }, theirs), 'squash')
  assert(squashed.outcome === 'merged')
  adopt()
  assert.equal(t.git(['log', '-1', '--format=%P', squashed.commit]), ours)
  assert.equal(t.git(['ls-tree', '--name-only', squashed.commit]), 'dir\nf\nmore\nnew')
})

test('gives conflicts as data, whatever the names', async () => {
  using t = createTestRepo()
  const odd = 'nl\n"ü\t'
  const base = t.commit({ [odd]: 'a\n', gone: 'g\n', renamed: 'r\n'.repeat(9) })
  const ours = t.commit(
    { [odd]: 'b\n', gone: 'changed\n', renamed: undefined, r1: 'r\n'.repeat(9), both: '1' },
    base,
  )
  const theirs = t.commit(
    { [odd]: 'c\n', gone: undefined, renamed: undefined, r2: 'r\n'.repeat(9), both: '2' },
    base,
  )
  const result = await outcome(t, ours, theirs)
  assert(result.outcome === 'conflict')
  const shown = result.conflicts.map(({ path, kinds }) => [path, kinds.join()])
  assert.deepEqual(
    new Set(shown.map((row) => JSON.stringify(row))),
    new Set([
      JSON.stringify(['both', 'contents']),
      JSON.stringify(['gone', 'modify/delete']),
      JSON.stringify([odd, 'contents']),
      JSON.stringify(['renamed', 'rename/rename']),
      JSON.stringify(['r1', 'rename/rename']),
      JSON.stringify(['r2', 'rename/rename']),
    ]),
  )
  assert.equal(result.truncated, false)
})

test('bounds the number of conflicts', async () => {
  using t = createTestRepo()
  const files = (text: string) => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, text]))
  const base = t.commit(files('a'))
  const result = await mergeCommits(t.repo, t.quarantine(), {
    ours: t.commit(files('b'), base),
    theirs: t.commit(files('c'), base),
    strategy: 'merge',
    author: ann,
    committer: ann,
    message: 'm',
    maxConflicts: 5,
  })
  assert(result.outcome === 'conflict')
  assert.deepEqual([result.conflicts.length, result.truncated], [5, true])
})

test('does not merge histories that share nothing', async () => {
  using t = createTestRepo()
  assert.deepEqual(await outcome(t, t.commit({ a: '1' }), t.commit({ b: '1' })), { outcome: 'unrelated' })
})

test('keeps the first of very many conflicts, and lets others in while it reads them', async () => {
  using t = createTestRepo()
  const stages = Array.from({ length: 100_000 }, (_, i) => `100644 ${'a'.repeat(40)} 1\tdir/file-${i}\0`)
  const messages = Array.from({ length: 100_000 }, (_, i) => `1\0dir/file-${i}\0CONFLICT (contents)\0text\0`)
  const stdout = Buffer.from(`${'b'.repeat(40)}\0${stages.join('')}\0${messages.join('')}`)
  using turns = countTurns()
  let before = 0
  const repo: OpenRepo = {
    ...t.repo,
    async run() {
      before = turns.count
      return { stdout, exitCode: 1, truncated: false }
    },
    with: () => repo,
  }
  const ends = { ours: 'c'.repeat(40) as Oid, theirs: 'd'.repeat(40) as Oid }
  const merged = await mergeTrees(repo, t.quarantine(), { ...ends, maxConflicts: 3 })
  assert.deepEqual(merged, {
    conflicts: [0, 1, 2].map((i) => ({ path: `dir/file-${i}`, kinds: ['contents'] })),
    truncated: true,
  })
  assert.ok(turns.count > before + 3, `${turns.count - before} turns`)
})
