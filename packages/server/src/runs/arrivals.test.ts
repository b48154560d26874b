import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { StepAnswer } from '../runtime/ctx/steps.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { useInSuite } from '../testing/in-suite.ts'
import { createInProcessRuntime, onEachDatabase, startTestApp, worldOf } from '../testing/index.ts'
import { findRun } from './store.ts'

const WAITS = 3

/** Rings once more, when there is somebody to do it. */
let ring: (() => void) | undefined
Object.assign(globalThis, {
  untilRung: () =>
    new Promise<void>((resolve) => {
      ring = resolve
    }),
})
const RINGS = `
  for (let i = 0; i < ${WAITS}; i++) {
    await (globalThis as any).untilRung()
    await ctx.events.emit('bell.rung', {})
  }`

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
      rings: { declares: { capabilities: ['events:emit'] }, does: RINGS },
    })
    const { run } = await world.ok('runs/dispatch', { name: 'tools', extension: 'waits' })
    await world.ok('runs/dispatch', { name: 'tools', extension: 'rings' })
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
    const isEnded = async () => (await findRun(db, run.id))?.output === '"all"'
    await until(sleepsAt(0))
    // From here on nobody looks around for an hour. By the clock nothing has happened: a worker whose lease is an hour
    // ahead would not be believed, and what it holds would be taken from it.
    world.app.pass(-3_600_000)
    world.app.setClock(3_600_000)
    for (let step = 0; step < WAITS; step++) {
      await until(async () => ring !== undefined)
      ring?.()
      ring = undefined
      await until(step + 1 < WAITS ? sleepsAt(step + 1) : isEnded)
    }
  })
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const late = Date.now() + 20_000; !(await isSo()); await new Promise((next) => setTimeout(next, 5)))
    assert.ok(Date.now() < late, 'waited too long')
}
