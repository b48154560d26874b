import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { StepAnswer } from '../runtime/ctx/steps.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { useInSuite } from '../testing/in-suite.ts'
import { createInProcessRuntime, onEachDatabase, startTestApp, worldOf } from '../testing/index.ts'

const WAITS = 6

/** A workflow that waits for one event after the other. */
const waiter: Runtime = {
  async run(_job, host, signal) {
    for (let index = 0; index < WAITS; index++) {
      const step = { index, name: `wait ${index}`, kind: 'waitForEvent', event: { type: 'bell.rung' } }
      const { is } = (await host.call('step.begin', [step], signal)) as StepAnswer
      if (is !== 'done') return { kind: 'suspended' }
    }
    return { kind: 'returned', output: 'all' }
  },
  close: async () => {},
}

onEachDatabase('a workflow that waits for an event', (create) => {
  const world = useInSuite(async (made) => {
    const database = made.use(await create())
    const runtimes = { worker: createInProcessRuntime(), workflow: waiter }
    const app = made.use(await startTestApp(database, {}, { runtimes }))
    return worldOf(app, (await app.signUp('ana')).token)
  })

  it('goes on when it happens, and not when somebody looks next', async () => {
    await world.repo('tools', {
      waits: { declares: { runtime: 'workflow' }, does: '' },
      rings: { declares: { capabilities: ['events:emit'] }, does: "await ctx.events.emit('bell.rung', {})" },
    })
    const { run } = await world.ok('runs/dispatch', { name: 'tools', extension: 'waits' })
    const { db } = world.app.database
    const sleepsAt = (step: number) => async () => {
      const rows = await db
        .selectFrom('run_steps')
        .innerJoin('runs', 'runs.id', 'run_steps.run_id')
        .select('step')
        .where('run_id', '=', run.id)
        .where('state', '=', 'waiting')
        .where('worker_id', 'is', null)
        .where('runs.ready', '=', 0)
        .execute()
      return rows.some((row) => row.step === step)
    }
    const took: number[] = []
    for (let step = 0; step < WAITS; step++) {
      await until(sleepsAt(step))
      const rung = performance.now()
      await world.run('tools', 'rings')
      if (step + 1 < WAITS) await until(sleepsAt(step + 1))
      took.push(performance.now() - rung)
    }
    assert.equal((await world.ended(run.id)).output, 'all')
    // Those who look do so once a second: right after one look the next would be that far away, every time.
    assert.ok(Math.min(...took.slice(1, -1)) < 800, took.map(Math.round).join())
  })
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const late = Date.now() + 20_000; !(await isSo()); await new Promise((next) => setTimeout(next, 5)))
    assert.ok(Date.now() < late, 'waited too long')
}
