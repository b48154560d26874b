import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Daemon, Run } from '@trellis/contract'
import {
  assertFault,
  createInProcessRuntime,
  filesOf,
  onEachDatabase,
  startTestApp,
  useRuns,
  worldOf,
} from '../testing/index.ts'

const MINUTE = 60_000

/** What the modules of these tests wait for, and whether they fail. */
const gates = new Map<string, PromiseWithResolvers<void>>()
const gateOf = (name: string) => {
  const gate = gates.get(name) ?? Promise.withResolvers<void>()
  gates.set(name, gate)
  return gate
}
const broken = new Set<string>()
Object.assign(globalThis, {
  atDaemonGate: (name: string) => gateOf(name).promise,
  isDaemonBroken: (name: string) => broken.has(name),
})
const FAILS = `if ((globalThis as any).isDaemonBroken(ctx.run.repo.name)) throw new Error('broken')`

onEachDatabase('daemons', (create) => {
  // The clock is moved by more than a worker may be silent.
  const world = useRuns(create, { TRELLIS_RUN_LEASE_SECONDS: '3600' })
  before(() => gates.clear())
  const daemonOf = async (name: string): Promise<Daemon> =>
    (await world.ok('daemons/list', { name })).items[0]
  const typesOf = async (name: string, types: string[]) =>
    (await world.ok('events/list', { name, types, limit: 250 })).items.map(
      ({ type, payload }: { type: string; payload: { why?: string; reason?: string } }) =>
        [type, payload.why ?? payload.reason].filter(Boolean).join(' '),
    )
  const daemonEvents = (name: string) =>
    typesOf(name, ['daemon.woken', 'daemon.quarantined', 'daemon.resumed'])
  const wakes = (name: string, count: number) => world.runsOf(name, count)
  const inputs = (runs: Run[]) =>
    runs.map(({ input }) => {
      const { reason, events } = input as { reason: string; events: { payload: { n: number } }[] }
      return [reason, ...events.map(({ payload }) => payload?.n)].join(' ')
    })
  const until = async (isSo: () => Promise<boolean>) => {
    for (const late = Date.now() + 120_000; !(await isSo()); await sleep(10))
      assert.ok(Date.now() < late, 'waited too long')
  }
  /** Lets time pass, and has somebody look what is due then. */
  const pass = async (ms: number) => {
    world.app.pass(ms)
    await world.app.background.run('misdated daemons')
  }
  const EMITS = {
    declares: { capabilities: ['events:emit'] },
    does: 'for (const n of input.n ?? []) await ctx.events.emit(input.type ?? "x.y", { payload: { n } })',
  }
  const emit = (name: string, n: number[], type = 'x.y') => world.run(name, 'emits', { n, type })
  const settled = (name: string, outcome: string) =>
    until(async () => (await daemonOf(name)).lastWakeOutcome === outcome)

  it('are woken by the clock, once for all ticks that were missed', async () => {
    await world.repo('clock', {
      cron: {
        declares: { capabilities: ['repo:read'], daemon: { scheduleIntervalMinutes: 5 } },
        does: 'return input',
      },
    })
    const { canonicalCommitSha, daemons, items } = await world.ok('extensions/list', { name: 'clock' })
    const fresh = await daemonOf('clock')
    assert.deepEqual(daemons, [fresh])
    assert.ok(Math.abs((fresh.nextWakeAt ?? 0) - world.app.now() - 5 * MINUTE) < MINUTE)
    assert.deepEqual(fresh, {
      name: 'cron',
      canonicalSha: canonicalCommitSha,
      moduleHash: items[0].moduleHash,
      descriptorHash: items[0].descriptorHash,
      scheduleIntervalMinutes: 5,
      capabilities: ['repo:read'],
      onEventTypes: null,
      status: 'active',
      failures: 0,
      quarantinedUntil: null,
      nextWakeAt: fresh.nextWakeAt,
      lastRun: null,
      lastWakeAt: null,
      lastWakeOutcome: null,
      lastWakeDetail: null,
      lastConsumerSeenAt: null,
      lastConsumerDetail: null,
      pendingEventCount: 0,
    })
    await pass(17 * MINUTE)
    const [run] = await wakes('clock', 1)
    assert.deepEqual(
      [run?.trigger, run?.actor.kind, run?.ref],
      ['daemon', 'system', 'refs/trellis/canonical'],
    )
    assert.deepEqual(run?.input, { reason: 'schedule', events: [] })
    await settled('clock', 'succeeded')
    const woken = await daemonOf('clock')
    assert.deepEqual(woken.lastRun, { id: run?.id, status: 'succeeded', endedAt: run?.endedAt })
    assert.equal(woken.lastWakeDetail, run?.id)
    // On the grid of its ticks, after now.
    assert.equal(woken.nextWakeAt, (fresh.nextWakeAt ?? 0) + 15 * MINUTE)
    await pass(4 * MINUTE)
    assert.equal((await wakes('clock', 2)).length, 2)
    assert.deepEqual(await daemonEvents('clock'), ['daemon.woken schedule', 'daemon.woken schedule'])
  })

  it('are told of events once they have happened, at most a hundred at a time, the oldest first', async () => {
    await world.repo('events', {
      emits: EMITS,
      hears: {
        declares: { daemon: { scheduleIntervalMinutes: 60, onEventTypes: ['x.y', 'z.*'] } },
        does: `if (input.events[0].payload.n === 0) await (globalThis as any).atDaemonGate('events')`,
      },
    })
    await emit('events', [0])
    await until(async () => (await daemonOf('events')).lastWakeOutcome === 'dispatched')
    await emit(
      'events',
      Array.from({ length: 120 }, (_, i) => i + 1),
    )
    await emit('events', [7], 'other.type')
    await emit('events', [121], 'z.a')
    assert.equal((await daemonOf('events')).pendingEventCount, 122)
    gateOf('events').resolve()
    await until(async () => (await daemonOf('events')).pendingEventCount === 0)
    await settled('events', 'succeeded')
    const runs = (await wakes('events', 7)).filter(({ trigger }) => trigger === 'daemon')
    const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
    assert.deepEqual(inputs(runs), [
      'events 0',
      `events ${numbers(1, 100).join(' ')}`,
      `events ${numbers(101, 121).join(' ')}`,
    ])
    const { lastConsumerDetail, lastConsumerSeenAt } = await daemonOf('events')
    assert.match(lastConsumerDetail ?? '', /^21 events up to \d+$/)
    assert.ok(Math.abs((lastConsumerSeenAt ?? 0) - world.app.now()) < MINUTE)
    const [first] = runs
    const { items } = await world.ok('events/list', { name: 'events', types: ['x.y'], limit: 1 })
    const { scope: _, credentialId: __, ...event } = items[0]
    assert.deepEqual(first?.input, { reason: 'events', events: [{ ...event, subject: null }] })
    assert.deepEqual(
      [first?.actor, first?.causeEventId, first?.causationDepth],
      [event.actor, event.id, event.cause.depth],
    )
  })

  it('are let be until their next tick when somebody cancels a wake', async () => {
    const hears = {
      declares: { daemon: { scheduleIntervalMinutes: 60, onEventTypes: ['x.y'] } },
      does: `if (!ctx.signal.aborted) await Promise.race([(globalThis as any).atDaemonGate('let'),
        new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))])`,
    }
    await world.repo('let', { emits: EMITS, hears })
    const { nextWakeAt } = await daemonOf('let')
    await emit('let', [1])
    await settled('let', 'dispatched')
    await world.ok('runs/cancel', { id: (await daemonOf('let')).lastWakeDetail })
    await settled('let', 'failed')
    const daemon = await daemonOf('let')
    assert.deepEqual(
      [daemon.failures, daemon.status, daemon.lastRun?.status, daemon.pendingEventCount, daemon.nextWakeAt],
      [0, 'active', 'cancelled', 1, nextWakeAt],
    )
    await emit('let', [2])
    assert.equal((await daemonOf('let')).nextWakeAt, nextWakeAt)
    gateOf('let').resolve()
    await pass(60 * MINUTE)
    await settled('let', 'succeeded')
    assert.equal((await daemonOf('let')).pendingEventCount, 0)
  })

  it('get the events of a wake that failed again, and are quarantined when that goes on', async () => {
    const does = `${FAILS}; return 'well'`
    const hears = { declares: { daemon: { scheduleIntervalMinutes: 1440, onEventTypes: ['x.y'] } }, does }
    await world.repo('fails', { emits: EMITS, hears })
    broken.add('fails')
    await emit('fails', [1, 2])
    await settled('fails', 'failed')
    let daemon = await daemonOf('fails')
    assert.deepEqual(
      [daemon.failures, daemon.lastWakeDetail, daemon.pendingEventCount, daemon.status],
      [1, 'Error: broken', 2, 'active'],
    )
    assert.ok(Math.abs((daemon.nextWakeAt ?? 0) - world.app.now() - MINUTE) < MINUTE / 2)
    await pass(MINUTE)
    await until(async () => (await daemonOf('fails')).failures === 2)
    await emit('fails', [3])
    await pass(5 * MINUTE)
    await until(async () => (await daemonOf('fails')).failures === 3)
    daemon = await daemonOf('fails')
    assert.deepEqual([daemon.status, daemon.pendingEventCount], ['quarantined', 3])
    assert.equal(daemon.nextWakeAt, daemon.quarantinedUntil)
    assert.ok(Math.abs((daemon.quarantinedUntil ?? 0) - world.app.now() - 15 * MINUTE) < MINUTE)
    const refused = await world.call('daemons/wake', { name: 'fails', daemon: 'hears' })
    assertFault(refused, 'RUN_REJECTED', { reason: 'quarantined' })
    const { lastWakeOutcome, lastWakeDetail } = await daemonOf('fails')
    assert.deepEqual([lastWakeOutcome, lastWakeDetail], ['skipped_quarantined', '3 failures in a row'])
    await pass(15 * MINUTE)
    await until(async () => (await daemonOf('fails')).failures === 4)
    daemon = await daemonOf('fails')
    assert.ok(Math.abs((daemon.quarantinedUntil ?? 0) - world.app.now() - 30 * MINUTE) < MINUTE)
    broken.delete('fails')
    const resumed = await world.ok('daemons/resume', { name: 'fails', daemon: 'hears' })
    assert.deepEqual([resumed.status, resumed.failures, resumed.quarantinedUntil], ['active', 0, null])
    await settled('fails', 'succeeded')
    const runs = (await wakes('fails', 7)).filter(({ trigger }) => trigger === 'daemon')
    const [first, ...others] = inputs(runs)
    // It may have been woken before the second was written.
    assert.match(first ?? '', /^events 1( 2)?$/)
    assert.deepEqual(others, ['events 1 2', 'events 1 2 3', 'events 1 2 3', 'events 1 2 3'])
    assert.deepEqual(await daemonEvents('fails'), [
      'daemon.woken events',
      'daemon.woken events',
      'daemon.woken events',
      'daemon.quarantined',
      'daemon.resumed time',
      'daemon.woken events',
      'daemon.quarantined',
      'daemon.resumed asked',
      'daemon.woken events',
    ])
    assert.equal((await daemonOf('fails')).pendingEventCount, 0)
  })

  it('are woken one at a time, on request too, and tell of ticks that passed meanwhile', async () => {
    await world.repo('one', {
      slow: {
        declares: { daemon: { scheduleIntervalMinutes: 5 } },
        does: `await (globalThis as any).atDaemonGate('one'); return input`,
      },
    })
    const { run } = await world.ok('daemons/wake', { name: 'one', daemon: 'slow' })
    assert.deepEqual(
      [run.trigger, run.actor.kind, run.input],
      ['daemon', 'user', { reason: 'manual', events: [] }],
    )
    const told = await world.ok('events/list', { name: 'one', types: ['daemon.woken'] })
    assert.deepEqual(told.items[0].actor, run.actor)
    const again = await world.ok('daemons/wake', { name: 'one', daemon: 'slow' })
    assert.equal(again.run.id, run.id)
    await pass(6 * MINUTE)
    await settled('one', 'skipped_running')
    assert.equal((await daemonOf('one')).lastWakeDetail, run.id)
    gateOf('one').resolve()
    await settled('one', 'succeeded')
    assert.equal((await wakes('one', 1)).length, 1)
    assertFault(await world.call('daemons/wake', { name: 'one', daemon: 'none' }), 'EXTENSION_NOT_FOUND', {
      name: 'one',
      extension: 'none',
    })
    assertFault(await world.call('daemons/resume', { name: 'one', daemon: 'none' }), 'EXTENSION_NOT_FOUND', {
      name: 'one',
      extension: 'none',
    })
  })

  it('come, change and go with what is promoted', async () => {
    const hears = (does: string, minutes = 30) => ({
      declares: { daemon: { scheduleIntervalMinutes: minutes, onEventTypes: ['x.y'] } },
      does,
    })
    await world.repo('moves', { emits: EMITS, hears: hears(`${FAILS}; return 1`) })
    broken.add('moves')
    await emit('moves', [1])
    for (let failures = 1; failures <= 3; failures++) {
      await until(async () => (await daemonOf('moves')).failures === failures)
      if (failures < 3) await pass(5 * MINUTE)
    }
    const before = await daemonOf('moves')
    // The same module, in other words: the quarantine stays.
    await world.commit('moves', filesOf({ hears: hears(`${FAILS}; return 1`, 10) }))
    await world.ok('extensions/promote', { name: 'moves' })
    const sooner = await daemonOf('moves')
    assert.deepEqual([sooner.status, sooner.failures, sooner.scheduleIntervalMinutes], ['quarantined', 3, 10])
    assert.notEqual(sooner.canonicalSha, before.canonicalSha)
    await world.commit('moves', filesOf({ hears: hears('return 2', 10) }))
    await world.ok('extensions/promote', { name: 'moves' })
    await settled('moves', 'succeeded')
    assert.deepEqual((await daemonEvents('moves')).slice(-2), [
      'daemon.resumed promotion',
      'daemon.woken events',
    ])
    await world.commit('moves', filesOf({ hears: { does: 'return 3' } }))
    await world.ok('extensions/promote', { name: 'moves' })
    assert.deepEqual((await world.ok('daemons/list', { name: 'moves' })).items, [])
    await emit('moves', [2])
    const { items } = await world.ok('runs/list', { name: 'moves', trigger: 'daemon' })
    assert.equal(items.length, 4)
    await world.ok('repos/delete', { name: 'moves' })
    const left = await world.app.database.db
      .selectFrom('daemons')
      .select('name')
      .where('name', '=', 'hears')
      .execute()
    assert.ok(left.every(({ name }) => name === 'hears'))
  })

  it('that wake themselves end by themselves', async () => {
    await world.repo('loop', {
      emits: EMITS,
      again: {
        declares: {
          capabilities: ['events:emit'],
          daemon: { scheduleIntervalMinutes: 60, onEventTypes: ['x.y', 'run.*', 'daemon.*'] },
        },
        does: 'await ctx.events.emit("x.y", { payload: { n: 0 } })',
      },
    })
    await emit('loop', [1])
    await until(async () => {
      const { pendingEventCount, lastWakeOutcome } = await daemonOf('loop')
      return pendingEventCount === 0 && lastWakeOutcome === 'succeeded'
    })
    const runs = (await wakes('loop', 2)).filter(({ trigger }) => trigger === 'daemon')
    assert.ok(runs.length <= 12, String(runs.length))
    assert.ok(runs.every(({ causationDepth }) => (causationDepth ?? 9) <= 8))
    assert.ok((await typesOf('loop', ['run.rejected'])).includes('run.rejected depth_exceeded'))
  })

  it('are woken after the clock was set back, when as much time has passed as they wait for', async () => {
    await world.repo('back', { cron: { declares: { daemon: { scheduleIntervalMinutes: 5 } }, does: '' } })
    world.app.setClock(-3 * 86_400_000)
    await world.app.background.run('misdated daemons')
    const { nextWakeAt } = await daemonOf('back')
    assert.ok(Math.abs((nextWakeAt ?? 0) - world.app.now() - 5 * MINUTE) < MINUTE)
    await pass(5 * MINUTE)
    assert.equal((await wakes('back', 1)).length, 1)
    world.app.setClock(3 * 86_400_000)
  })

  it('are not woken where nothing may be written, which is told once, and go with their repository', async () => {
    await world.repo('frozen', { cron: { declares: { daemon: { scheduleIntervalMinutes: 5 } }, does: '' } })
    await world.ok('repos/update', { name: 'frozen', readOnly: true })
    await pass(6 * MINUTE)
    await settled('frozen', 'rejected')
    assert.equal((await daemonOf('frozen')).lastWakeDetail, 'frozen')
    await pass(6 * MINUTE)
    await until(async () => ((await daemonOf('frozen')).nextWakeAt ?? 0) > world.app.now())
    assert.deepEqual(await typesOf('frozen', ['run.rejected']), ['run.rejected frozen'])
    await world.ok('repos/update', { name: 'frozen', readOnly: false })
    await pass(6 * MINUTE)
    await settled('frozen', 'succeeded')
    const { id } = await world.app.database.db
      .selectFrom('repos')
      .select('id')
      .where('name', '=', 'frozen')
      .executeTakeFirstOrThrow()
    await world.ok('repos/delete', { name: 'frozen' })
    const left = await world.app.database.db
      .selectFrom('daemons')
      .select('id')
      .where('repo_id', '=', id)
      .execute()
    assert.deepEqual(left, [])
  })

  it('are not woken with what does not fit their input schema', async () => {
    const strict = (required: string[]) => ({
      declares: {
        daemon: { scheduleIntervalMinutes: 5 },
        inputSchema: { type: 'object', required },
      },
      does: 'return input.reason',
    })
    await world.repo('strict', { picky: strict(['title']) })
    const refused = await world.call('daemons/wake', { name: 'strict', daemon: 'picky' })
    assert.equal(refused.body.code, 'RUN_REJECTED')
    assert.match(refused.body.data.reason, /^input_invalid: .*title/)
    const { lastWakeOutcome, lastWakeDetail } = await daemonOf('strict')
    assert.deepEqual([lastWakeOutcome, lastWakeDetail], ['rejected', refused.body.data.reason])
    await pass(6 * MINUTE)
    await until(async () => ((await daemonOf('strict')).nextWakeAt ?? 0) > world.app.now())
    assert.deepEqual((await world.ok('runs/list', { name: 'strict' })).items, [])

    await world.repo('fitting', { picky: strict(['reason', 'events']) })
    const { run } = await world.ok('daemons/wake', { name: 'fitting', daemon: 'picky' })
    assert.equal((await world.ended(run.id)).output, 'manual')
  })

  it('are woken in turn, however many another organization has', async () => {
    const cron = { declares: { daemon: { scheduleIntervalMinutes: 5 } }, does: '' }
    const many = Array.from({ length: 20 }, (_, i) => `d${i}`)
    await world.repo('crowd', Object.fromEntries(many.map((name) => [name, cron])))
    const other = worldOf(world.app, (await world.app.signUp('bob')).token)
    await other.repo('alone', { cron })
    await pass(6 * MINUTE)
    const [alone] = await other.runsOf('alone', 1)
    const crowd = await wakes('crowd', many.length)
    const before = crowd.filter(({ id }) => id < (alone?.id ?? ''))
    assert.ok(before.length < many.length / 2, String(before.length))
  })
})

