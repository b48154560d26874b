import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  assertFault,
  createSqlite,
  startTestApp,
  useApp,
  useInSuite,
  useRuns,
  worldOf,
} from '../testing/index.ts'

describe('runs where extensions are switched off', () => {
  const app = useApp(createSqlite, { TRELLIS_EXTENSIONS: 'off' })

  it('are not there, and neither are secrets', async () => {
    const { token } = await app.signUp('ana')
    await app.call('repos/create', { name: 'tools' }, { token })
    const calls: [string, object][] = [
      ['runs/dispatch', { name: 'tools', extension: 'a' }],
      ['runs/get', { id: 'run_1' }],
      ['runs/list', { name: 'tools' }],
      ['runs/logs', { id: 'run_1' }],
      ['runs/steps', { id: 'run_1' }],
      ['runs/cancel', { id: 'run_1' }],
      ['secrets/set', { name: 'tools', secret: 'A', value: 'b' }],
      ['secrets/list', { name: 'tools' }],
      ['secrets/delete', { name: 'tools', secret: 'A' }],
    ]
    for (const [path, input] of calls)
      assertFault(await app.call(path, input, { token }), 'FEATURE_UNAVAILABLE', { feature: 'extensions' })
    const { body } = await app.call('repos/overview', { name: 'tools' }, { token })
    const { extensions, records, daemons, lastRuns } = body
    assert.deepEqual([extensions, records, daemons, lastRuns], [null, null, null, []])
  })

  it('are told of as off by the start and by readiness, which they are no part of', async () => {
    const lines = [
      'worker and workflow and sandbox: TRELLIS_EXTENSIONS is off. To turn it on: TRELLIS_EXTENSIONS=on, then start again',
    ]
    const ready = await fetch(`${app.url}/readyz`)
    assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready', runtimesOff: lines }])
    assert.deepEqual(app.runtimesOff, lines)
  })
})

describe('a runtime that is switched off', () => {
  const world = useInSuite(async (made) => {
    const app = made.use(await startTestApp(made.use(await createSqlite()), { TRELLIS_SANDBOX: 'off' }))
    return worldOf(app, (await app.signUp('ana')).token)
  })

  it('is a feature that is not there, for those who ask for a run in it', async () => {
    await world.repo('tools', { boxed: { declares: { runtime: 'sandbox' }, does: '' } })
    const { items } = await world.ok('extensions/list', { name: 'tools' })
    assert.equal(items[0].dispatchable, false)
    const asked = await world.call('runs/dispatch', { name: 'tools', extension: 'boxed' })
    assertFault(asked, 'FEATURE_UNAVAILABLE', { feature: 'sandbox' })
    assert.match(world.app.runtimesOff.join(), /^sandbox: TRELLIS_SANDBOX is off/)
  })

  it('is measured no more, unlike the others', async () => {
    const text = await (await fetch(`${world.app.url}/metrics`)).text()
    for (const line of [
      'trellis_worker_processes 0',
      'trellis_worker_isolates 0',
      'trellis_worker_runs_waiting 0',
      'trellis_worker_process_starts_total{outcome="started"} 0',
      'trellis_worker_processes_killed_total 0',
    ])
      assert.ok(text.includes(line), line)
    assert.ok(!text.includes('trellis_sandbox'))
  })
})

describe('what is measured of runs', () => {
  const world = useRuns(createSqlite, { TRELLIS_METRICS_TOKEN: 'metrics'.repeat(4) })

  it('is how they ended, and what waits', async () => {
    await world.repo('tools', { good: { does: '' }, bad: { does: 'throw new Error("x")' } })
    await world.run('tools', 'good')
    await world.run('tools', 'bad')
    const headers = { authorization: `Bearer ${'metrics'.repeat(4)}` }
    const text = await (await fetch(`${world.app.url}/metrics`, { headers })).text()
    for (const line of [
      'trellis_runs_total{outcome="succeeded",runtime="worker"} 1',
      'trellis_runs_total{outcome="failed",runtime="worker"} 1',
      'trellis_runs_queued{lane="sandbox"} 0',
      'trellis_runs_queued{lane="worker"} 0',
      'trellis_runs_running 0',
      'trellis_runs_queued_oldest_seconds{lane="worker"} 0',
      'trellis_runs_sleeping 0',
    ])
      assert.ok(text.includes(line), line)
    const limits = await (await fetch(`${world.app.url}/limits`)).json()
    const { run, workflow, daemon, organization } = limits as Record<string, object>
    assert.deepEqual(run, {
      ...{ seconds: 30, memoryMb: 128, logBytes: 1048576, inputBytes: 1048576, outputBytes: 1048576 },
      ...{ calls: 100_000, causationDepth: 8, keptDays: 30 },
    })
    assert.deepEqual(workflow, {
      ...{ steps: 1000, stepBytes: 262_144, stepsBytes: 8_388_608, waitsPerRepository: 1000 },
    })
    assert.deepEqual([daemon, organization], [{ eventsPerWake: 100 }, { ...organization, runsQueued: 1000 }])
  })
})
