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
      stuck: {
        declares: { runtime: 'workflow' },
        does: `
          const name = 'a', failed = { index: 0, name }
          await ctx.step.begin({ ...failed, kind: 'do', options: { retries: 1 } })
          await ctx.step.end({ ...failed, attempt: 1, error: { name: 'RangeError', message: 'too far' } })
          await ctx.step.end({ ...failed, attempt: 2, error: { message: 'x'.repeat(9_000) } })
          const event = { type: 'report.approved', subject: 'report/1', timeoutMs: 60_000 }
          await ctx.step.begin({ index: 1, name: 'approval', kind: 'waitForEvent', event })`,
      },
      tells: {
        declares: { runtime: 'workflow', capabilities: ['secret:TOKEN'] },
        does: `
          const token = ctx.secrets.TOKEN
          const failed = { index: 0, name: 'with ' + token }
          await ctx.step.begin({ ...failed, kind: 'do', options: {} })
          const { error } = await ctx.step.end({ ...failed, attempt: 1, error: { message: 'in ' + token } })
          if (error.message !== 'in ' + token || 'shown' in error) throw new Error('It is told something else')
          const event = { type: 'report.approved', subject: 'report/' + token }
          await ctx.step.begin({ index: 1, name: 'approval', kind: 'waitForEvent', event })
          return (await ctx.step.begin({ ...failed, kind: 'do', options: {} })).error.message === 'in ' + token`,
      },
      still: { does: `await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))` },
    })
  })

  it('gives each of the steps that end at once a place of its own', async () => {
    const run = await world.run('flows', 'together')
    assert.equal(run.error, null)
    assert.deepEqual((run.output as number[]).toSorted(), [1, 2, 3, 4, 5, 6])
    const { items } = await world.ok('runs/steps', { id: run.id })
    assert.equal(items.length, 6)
    const { begunAt, endedAt, ...second } = items[1]
    assert.deepEqual(second, {
      ...{ step: 1, name: 'step 1', kind: 'do', state: 'done', attempt: 1 },
      ...{ dueAt: null, waitsFor: null, error: null },
    })
    assert.ok(begunAt >= run.createdAt && endedAt >= begunAt)
  })

  it('tells what its steps are at', async () => {
    const { id } = await world.run('flows', 'stuck')
    const { items } = await world.ok('runs/steps', { id })
    const [failed, waits] = items
    assert.deepEqual([failed.state, failed.attempt], ['failed', 2])
    assert.match(failed.error, /^Error: x{2990,4000}…$/)
    assert.deepEqual([waits.state, waits.endedAt], ['waiting', null])
    assert.equal(waits.dueAt - waits.begunAt, 60_000)
    assert.deepEqual(waits.waitsFor, { type: 'report.approved', subject: 'report/1' })
  })

  it('shows no secret, whatever it keeps', async () => {
    await world.ok('secrets/set', { name: 'flows', secret: 'TOKEN', value: 'a long "secret"' })
    const { id, output, error } = await world.run('flows', 'tells')
    assert.deepEqual([output, error], [true, null])
    const [failed, waits] = (await world.ok('runs/steps', { id })).items
    assert.deepEqual([failed.name, failed.error], ['with ***', 'Error: in ***'])
    assert.deepEqual(waits.waitsFor, { type: 'report.approved', subject: 'report/***' })
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
