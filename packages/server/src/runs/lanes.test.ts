import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Run } from '@trellis/contract'
import type { Runtimes } from '../runtime/runtime.ts'
import { useInSuite } from '../testing/in-suite.ts'
import {
  createInProcessRuntime,
  onEachDatabase,
  plansOf,
  type RunsWorld,
  startTestApp,
  worldOf,
} from '../testing/index.ts'
import { allot, type LaneRules } from './lanes.ts'
import * as queues from './queue-store.ts'

describe('the places of a lane', () => {
  const HOUR = 60 * 60_000
  const now = 10 * HOUR
  const rules: LaneRules = { places: 8, perOrg: 3, forFirst: 4, forLight: 2, forProvisional: 2 }
  const light = { provisional: 0, ready: 50, running: 0, turn_at: 0 }
  const heavy = { ...light, turn_at: now }
  const given = (places: number, ...waiting: (typeof light)[]) =>
    allot(waiting, rules, { room: { places, provisional: rules.forProvisional }, now })

  it('are for everybody once before they are for anybody again', () => {
    assert.deepEqual(given(8, light), [3])
    assert.deepEqual(given(8, light, light, light), [2, 1, 1])
    assert.deepEqual(given(8, light, light, light, light, light), [1, 1, 1, 1, 1])
    assert.deepEqual(given(8, { ...light, ready: 1 }, { ...light, running: 2 }), [1, 1])
    assert.deepEqual(given(5, { ...light, running: 2 }, { ...light, running: 1 }), [0, 1])
  })

  it('are kept in part for those that hold none, and of these for those that have used little', () => {
    assert.deepEqual(given(4, { ...light, running: 1 }), [0])
    assert.deepEqual(given(4, heavy, heavy, heavy), [1, 1, 0])
    assert.deepEqual(given(2, light, heavy, light), [1, 0, 1])
    assert.deepEqual(given(1, heavy), [0])
  })

  it('are few for those that cost nothing to make, and none of the last', () => {
    const stranger = { ...light, provisional: 1 }
    assert.deepEqual(given(8, stranger, stranger, stranger), [1, 1, 0])
    assert.deepEqual(given(8, stranger, light), [2, 2])
    assert.deepEqual(given(4, stranger, light), [1, 1])
    assert.deepEqual(given(2, stranger, light), [0, 1])
  })
})

/** What runs here ends when the test says so: an endless loop, for all that others can tell. */
const held = new Map<string, { org: string; end(): void }>()
Object.assign(globalThis, {
  holdPlace: (id: string, org: string) => new Promise<void>((end) => held.set(id, { org, end })),
})
const HOLDS = 'await (globalThis as any).holdPlace(ctx.run.id, ctx.run.repo.owner)'
const EXTENSIONS = {
  loop: { declares: { runtime: 'sandbox' }, does: HOLDS },
  quick: { declares: { runtime: 'sandbox' }, does: 'return 1' },
  isolate: { does: 'return 2' },
  spin: { does: HOLDS },
}

