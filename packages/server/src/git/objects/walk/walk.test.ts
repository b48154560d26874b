import assert from 'node:assert/strict'
import test from 'node:test'
import { path } from '../../../testing/git-repo.ts'
import { createDice, createRandomHistories, PATHS, pick } from '../../../testing/random-histories.ts'
import { withObjects } from '../reader.ts'
import { createHistoryWalk } from './history-walk.ts'
import { createReading } from './reading.ts'
import { createWalks } from './walks.ts'

/** More of them find more: WALK_HISTORIES=500 WALK_SEED=7 takes a minute or two. */
const HISTORIES = Number(process.env.WALK_HISTORIES ?? 15)
const SEED = Number(process.env.WALK_SEED ?? 1)

const oidsOf = (output: string) => output.split('\n').filter((line) => line !== '')

test('says of any history what git says', async (t) => {
  const dice = createDice(SEED)
  using repo = await createRandomHistories(dice, HISTORIES)
  /** Git says no with 1. */
  const ask = (...args: string[]) => {
    try {
      return { said: repo.git(args), yes: true }
    } catch {
      return { said: '', yes: false }
    }
  }
  const two = repo.histories.map((commits) => [pick(dice, commits), pick(dice, commits)] as const)
  // Of different histories.
  two.push([pick(dice, repo.histories.flat()), pick(dice, repo.histories.flat())])

  await withObjects(repo.repo, async (objects) => {
    const reading = createReading(objects, { maxObjects: Infinity })

    await t.test('lists, page by page', async () => {
      for (const commits of repo.histories) {
        const from = pick(dice, [commits.at(-1) ?? commits[0], pick(dice, commits)])
        assert(from)
        const expected = oidsOf(repo.git(['rev-list', from]))
        const walk = createHistoryWalk(from, undefined)
        for (let count = 0; count < expected.length; ) {
          count += 1 + dice(4)
          await walk.advance(reading, count)
          assert.deepEqual(walk.listed, expected.slice(0, count), from)
        }
        await walk.advance(reading, Infinity)
        assert.deepEqual([walk.isOver, walk.listed.length], [true, expected.length])
      }
    })

    await t.test('lists of a path', async () => {
      for (const commits of repo.histories)
        for (const [from, asked] of [
          [commits.at(-1), pick(dice, PATHS)],
          [commits.at(-1), pick(dice, PATHS)],
          [pick(dice, commits), pick(dice, PATHS)],
        ] as const) {
          assert(from)
          const walk = createHistoryWalk(from, path(asked))
          await walk.advance(reading, Infinity)
          const expected = repo.git(['--literal-pathspecs', 'rev-list', from, '--', asked])
          assert.deepEqual(walk.listed, oidsOf(expected), `${from} ${asked}`)
        }
    })

    const walks = createWalks(objects)
    await t.test('ancestors and merge bases', async () => {
      for (const [a, b] of two) {
        const { yes } = ask('merge-base', '--is-ancestor', a, b)
        assert.equal(await walks.isAncestor(a, b), yes, `${a} ${b}`)
        const { said } = ask('merge-base', '--all', a, b)
        assert.deepEqual(await walks.findMergeBases(a, b), oidsOf(said), `${a} ${b}`)
      }
    })

    await t.test('what one has and another has not', async () => {
      for (const [a, b] of two) {
        const { said } = ask('rev-list', b, `^${a}`)
        assert.deepEqual(await walks.listBetween(a, b), oidsOf(said), `${a} ${b}`)
        const [behind, ahead] = ask('rev-list', '--left-right', '--count', `${a}...${b}`).said.split('\t')
        const counted = { ahead: Number(ahead), behind: Number(behind) }
        assert.deepEqual(await walks.countAheadBehind(a, b), counted, `${a} ${b}`)
      }
    })
  })
})
