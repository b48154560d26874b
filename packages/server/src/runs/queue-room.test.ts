import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '../runtime/runtime.ts'
import { useInSuite } from '../testing/in-suite.ts'
import {
  assertFault,
  createInProcessRuntime,
  filesOf,
  onEachDatabase,
  registerAgent,
  startTestApp,
  worldOf,
} from '../testing/index.ts'

const MOST = 20

/** A workflow that sleeps for as long as it may. */
const sleeper: Runtime = {
  async run(_job, host, signal) {
    await host.call('step.begin', [{ index: 0, name: 'nap', kind: 'sleep', ms: 3_600_000 }], signal)
    return { kind: 'suspended' }
  },
  close: async () => {},
}

onEachDatabase('runs that have not ended', (create) => {
  const settings = { TRELLIS_ORG_MAX_UNENDED: String(MOST) }
  const world = useInSuite(async (made) => {
    const database = made.use(await create())
    const runtimes = { worker: createInProcessRuntime(), workflow: sleeper }
    const app = made.use(await startTestApp(database, settings, { runtimes }))
    return worldOf(app, (await app.signUp('ana')).token)
  })
  const extensions = { sleeps: { declares: { runtime: 'workflow' }, does: '' } }
  const asked = { name: 'tools', extension: 'sleeps', ref: 'main' }

  async function areAsleep(count: number): Promise<void> {
    const asleep = () =>
      world.app.database.db
        .selectFrom('runs')
        .select('id')
        .where('due_at', 'is not', null)
        .where('worker_id', 'is', null)
        .execute()
    while ((await asleep()).length < count) await sleep(5)
  }

  it('are so many of an organization, also where they sleep, and those beyond are rejected', async () => {
    await world.repo('tools', extensions)
    const ids: string[] = []
    for (let i = 0; i < MOST; i++) ids.push((await world.ok('runs/dispatch', asked)).run.id)
    await areAsleep(MOST)
    assertFault(await world.call('runs/dispatch', asked), 'RUN_REJECTED', { reason: 'queue_full' })
    await world.ok('runs/cancel', { id: ids[0] })
    await world.ok('runs/dispatch', asked)
    assertFault(await world.call('runs/dispatch', asked), 'RUN_REJECTED', { reason: 'queue_full' })
  })

  it('are a tenth of that of an organization that nobody has claimed', async () => {
    const agent = worldOf(world.app, (await registerAgent(world.app)).token)
    await agent.ok('repos/create', { name: 'tools' })
    await agent.commit('tools', filesOf(extensions))
    for (let i = 0; i < MOST / 10; i++) await agent.ok('runs/dispatch', asked)
    assertFault(await agent.call('runs/dispatch', asked), 'RUN_REJECTED', { reason: 'queue_full' })
  })
})
