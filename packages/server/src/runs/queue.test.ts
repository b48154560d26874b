import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, it } from 'node:test'
import type { Run } from '@trellis/contract'
import {
  assertFault,
  createInProcessRuntime,
  filesOf,
  foundOrg,
  onEachDatabase,
  type RunsWorld,
  startTestApp,
  useRuns,
  worldOf,
} from '../testing/index.ts'

/** Modules of these tests wait at gates that the test opens. */
const gates = new Map<string, PromiseWithResolvers<void>>()
const begun: string[] = []
const gateOf = (name: string) => {
  const gate = gates.get(name) ?? Promise.withResolvers<void>()
  gates.set(name, gate)
  return gate
}
Object.assign(globalThis, {
  atTestGate: (name: string) => {
    begun.push(name)
    return gateOf(name).promise
  },
})
const WAITS = `
  await Promise.race([
    (globalThis as any).atTestGate(input.gate),
    new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('aborted')))),
  ])
  return 'through'`

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (
    const late = Date.now() + 120_000;
    !(await isSo());
    await new Promise((resolve) => setTimeout(resolve, 5))
  )
    assert.ok(Date.now() < late, 'waited too long')
}

let made = 0
const dispatch = async (
  world: RunsWorld,
  name: string,
  gate = `gate-${++made}`,
): Promise<Run & { gate: string }> => {
  const { run } = await world.ok('runs/dispatch', { name, extension: 'waits', input: { gate } })
  return { ...run, gate }
}