onEachDatabase('organizations that would hold every place', (create) => {
  const here = useInSuite(async (made) => {
    const database = made.use(await create())
    const runtime = createInProcessRuntime()
    // Time is passed by hand, and more of it than a worker may be silent.
    const env = {
      TRELLIS_SANDBOX_TIMEOUT_SECONDS: '3600',
      TRELLIS_RUN_TIMEOUT_SECONDS: '3600',
      TRELLIS_RUN_LEASE_SECONDS: '3600',
    }
    const runtimes = { worker: runtime, sandbox: runtime }
    const app = made.use(await startTestApp(database, env, { runtimes }))
    made.defer(endAll)
    const join = async (name: string) => {
      const { token, slug } = await app.signUp(name)
      const world = worldOf(app, token)
      await world.repo('tools', EXTENSIONS)
      return { ...world, slug }
    }
    const hostile: (RunsWorld & { slug: string })[] = []
    for (let i = 0; i < 5; i++) hostile.push(await join(`hostile${i}`))
    return { app, join, hostile, honest: await join('honest') }
  })

  function end(id: string): void {
    held.get(id)?.end()
    held.delete(id)
  }

  function endAll(): void {
    for (const id of [...held.keys()]) end(id)
  }

  async function until(isSo: () => boolean): Promise<void> {
    for (const late = Date.now() + 30_000; !isSo(); await new Promise((next) => setTimeout(next, 5)))
      assert.ok(Date.now() < late, `waited too long: ${JSON.stringify([...held.values()])}`)
  }

  const begin = async (world: RunsWorld, extension: string): Promise<Run> =>
    (await world.ok('runs/dispatch', { name: 'tools', extension })).run

  const waitingOf = async (world: RunsWorld): Promise<Run[]> =>
    (await world.ok('runs/list', { name: 'tools', status: 'queued', limit: 100 })).items

  /** Each of them has a place, and wants more. */
  async function crowd(extension: string, loops: number): Promise<void> {
    for (const world of here.hostile) for (let i = 0; i < loops; i++) await begin(world, extension)
    await until(() => here.hostile.every(({ slug }) => [...held.values()].some(({ org }) => org === slug)))
  }

  async function disperse(): Promise<void> {
    for (const world of here.hostile)
      for (const { id } of await waitingOf(world)) await world.ok('runs/cancel', { id })
    endAll()
  }

  it('hold neither all sandboxes nor, while they wait for one, anything else', async () => {
    const { hostile, honest } = here
    await crowd('loop', 4)
    assert.equal((await honest.run('tools', 'quick')).output, 1)
    assert.equal((await honest.run('tools', 'isolate')).output, 2)
    for (const world of hostile) {
      assert.equal((await world.run('tools', 'isolate')).output, 2)
      assert.ok((await waitingOf(world)).length >= 2)
    }
  })

  it('leave the next place that comes free, and then always some, to one that has used little', async () => {
    const { app, join, honest } = here
    for (let i = 0; held.size < 8; i++) {
      const { id } = await begin(await join(`more${i}`), 'loop')
      await until(() => held.has(id))
    }
    const { id } = await begin(honest, 'quick')
    assert.equal((await honest.ok('runs/get', { id, waitMs: 10 })).run.status, 'queued')
    app.pass(600_000)
    const [longest] = held.keys()
    end(longest ?? '')
    assert.equal((await honest.ended(id)).output, 1)
    // All of them were ended by the clock and go on, which is told of by now.
    endAll()
    for (let i = 0; i < 3; i++) assert.equal((await honest.run('tools', 'quick')).output, 1)
    assert.ok(held.size > 0)
    await disperse()
  })

  it('are found by index, however many there are', async () => {
    const { database } = here.app
    const plans = await plansOf(database, async (db) => {
      await queues.listWaiting(db, { lane: 'sandbox', perOrg: 2, limit: 8, provisionalToo: true })
    })
    for (const plan of plans) {
      assert.match(plan, /run_queues_waiting/)
      assert.doesNotMatch(plan, /sort|b-tree/i)
    }
  })

  it('leave places for runs in isolates', async () => {
    await crowd('spin', 4)
    assert.equal((await here.honest.run('tools', 'isolate')).output, 2)
    await disperse()
  })
})

onEachDatabase('runs that not every process can run', (create) => {
  it('are left to those that can, and fail when there has been none for long', async () => {
    await using database = await create()
    await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-lanes-'))
    const start = (runtimes: Runtimes, concurrency: string) => {
      const env = {
        TRELLIS_DATA: data.path,
        TRELLIS_RUN_CONCURRENCY: concurrency,
        TRELLIS_RUN_LEASE_SECONDS: '3600',
      }
      return startTestApp(database, env, { runtimes })
    }
    const runtime = createInProcessRuntime()
    // The first can run all and takes nothing: it is there to be asked.
    await using asked = await start({ worker: runtime, sandbox: runtime }, '0')
    await using unable = await start({ worker: createInProcessRuntime() }, '2')
    const world = worldOf(asked, (await asked.signUp('ana')).token)
    await world.repo('tools', EXTENSIONS)
    const { run } = await world.ok('runs/dispatch', { name: 'tools', extension: 'quick' })
    assert.equal((await world.run('tools', 'isolate')).output, 2)
    assert.equal((await world.ok('runs/get', { id: run.id })).run.status, 'queued')
    unable.pass(11 * 60_000)
    const { status, error } = await world.ended(run.id)
    assert.deepEqual([status, error], ['failed', 'The sandbox runtime is not available here'])
  })
})
