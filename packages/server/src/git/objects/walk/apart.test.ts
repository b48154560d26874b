import assert from 'node:assert/strict'
import test from 'node:test'
import { createDice, createRandomHistories, pick } from '../../../testing/random-histories.ts'
import type { Oid } from '../../names.ts'
import { withObjects } from '../reader.ts'
import { countApart } from './apart.ts'

const linesOf = (output: string) => output.split('\n').filter((line) => line !== '')

test('counts what a base and many others have of each other, in one walk', async () => {
  const dice = createDice(3)
  using repo = await createRandomHistories(dice, 60)
  /** Whatever the dates say, this is what a commit reaches. */
  const reachedFrom = (oid: Oid) => new Set(linesOf(repo.git(['rev-list', oid])))
  const sorted = repo.histories.filter((commits) => {
    // Where a commit is older than its parent, one may stop too soon.
    const dated = linesOf(repo.git(['log', '--no-walk', '--format=%H %ct %P', ...commits]))
    const dates = new Map(dated.map((line) => [line.slice(0, 40), Number(line.split(' ')[1])]))
    return dated.every((line) => {
      const [oid = '', , ...parents] = line.split(' ')
      return parents.every((parent) => (dates.get(parent) ?? 0) <= (dates.get(oid) ?? 0))
    })
  })
  assert.ok(sorted.length > 15, `${sorted.length}`)

  await withObjects(repo.repo, async (objects) => {
    for (const commits of sorted) {
      const base = pick(dice, commits)
      const tips = [pick(dice, commits), pick(dice, commits), pick(dice, sorted.flat()), base]
      const found = await countApart(objects, { base, tips, maxCommits: 1000 })
      const ours = reachedFrom(base)
      for (const tip of tips) {
        const theirs = reachedFrom(tip)
        const expected = { ahead: theirs.difference(ours).size, behind: ours.difference(theirs).size }
        assert.deepEqual(found.get(tip), expected, `${base} ${tip}`)
      }
    }
  })
})

test('says nothing of those that are too far, and all of those that are near', async () => {
  using repo = await createRandomHistories(createDice(1), 1)
  const first = repo.commit({ a: '0' })
  const line = [first]
  for (let i = 1; i < 12; i++) line.push(repo.commit({ a: `${i}` }, line.at(-1) as Oid))
  const [base, far] = [line.at(-1) as Oid, first]
  const near = repo.commit({ b: '1' }, line.at(-2) as Oid)
  await withObjects(repo.repo, async (objects) => {
    const ask = (tips: Oid[], maxCommits: number) => countApart(objects, { base, tips, maxCommits })
    assert.deepEqual(
      await ask([near, far], 20),
      new Map([
        [near, { ahead: 1, behind: 1 }],
        [far, { ahead: 0, behind: 11 }],
      ]),
    )
    assert.deepEqual(await ask([near, far], 6), new Map([[near, { ahead: 1, behind: 1 }]]))
    assert.deepEqual(await ask([near, far], 0), new Map())
    const signal = AbortSignal.abort(new Error('nobody waits'))
    await assert.rejects(countApart(objects, { base, tips: [far], maxCommits: 20, signal }), /nobody waits/)
  })
})