onEachDatabase('the queue of runs', (create) => {
  const world = useRuns(create, {
    TRELLIS_RUN_CONCURRENCY: '6',
    TRELLIS_ORG_MAX_RUNNING: '2',
    TRELLIS_ORG_MAX_QUEUED: '3',
    TRELLIS_RUN_LEASE_SECONDS: '2',
    TRELLIS_RUN_LOG_BYTES: '4000',
    TRELLIS_RUN_RETENTION_DAYS: '10',
  })
  const queueOf = (id: string) =>
    world.app.database.db
      .selectFrom('run_queues')
      .select(['ready', 'running', 'kept_bytes'])
      .where('org_id', '=', (eb) => eb.selectFrom('runs').select('org_id').where('id', '=', id))
      .executeTakeFirstOrThrow()

  before(async () => {
    await world.repo('tools', {
      waits: { does: WAITS },
      talks: {
        does: 'for (let i = 0; i < 50; i++) ctx.log("line " + i, { pad: "x".repeat(200) }); if (input.throw) throw new Error("after all")',
      },
      stuck: { does: 'await new Promise(() => {})' },
    })
  })

  it('holds so many of an organization, runs so many of them at once, and rejects the rest', async () => {
    const runs = [await dispatch(world, 'tools'), await dispatch(world, 'tools')]
    await until(() => runs.every(({ gate }) => begun.includes(gate)))
    for (let i = 0; i < 3; i++) runs.push(await dispatch(world, 'tools'))
    const full = await world.call('runs/dispatch', { name: 'tools', extension: 'waits' })
    assertFault(full, 'RUN_REJECTED', { reason: 'queue_full' })
    const [first, second, third] = runs as [
      Run & { gate: string },
      Run & { gate: string },
      Run & { gate: string },
    ]
    const { ready, running } = await queueOf(first.id)
    assert.deepEqual([ready, running], [3, 2])
    assert.equal((await world.ok('runs/get', { id: third.id, waitMs: 10 })).run.status, 'queued')
    gateOf(second.gate).resolve()
    await until(() => begun.includes(third.gate))
    assert.equal((await world.ended(second.id)).output, 'through')
    for (const { gate } of runs) gateOf(gate).resolve()
    for (const { id } of runs) assert.equal((await world.ended(id)).status, 'succeeded')
    const empty = await queueOf(first.id)
    assert.deepEqual([empty.ready, empty.running], [0, 0])
  })

  it('serves each organization in turn', async () => {
    const { token } = await world.app.signUp('bob')
    const other = worldOf(world.app, token)
    await other.repo('theirs', { waits: { does: WAITS } })
    const many = []
    for (let i = 0; i < 5; i++) many.push(await dispatch(world, 'tools'))
    const few = [await dispatch(other, 'theirs'), await dispatch(other, 'theirs')]
    // Two of each: the other organization need not wait for all that came before.
    await until(() => few.every(({ gate }) => begun.includes(gate)))
    assert.equal(many.filter(({ gate }) => begun.includes(gate)).length, 2)
    for (const { gate } of [...many, ...few]) gateOf(gate).resolve()
    for (const { id } of many) await world.ended(id)
    for (const { id } of few) await other.ended(id)
    assertFault(await other.call('runs/get', { id: many[0]?.id }), 'RUN_NOT_FOUND', { id: many[0]?.id ?? '' })
  })

  it('lets go of a run that is cancelled, whether it waits or runs', async () => {
    const running = [await dispatch(world, 'tools'), await dispatch(world, 'tools')]
    await until(() => running.every(({ gate }) => begun.includes(gate)))
    const waits = await dispatch(world, 'tools')
    const { run: cancelled } = await world.ok('runs/cancel', { id: waits.id })
    assert.deepEqual(
      [cancelled.status, cancelled.startedAt, cancelled.endedAt !== null],
      ['cancelled', null, true],
    )
    assert.deepEqual(await world.log(waits.id), ['run.queued', 'run.cancelled'])
    for (const { id } of running) await world.ok('runs/cancel', { id })
    for (const { id } of running) {
      const run = await world.ended(id)
      assert.deepEqual([run.status, run.error], ['cancelled', null])
      assert.equal((await world.log(id)).at(-1), 'run.cancelled')
      assert.deepEqual((await world.ok('runs/cancel', { id })).run, run)
    }
    const { ready, running: left } = await queueOf(waits.id)
    assert.deepEqual([ready, left], [0, 0])
  })

  it('hears of a cancel through another process, and waits for what ends there', async () => {
    const run = await dispatch(world, 'tools')
    await until(() => begun.includes(run.gate))
    // As another process would write it.
    await world.app.database.db
      .updateTable('runs')
      .set({ cancel_requested_at: world.app.now() })
      .where('id', '=', run.id)
      .execute()
    assert.equal((await world.ended(run.id)).status, 'cancelled')
  })

  it('ends what a process left behind, and takes nothing from it afterwards', async () => {
    const run = await dispatch(world, 'tools')
    await until(() => begun.includes(run.gate))
    await world.app.database.db
      .updateTable('runs')
      .set({ worker_id: 'dead' })
      .where('id', '=', run.id)
      .execute()
    const ended = await world.ended(run.id)
    assert.equal(ended.status, 'failed')
    assert.match(ended.error ?? '', /server that ran it was stopped/)
    gateOf(run.gate).resolve()
    const next = await dispatch(world, 'tools')
    gateOf(next.gate).resolve()
    await world.ended(next.id)
    assert.deepEqual((await world.ok('runs/get', { id: run.id })).run, ended)
    assert.deepEqual(await world.log(run.id), ['run.queued', 'run.started', 'run.failed'])
    const { ready, running } = await queueOf(run.id)
    assert.deepEqual([ready, running], [0, 0])
  })

  it('keeps so much of a log', async () => {
    const { id } = await world.run('tools', 'talks')
    const log = await world.log(id)
    assert.ok(log.length > 5 && log.length < 20, String(log.length))
    assert.match(log.at(-2) ?? '', /The log is full at 4000 bytes/)
    assert.equal(log.at(-1), 'run.succeeded')
    const failed = await world.log((await world.run('tools', 'talks', { throw: true })).id)
    assert.match(failed.at(-3) ?? '', /The log is full at 4000 bytes/)
    assert.match(failed.at(-2) ?? '', /Error: after all\n/)
  })

  it('forgets runs that ended long ago, and their logs', async () => {
    await world.repo('old', { waits: { does: WAITS } })
    const old = await dispatch(world, 'old')
    gateOf(old.gate).resolve()
    await world.ended(old.id)
    const { kept_bytes } = await queueOf(old.id)
    const db = world.app.database.db
    await db
      .updateTable('runs')
      .set({ ended_at: world.app.now() - 11 * 86_400_000 })
      .where('id', '=', old.id)
      .execute()
    await world.app.background.run('old runs')
    assertFault(await world.call('runs/get', { id: old.id }), 'RUN_NOT_FOUND', { id: old.id })
    const left = await db.selectFrom('events').select('id').where('scope', '=', `run:${old.id}`).execute()
    assert.deepEqual(left, [])
    const young = await dispatch(world, 'old')
    gateOf(young.gate).resolve()
    await world.ended(young.id)
    assert.ok((await queueOf(young.id)).kept_bytes <= kept_bytes + 500)
  })

  it('lets go of what somebody asked for when their access ends', async () => {
    const { app } = world
    const acme = await foundOrg(app, 'acme')
    const as = (token: string) => ({
      call: (path: string, input: object) => app.call(path, input, { token, org: 'acme' }),
    })
    const [owner, member] = [as(acme.owner.token), as(acme.member.token)]
    await owner.call('repos/create', { name: 'shared' })
    const changes = Object.entries(filesOf({ waits: { does: WAITS } })).map(([path, content]) => ({
      op: 'put',
      path,
      content,
    }))
    await owner.call('git/commits/create', { name: 'shared', branch: 'main', message: 'Add', changes })
    await owner.call('extensions/promote', { name: 'shared' })
    const ask = async (who: typeof owner) => {
      const gate = `gate-${++made}`
      const { body } = await who.call('runs/dispatch', {
        name: 'shared',
        extension: 'waits',
        input: { gate },
      })
      await until(() => begun.includes(gate))
      return { id: body.run.id, gate }
    }
    const theirs = await ask(member)
    const ours = await ask(owner)
    const later = await member.call('runs/dispatch', {
      name: 'shared',
      extension: 'waits',
      input: { gate: 'x' },
    })
    await owner.call('members/remove', { orgSlug: 'acme', userId: acme.member.userId })
    const statusOf = async (id: string) =>
      (await owner.call('runs/get', { id, waitMs: 10_000 })).body.run.status
    assert.equal(await statusOf(theirs.id), 'cancelled')
    assert.equal(await statusOf(later.body.run.id), 'cancelled')
    assert.ok(!begun.includes('x'))
    gateOf(ours.gate).resolve()
    assert.equal(await statusOf(ours.id), 'succeeded')
  })

  it('goes with its repository, the runs under way too', async () => {
    await world.repo('gone', { waits: { does: WAITS }, pushed: { declares: { on: { push: {} } }, does: '' } })
    const run = await dispatch(world, 'gone')
    await until(() => begun.includes(run.gate))
    await world.ok('secrets/set', { name: 'gone', secret: 'A', value: 'b' })
    await world.ok('repos/delete', { name: 'gone' })
    assertFault(await world.call('runs/get', { id: run.id }), 'RUN_NOT_FOUND', { id: run.id })
    gateOf(run.gate).resolve()
    const next = await dispatch(world, 'tools')
    gateOf(next.gate).resolve()
    await world.ended(next.id)
    const { ready, running } = await queueOf(next.id)
    assert.deepEqual([ready, running], [0, 0])
    const counters = await world.app.database.db
      .selectFrom('event_counters')
      .select('scope')
      .where('scope', '=', `run:${run.id}`)
      .execute()
    assert.deepEqual(counters, [])
  })
})

