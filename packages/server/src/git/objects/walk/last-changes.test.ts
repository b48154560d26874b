import assert from 'node:assert/strict'
import test from 'node:test'
import { path } from '../../../testing/git-repo.ts'
import { createDice, createRandomHistories, pick } from '../../../testing/random-histories.ts'
import type { Oid } from '../../names.ts'
import { withObjects } from '../reader.ts'
import { createLastChanges } from './last-changes.ts'
import { createReading } from './reading.ts'

const linesOf = (output: string) => output.split('\n').filter((line) => line !== '')

test('says of the files of any directory which commit changed them last, as git does', async () => {
  const dice = createDice(5)
  using repo = await createRandomHistories(dice, 25)
  let compared = 0
  await withObjects(repo.repo, async (objects) => {
    for (const commits of repo.histories) {
      const from = pick(dice, commits.slice(-4))
      for (const folder of [undefined, 'd', 'd/e']) {
        const walk = createLastChanges(from, folder ? path(folder) : undefined)
        await walk.advance(createReading(objects, { maxObjects: 10_000 }))
        assert.ok(walk.isOver)
        const listed = linesOf(repo.git(['ls-tree', from, ...(folder ? [`${folder}/`] : [])]))
        for (const line of listed) {
          const [, type, at = ''] = /^\d+ (\w+) \w+\t(.*)$/.exec(line) ?? []
          // Of directories without files git says nothing.
          if (type !== 'blob') continue
          const expected = repo.git(['--literal-pathspecs', 'log', '-1', '--format=%H', from, '--', at])
          assert.equal(walk.found.get(at.split('/').at(-1) ?? ''), expected, `${from} ${at}`)
          compared++
        }
      }
    }
  })
  assert.ok(compared > 20, `${compared}`)
})

test('goes as far as it may, and on from there', async () => {
  using repo = await createRandomHistories(createDice(1), 1)
  const first = repo.commit({ 'a/old': '0', b: '0' })
  const line = [first]
  for (let i = 1; i < 30; i++) line.push(repo.commit({ 'a/new': `${i}`, b: '0' }, line.at(-1) as Oid))
  const last = line.at(-1) as Oid
  await withObjects(repo.repo, async (objects) => {
    const walk = createLastChanges(last, undefined)
    await walk.advance(createReading(objects, { maxObjects: 10 }))
    assert.deepEqual([walk.isOver, walk.found], [false, new Map([['a', last]])])
    const gone = AbortSignal.abort(new Error('nobody waits'))
    await assert.rejects(
      walk.advance(createReading(objects, { maxObjects: 10, signal: gone })),
      /nobody waits/,
    )
    for (let i = 0; i < 10 && !walk.isOver; i++)
      await walk.advance(createReading(objects, { maxObjects: 10 }))
    assert.deepEqual(
      walk.found,
      new Map([
        ['a', last],
        ['b', first],
      ]),
    )
    const stuck = createLastChanges(last, undefined)
    await stuck.advance(createReading(objects, { maxObjects: 0 }))
    assert.deepEqual([stuck.isOver, stuck.found.size], [true, 0])
  })
})

test('weighs what the names do that it remembers', async () => {
  using repo = await createRandomHistories(createDice(1), 1)
  const sizeOf = (name: string) =>
    withObjects(repo.repo, async (objects) => {
      const walk = createLastChanges(repo.commit({ [name]: '0' }), undefined)
      await walk.advance(createReading(objects, { maxObjects: 10 }))
      return walk.size
    })
  assert.ok((await sizeOf('x'.repeat(2_000))) >= (await sizeOf('x')) + 1_999)
})