onEachDatabase('daemons of several processes', (create) => {
  it('are woken once, by one of them', async () => {
    await using database = await create()
    await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-shared-'))
    const env = { TRELLIS_DATA: data.path, TRELLIS_RUN_LEASE_SECONDS: '3600' }
    const runtimes = { worker: createInProcessRuntime() }
    await using one = await startTestApp(database, env, { runtimes })
    await using two = await startTestApp(database, env, { runtimes })
    const { token } = await one.signUp('ana')
    const world = worldOf(one, token)
    const names = Array.from({ length: 12 }, (_, i) => `d${i}`)
    const daemon = { scheduleIntervalMinutes: 5 }
    await world.repo(
      'many',
      Object.fromEntries(names.map((name) => [name, { declares: { daemon }, does: '' }])),
    )
    const apps = [one, two]
    for (const app of apps) app.pass(6 * MINUTE)
    await Promise.all(apps.map((app) => app.background.run('misdated daemons')))
    const runs = await world.runsOf('many', names.length)
    assert.deepEqual(runs.map(({ extension }) => extension).toSorted(), names.toSorted())
    const metrics = await Promise.all(apps.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))
    const woken = metrics.map((text) =>
      Number(/^trellis_daemon_lateness_seconds_count (\d+)$/m.exec(text)?.[1]),
    )
    assert.equal(
      woken.reduce((sum, count) => sum + count, 0),
      names.length,
    )
  })
})