onEachDatabase('the queue of several processes', (create) => {
  it('is shared by them, each run by one, and waited for anywhere', async () => {
    await using database = await create()
    await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-shared-'))
    const start = (concurrency: string) => {
      const worker = createInProcessRuntime()
      const env = {
        TRELLIS_DATA: data.path,
        TRELLIS_RUN_CONCURRENCY: concurrency,
        TRELLIS_ORG_MAX_RUNNING: '8',
      }
      return startTestApp(database, env, { runtimes: { worker } }).then((app) => ({ app, worker }))
    }
    const one = await start('2')
    const two = await start('2')
    await using _stop = one.app
    await using _stopToo = two.app
    const { token } = await one.app.signUp('ana')
    const here = worldOf(one.app, token)
    const there = worldOf(two.app, token)
    await here.repo('tools', { waits: { does: WAITS } })
    const runs = []
    for (let i = 0; i < 8; i++) runs.push(await dispatch(i % 2 ? here : there, 'tools'))
    await until(() => one.worker.jobs.length === 2 && two.worker.jobs.length === 2)
    for (const { gate } of runs) gateOf(gate).resolve()
    for (const { id } of runs) assert.equal((await here.ended(id)).status, 'succeeded')
    const ran = [...one.worker.jobs, ...two.worker.jobs].map(({ runId }) => runId).toSorted()
    assert.deepEqual(ran, runs.map(({ id }) => id).toSorted())
  })
})
