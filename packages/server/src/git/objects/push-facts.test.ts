import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestRepo, oid, type TestRepo } from '../../testing/git-repo.ts'
import type { Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import {
  describeTips,
  describeUpdates,
  describeUpdatesIn,
  gatherFacts,
  gatherShared,
  readFacts,
  type TipReader,
} from './push-facts.ts'
import { withObjects } from './reader.ts'

let repo: TestRepo
let first: Oid
let second: Oid
let third: Oid
before(() => {
  repo = createTestRepo()
  first = repo.commit({ 'a.txt': 'a', 'dir/b.txt': 'b' })
  second = repo.commit({ 'a.txt': 'changed' }, first)
  third = repo.commit({ 'dir/b.txt': undefined, 'dir/ü.txt': 'b' }, second)
  repo.git(['update-ref', 'refs/heads/main', second])
})
after(() => repo[Symbol.dispose]())

test('knows what each tip is and where tags lead', async () => {
  const blob = oid(repo.git(['hash-object', '-w', '--stdin'], 'x'))
  repo.git(['tag', '-a', '-m', 'one', 'one', first])
  repo.git(['-c', 'advice.nestedTag=false', 'tag', '-a', '-m', 'two', 'two', 'one'])
  const two = oid(repo.git(['rev-parse', 'two']))
  const missing = oid('d'.repeat(40))
  const describe = (oids: Oid[]) => withObjects(repo.repo, (objects) => describeTips(objects, oids))
  const tips = await describe([first, two, blob, missing, first])
  assert.deepEqual(Object.fromEntries(tips), {
    [first]: { type: 'commit', peeled: null },
    [two]: { type: 'tag', peeled: first },
    [blob]: { type: 'blob', peeled: null },
  })
  assert.equal((await describe([])).size, 0)
})

test('a fast-forward counts its commits and names both ends of a rename', async () => {
  assert.deepEqual(await gatherFacts(repo.repo, { before: first, after: third }), {
    fastForward: true,
    commitCount: 2,
    changedPaths: ['a.txt', 'dir/b.txt', 'dir/ü.txt'],
    pathsTruncated: false,
  })
})

test('a forced update is no fast-forward', async () => {
  const sibling = repo.commit({ 'c.txt': 'c' }, first)
  const facts = await gatherFacts(repo.repo, { before: third, after: sibling })
  assert.equal(facts.fastForward, false)
  assert.equal(facts.commitCount, 1)
  assert.deepEqual(facts.changedPaths, ['a.txt', 'c.txt', 'dir/b.txt', 'dir/ü.txt'])
})

test('a new branch is compared with where it left the base, or with nothing', async () => {
  const facts = await gatherFacts(repo.repo, { before: null, after: third }, { base: second })
  assert.deepEqual([facts.fastForward, facts.commitCount], [true, 1])
  assert.deepEqual(facts.changedPaths, ['dir/b.txt', 'dir/ü.txt'])
  const unrelated = repo.commit({ 'x.txt': 'x' })
  const whole = await gatherFacts(repo.repo, { before: null, after: unrelated }, { base: second })
  assert.deepEqual([whole.commitCount, whole.changedPaths], [1, ['x.txt']])
})

test('a long list of paths is cut and says so', async () => {
  const facts = await gatherFacts(repo.repo, { before: first, after: third }, { maxPaths: 2 })
  assert.deepEqual([facts.changedPaths, facts.pathsTruncated], [['a.txt', 'dir/b.txt'], true])
})

test('what a ref is moved to is understood from its objects, with the same result', async () => {
  const read = (before: Oid, after: Oid) =>
    withObjects(repo.repo, (objects) => readFacts(objects, { before, after }))
  const both = async (before: Oid, after: Oid) => {
    const facts = await read(before, after)
    assert.ok(facts)
    assert.deepEqual(facts, await gatherFacts(repo.repo, { before, after }))
  }
  await both(first, third)
  const aside = repo.commit({ 'c.txt': 'c' }, first)
  await both(third, aside)
  await both(third, first)
  const merged = repo.commit({}, third, aside)
  assert.equal(await read(third, merged), undefined)
})

/** What one process found out. New branches are held against `base`, which has all there is unless told otherwise. */
const describe = (
  update: { before: Oid | null; after: Oid },
  base: Oid | null = null,
  isAllInBase = true,
  { repo: opened } = repo,
) =>
  describeUpdatesIn(opened, {
    oids: [update.after],
    updates: [update],
    surroundings: { base, isNew: () => isAllInBase },
  })

/** Undefined when it leaves it to the others. */
const read = async (before: Oid | null, after: Oid, base?: Oid | null, isAllInBase?: boolean) => {
  const update = { before, after }
  return (await describe(update, base, isAllInBase)).facts.get(update)
}

test('a straight move is understood from its objects, with the same result', async () => {
  const steps: Record<string, string | undefined>[] = [
    { 'dir/b.txt': 'new', 'dir.txt': '1', 'dir-x/a': '2', 'dir/deep/er/c': '3', 'dir/ü': '4' },
    // A directory becomes a file, and a file a directory.
    { 'dir/deep/er/c': undefined, 'dir/deep/er': 'file', 'dir.txt': undefined, 'dir.txt/now': 'x' },
    { 'dir-x/a': undefined, 'a.txt': undefined, '\u{10FFFF}': 'x', '\uFFFD': 'y' },
    {},
    { 'dir/deep/er': undefined },
  ]
  let tip = first
  for (const step of steps) {
    const next = repo.commit(step, tip)
    for (const start of [tip, first])
      assert.deepEqual(await read(start, next), await gatherFacts(repo.repo, { before: start, after: next }))
    tip = next
  }
  const executable = repo.git(['mktree'], repo.git(['ls-tree', tip]).replace('100644', '100755'))
  const changed = oid(repo.git(['commit-tree', executable, '-p', tip, '-m', 'mode']))
  assert.deepEqual(await read(tip, changed), await gatherFacts(repo.repo, { before: tip, after: changed }))
})

test('a new branch straight ahead of the default one, or of nothing, is understood as well', async () => {
  // `main` is all there is, and at the second.
  for (const after of [second, third, repo.commit({ 'dir/more': 'x' }, third)])
    assert.deepEqual(
      await read(null, after, second),
      await gatherFacts(repo.repo, { before: null, after }, { base: second }),
    )
  using bare = createTestRepo()
  const root = bare.commit({ 'a.txt': 'a', 'dir/b.txt': 'b' })
  for (const update of [
    { before: null, after: root },
    { before: null, after: bare.commit({ 'a.txt': 'b' }, root) },
  ])
    assert.deepEqual(
      (await describe(update, null, true, bare)).facts.get(update),
      await gatherFacts(bare.repo, update),
    )
})

test('a branch that takes back a few commits is understood as well, with others in their place or none', async () => {
  const merged = repo.commit({ 'a.txt': 'merged' }, third, repo.commit({ 'c.txt': 'c' }, first))
  const amended = repo.commit({ 'dir/b.txt': 'amended' }, second)
  const further = repo.commit({ 'dir/b.txt': 'further', 'a.txt': undefined }, amended)
  const onMerged = [repo.commit({ x: '1' }, merged), repo.commit({ x: '2' }, merged)] as const
  const ways: [before: Oid, after: Oid][] = [
    [third, amended],
    [amended, third],
    [third, further],
    [further, third],
    [further, first],
    [further, repo.commit({ 'b.txt': 'other' }, first)],
    [...onMerged],
    [onMerged[0], merged],
  ]
  for (const [before, after] of ways) {
    const facts = await gatherFacts(repo.repo, { before, after })
    assert.equal(facts.fastForward, false)
    assert.deepEqual(await read(before, after), facts)
  }
})

test('what is not a straight move, or a large one, is left to git', async () => {
  const sibling = repo.commit({ 'c.txt': 'c' }, first)
  const merge = repo.commit({}, third, sibling)
  assert.equal(await read(third, merge), undefined)
  assert.equal(await read(sibling, merge), undefined)
  assert.equal(await read(merge, sibling), undefined)
  assert.equal(await read(third, repo.commit({ 'c.txt': 'c' })), undefined)
  assert.equal(await read(null, third, second, false), undefined)
  assert.equal(await read(null, sibling, second), undefined)
  assert.equal(await read(oid('d'.repeat(40)), third), undefined)
  const wide = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`wide-${i}/a`, 'x']))
  assert.equal(await read(first, repo.commit(wide, first)), undefined)
  let far = first
  for (let i = 0; i < 25; i++) far = repo.commit({ 'a.txt': String(i) }, far)
  assert.equal(await read(first, far), undefined)
  assert.equal(await read(far, first), undefined)
})

