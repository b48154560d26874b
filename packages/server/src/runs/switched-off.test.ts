import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertFault, createSqlite, useApp, useRuns } from '../testing/index.ts'

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
      ['runs/cancel', { id: 'run_1' }],
      ['secrets/set', { name: 'tools', secret: 'A', value: 'b' }],
      ['secrets/list', { name: 'tools' }],
      ['secrets/delete', { name: 'tools', secret: 'A' }],
    ]
    for (const [path, input] of calls)
      assertFault(await app.call(path, input, { token }), 'FEATURE_UNAVAILABLE', { feature: 'extensions' })
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
    ])
      assert.ok(text.includes(line), line)
    const limits = await (await fetch(`${world.app.url}/limits`)).json()
    assert.deepEqual((limits as { run: object }).run, { seconds: 30, memoryMb: 128, logBytes: 1048576 })
  })
})
