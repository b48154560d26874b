import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestRepo } from '../../testing/git-repo.ts'
import type { Oid } from '../names.ts'
import { countNewCommits } from './new-commits.ts'

test('counts for several tips at once what git counts for each', async () => {
  using repo = createTestRepo()
  const known = repo.commit({ a: '1' })
  repo.git(['update-ref', 'refs/heads/main', known])
  const one = repo.commit({ a: '2' }, known)
  const two = repo.commit({ a: '3' }, one)
  const side = repo.commit({ b: '1' }, one)
  const merge = repo.commit({}, two, side)
  const root = repo.commit({ c: '1' })
  const tips: Oid[] = [known, one, two, side, merge, root, repo.commit({}, merge, root), one]
  const counts = await countNewCommits(repo.repo, tips)
  for (const tip of tips) {
    const alone = Number(repo.git(['rev-list', '--count', tip, '--not', '--all']))
    assert.equal(counts.get(tip), alone)
    assert.equal((await countNewCommits(repo.repo, [tip])).get(tip), alone)
  }
})