/** Of branches that all move so, with how many trees were read for it. */
const describeAll = (updates: { before: Oid | null; after: Oid }[]) =>
  withObjects(repo.repo, async (objects) => {
    let trees = 0
    const findTree: TipReader['findTree'] = (tree) => {
      trees++
      return objects.findTree(tree)
    }
    const { facts } = await describeUpdates(
      { ...objects, findTree },
      {
        oids: updates.map(({ after }) => after),
        updates,
        surroundings: { base: null, isNew: () => false },
      },
    )
    return { facts, trees }
  })

test('of branches that move in the same way the same is said, and looked at once', async () => {
  const updates = Array.from({ length: 20 }, () => ({ before: first, after: third }))
  const { facts, trees } = await describeAll(updates)
  assert.equal(trees, (await describeAll(updates.slice(0, 1))).trees)
  const expected = await gatherFacts(repo.repo, { before: first, after: third })
  for (const update of updates) assert.deepEqual(facts.get(update), expected)
})

test('much to look at is left to git, however it is spread over branches', async () => {
  const blob = repo.git(['hash-object', '-w', '--stdin'], 'x')
  const names = Array.from({ length: 60_000 }, (_, i) => `100644 blob ${blob}\t${i}\n`)
  const made: Oid[] = []
  for (let i = 0; i < 6; i++) {
    const tree = repo.git(['mktree'], names.slice(i).join(''))
    made.push(oid(repo.git(['commit-tree', tree, ...made.slice(-1).flatMap((p) => ['-p', p]), '-m', 'x'])))
  }
  const updates = made.slice(1).map((after, i) => ({ before: made[i] as Oid, after }))
  const { facts, trees } = await describeAll(updates)
  assert.deepEqual(facts.get(updates[0] as (typeof updates)[0])?.changedPaths, ['0'])
  assert.deepEqual([facts.size, trees], [2, 4])
})

