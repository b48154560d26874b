import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestRepo } from '../../testing/git-repo.ts'
import { EMPTY_TREE_OID, type Oid } from '../names.ts'
import { listChangedPaths, listPathsOfTrees } from './changed-paths.ts'

const PATHS = 5

const files = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`dir/${i}.txt`, 'x']))

test('lists for several trees at once what git lists for each', async () => {
  using repo = createTestRepo()
  const treeOf = (content: Record<string, string>) =>
    repo.git(['rev-parse', `${repo.commit(content)}^{tree}`]) as Oid
  const plain = treeOf({ 'a.txt': 'a', 'dir/b.txt': 'b', 'dir-x': 'x', 'ü/ä': 'c' })
  const trees: Oid[] = [
    plain,
    EMPTY_TREE_OID,
    // Names that look like what git says between them.
    treeOf({ [`${EMPTY_TREE_OID} ${plain}\nA`]: 'x', 'A\nB': 'y', A: 'z' }),
    treeOf(files(PATHS)),
    treeOf(files(PATHS + 1)),
    plain,
  ]
  const listed = await listPathsOfTrees(repo.repo, trees, PATHS)
  assert.equal(listed.size, 5)
  for (const tree of trees)
    assert.deepEqual(
      listed.get(tree),
      await listChangedPaths(repo.repo, { from: EMPTY_TREE_OID, to: tree, maxPaths: PATHS }),
    )
  assert.deepEqual(await listPathsOfTrees(repo.repo, [], PATHS), new Map())
})

test('says nothing of what comes after a very long list', async () => {
  using repo = createTestRepo()
  const blob = repo.git(['hash-object', '-w', '--stdin'], 'x')
  const treeOf = (names: string[]) =>
    repo.git(['mktree'], names.map((name) => `100644 blob ${blob}\t${name}\n`).join('')) as Oid
  const long = treeOf(Array.from({ length: 9000 }, (_, i) => `${'long'.repeat(250)}${i}`))
  const [short, last] = [treeOf(['a']), treeOf(['b'])]
  const listed = await listPathsOfTrees(repo.repo, [short, long, last], PATHS)
  assert.deepEqual([...listed.keys()], [short, long])
  assert.equal(listed.get(long)?.pathsTruncated, true)
  // Nobody can say whether it was all.
  assert.deepEqual([...(await listPathsOfTrees(repo.repo, [short, long], 10_000)).keys()], [short])
})
