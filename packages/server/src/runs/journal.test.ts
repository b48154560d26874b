import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onEachDatabase, useRuns } from '../testing/index.ts'
import { listHeld } from './store.ts'

onEachDatabase('the journal of a workflow', (create) => {
  const world = useRuns(create)

  before(async () => {
    await world.repo('flows', {
      together: {
        declares: { runtime: 'workflow' },
        does: `
          const steps = Array.from({ length: 6 }, (_, index) => ({ index, name: 'step ' + index }))
          for (const step of steps) await ctx.step.begin({ ...step, kind: 'do', options: {} })
          const ends = await Promise.all(steps.map((step) => ctx.step.end({ ...step, attempt: 1 })))
          return ends.map(({ order }: any) => order)`,
      },
      still: { does: `await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))` },
    })
  })

  it('gives each of the steps that end at once a place of its own', async () => {
    const run = await world.run('flows', 'together')
    assert.equal(run.error, null)
    assert.deepEqual((run.output as number[]).toSorted(), [1, 2, 3, 4, 5, 6])
  })

  it('is written by nobody from whom the run is taken in the same moment', async () => {
    const { run } = await world.ok('runs/dispatch', { name: 'flows', extension: 'still' })
    const { database } = world.app
    const find = () => database.db.selectFrom('runs').selectAll().where('id', '=', run.id).executeTakeFirst()
    while (!(await find())?.worker_id) await sleep(5)
    const workerId = (await find())?.worker_id ?? ''
    const worker = { ids: [run.id], workerId }
    const begun = Promise.withResolvers<void>()
    let isTaken = false
    const take = async () => {
      await begun.promise
      await database.transact((tx) =>
        tx.updateTable('runs').set({ worker_id: 'another' }).where('id', '=', run.id).execute(),
      )
      isTaken = true
    }
    const taken = take()
    await database.transact(async (tx) => {
      assert.equal((await listHeld(tx, database.dialect, worker)).size, 1)
      begun.resolve()
      await sleep(50)
      assert.equal(isTaken, false)
    })
    await taken
    await database.transact(async (tx) =>
      assert.equal((await listHeld(tx, database.dialect, worker)).size, 0),
    )
  })
})