test('where one new branch is long, its siblings are left to git, which is told their trees', async () => {
  using bare = createTestRepo()
  const short = bare.commit({ 'a.txt': 'a' })
  let long = short
  for (let i = 0; i < 25; i++) long = bare.commit({ 'a.txt': String(i) }, long)
  const updates = [long, short].map((after) => ({ before: null, after }))
  const describing = (some: typeof updates) =>
    describeUpdatesIn(bare.repo, {
      oids: [long, short],
      updates: some,
      surroundings: { base: null, isNew: () => true },
    })
  const described = await describing(updates)
  assert.equal(described.facts.size, 0)
  const treeOf = (tip: Oid) => bare.git(['rev-parse', `${tip}^{tree}`]) as Oid
  assert.deepEqual(
    [...described.trees],
    [long, short].map((tip) => [tip, treeOf(tip)]),
  )
  assert.equal((await describing(updates.toReversed())).facts.size, 1)

  const shared = await gatherShared(bare.repo, [long, short], described.trees)
  for (const update of updates)
    assert.deepEqual(
      await gatherFacts(bare.repo, update, { known: shared }),
      await gatherFacts(bare.repo, update),
    )
  assert.deepEqual([...shared.paths.keys()], [long, short])
})

test('a straight move is whole only when all that each commit adds is there', async () => {
  const isWhole = async (before: Oid | null, after: Oid) =>
    (await describe({ before, after })).whole.has(after)
  const commitOf = (listing: string, parent: Oid) =>
    oid(repo.git(['commit-tree', repo.git(['mktree', '--missing'], listing), '-p', parent, '-m', 'x']))
  const listing = repo.git(['ls-tree', first])
  const missing = 'd'.repeat(40)

  const good = repo.commit({ 'dir/new/file': 'new', 'a.txt': undefined }, first)
  const better = repo.commit({ 'dir/new/file': 'newer' }, good)
  assert.deepEqual([await isWhole(first, good), await isWhole(first, better)], [true, true])
  // A submodule's commit is somewhere else.
  assert.equal(await isWhole(first, commitOf(`${listing}\n160000 commit ${missing}\tmodule`, first)), true)

  // Ahead of nothing.
  const alone = (listed: string) =>
    oid(repo.git(['commit-tree', repo.git(['mktree', '--missing'], listed), '-m', 'x']))
  assert.equal(await isWhole(null, alone(listing)), true)
  assert.equal(await isWhole(null, alone(`${listing}\n100644 blob ${missing}\tgone`)), false)

  const withoutBlob = commitOf(`${listing}\n100644 blob ${missing}\tgone`, first)
  assert.equal(await isWhole(first, withoutBlob), false)
  assert.equal(await isWhole(first, commitOf(`${listing}\n040000 tree ${missing}\tgone`, first)), false)
  // What is missing in between is missing, though the tip does without it.
  const mended = commitOf(listing, withoutBlob)
  assert.equal(await isWhole(first, mended), false)
  assert.equal(await isWhole(withoutBlob, mended), true)

  // In the place of others.
  assert.deepEqual([await isWhole(third, good), await isWhole(third, better)], [true, true])
  assert.equal(await isWhole(better, first), true)
  assert.deepEqual([await isWhole(third, withoutBlob), await isWhole(third, mended)], [false, false])
})

test('no process waits for a pack that is still being taken', async () => {
  let started = 0
  const opened: OpenRepo = {
    ...repo.repo,
    start(command) {
      started++
      return repo.repo.start(command)
    },
  }
  const there = Promise.withResolvers<void>()
  const surroundings = { base: null, isNew: () => false }
  const describing = describeUpdatesIn(opened, {
    oids: [third],
    updates: [],
    surroundings,
    there: there.promise,
  })
  await new Promise(setImmediate)
  assert.equal(started, 0)
  there.resolve()
  assert.equal((await describing).tips.get(third)?.type, 'commit')
  assert.equal(started, 1)
})
