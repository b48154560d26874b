import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertFault,
  filesOf,
  onEachDatabase,
  type RunsWorld,
  registerAgent,
  useRuns,
  worldOf,
} from '../testing/index.ts'

const MB = 1024 * 1024
const MOST = 4 * MB

/** Keeps steps of so many characters, and then waits for what never comes. */
const KEEPS = `
  for (let index = 0; index < input.steps; index++) {
    const step = { index, name: 'step ' + index }
    const begun = await ctx.step.begin({ ...step, kind: 'do', options: {} })
    if (begun.is === 'refused') throw new Error(begun.error.message)
    const end = input.fails ? { error: { message: 'no', data: 'x'.repeat(input.size) } } : { result: 'x'.repeat(input.size) }
    const ended = begun.is === 'run' ? await ctx.step.end({ ...step, attempt: begun.attempt, ...end }) : begun
    if (ended.is === 'refused') throw new Error(ended.error.message)
  }
  if (input.ends) return input.steps
  const { keptAll } = globalThis as any
  keptAll.add(ctx.run.id)
  await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('aborted'))))`

const TOO_MUCH = /The runs of an organization that have not ended may keep \d+ bytes/

const keptAll = new Set<string>()
Object.assign(globalThis, { keptAll })

onEachDatabase('what is kept of runs that have not ended', (create) => {
  const world = useRuns(create, {
    TRELLIS_ORG_MAX_RUN_BYTES: String(MOST),
    TRELLIS_RUN_CONCURRENCY: '20',
    TRELLIS_RUN_TIMEOUT_SECONDS: '600',
  })
  const extensions = {
    keeps: { declares: { runtime: 'workflow' }, does: KEEPS },
    quick: { does: 'return 1' },
  }

  const dispatch = async (who: RunsWorld, name: string, input: object): Promise<string> =>
    (await who.ok('runs/dispatch', { name, extension: 'keeps', ref: 'main', input })).run.id

  /** Under way, and all of its steps kept. */
  async function keep(who: RunsWorld, name: string, input: object): Promise<string> {
    const id = await dispatch(who, name, input)
    while (!keptAll.has(id)) {
      const { run } = await who.ok('runs/get', { id })
      assert.equal(run.error, null)
      await sleep(5)
    }
    return id
  }

  async function cancel(who: RunsWorld, id: string): Promise<void> {
    await who.ok('runs/cancel', { id })
    await who.ended(id)
  }

  /** What is counted is what the rows of runs say. */
  async function assertCounted(): Promise<void> {
    const { db } = world.app.database
    const bytesIn = async (query: Promise<{ bytes: number | string | null }>) =>
      Number((await query).bytes ?? 0)
    const queues = db.selectFrom('run_queues').select((eb) => eb.fn.sum<number>('kept_bytes').as('bytes'))
    const runs = db.selectFrom('runs').select((eb) => eb.fn.sum<number>('bytes').as('bytes'))
    assert.equal(
      await bytesIn(queues.executeTakeFirstOrThrow()),
      await bytesIn(runs.executeTakeFirstOrThrow()),
    )
  }

  const bytesOf = async (id: string) => {
    const query = world.app.database.db.selectFrom('runs').select('bytes').where('id', '=', id)
    return (await query.executeTakeFirstOrThrow()).bytes
  }

  before(async () => {
    await world.repo('flows', extensions)
  })

  it('counts what it was given and its steps, what they gave and why they failed', async () => {
    const id = await keep(world, 'flows', { steps: 4, size: 200_000, pad: 'ä'.repeat(50_000) })
    assert.ok((await bytesOf(id)) > 900_000, String(await bytesOf(id)))
    await assertCounted()
    const failing = await keep(world, 'flows', { steps: 2, size: 200_000, fails: true })
    assert.ok((await bytesOf(failing)) > 400_000, String(await bytesOf(failing)))
    for (const one of [id, failing]) await cancel(world, one)
    await assertCounted()
  })

  it('fails the run whose step is one too many, then rejects others, until one of them has ended', async () => {
    const first = await keep(world, 'flows', { steps: 10, size: 200_000 })
    const second = await keep(world, 'flows', { steps: 9, size: 200_000 })
    const { status, error } = await world.ended(await dispatch(world, 'flows', { steps: 9, size: 200_000 }))
    assert.equal(status, 'failed')
    assert.match(error ?? '', TOO_MUCH)
    await assertCounted()
    // One that is given much goes in where there is a little room, and then there is none.
    const large = await keep(world, 'flows', { steps: 0, pad: 'x'.repeat(900_000) })
    const full = await world.call('runs/dispatch', { name: 'flows', extension: 'quick' })
    assertFault(full, 'RUN_REJECTED', { reason: 'queue_full' })

    const { token } = await world.app.signUp('bob')
    const other = worldOf(world.app, token)
    await other.repo('theirs', extensions)
    await cancel(other, await keep(other, 'theirs', { steps: 9, size: 200_000 }))

    await cancel(world, first)
    assert.equal((await world.run('flows', 'quick')).output, 1)
    for (const one of [second, large]) await cancel(world, one)
    await assertCounted()
  })

  it('is not in the way of anybody once it has ended, also before that is removed', async () => {
    for (let i = 0; i < 4; i++)
      assert.equal((await world.run('flows', 'keeps', { steps: 9, size: 200_000, ends: true })).output, 9)
    await world.app.background.run('old runs')
    await assertCounted()
    const { db } = world.app.database
    const { kept } = await db
      .selectFrom('run_queues')
      .innerJoin('runs', 'runs.org_id', 'run_queues.org_id')
      .select((eb) => eb.fn.max('kept_bytes').as('kept'))
      .executeTakeFirstOrThrow()
    assert.ok(kept <= MOST, String(kept))
  })

  it('goes with its repository', async () => {
    await world.repo('gone', extensions)
    await keep(world, 'gone', { steps: 10, size: 200_000 })
    await keep(world, 'gone', { steps: 9, size: 200_000 })
    await keep(world, 'gone', { steps: 0, pad: 'x'.repeat(900_000) })
    const ask = () => world.call('runs/dispatch', { name: 'flows', extension: 'quick' })
    assertFault(await ask(), 'RUN_REJECTED', { reason: 'queue_full' })
    await world.ok('repos/delete', { name: 'gone' })
    for (const late = Date.now() + 60_000; (await ask()).status !== 200; await sleep(50))
      assert.ok(Date.now() < late, 'there is no room again')
    await assertCounted()
  })

  it('is a tenth of an organization that nobody has claimed', async () => {
    const agent = await registerAgent(world.app)
    const its = worldOf(world.app, agent.token)
    await its.ok('repos/create', { name: 'own' })
    await its.commit('own', filesOf(extensions))
    const kept = await keep(its, 'own', { steps: 3, size: 100_000 })
    const { error } = await its.ended(await dispatch(its, 'own', { steps: 3, size: 100_000 }))
    assert.match(error ?? '', TOO_MUCH)
    const { poll } = await agent.beClaimed(await world.app.signUp('cleo'))
    const claimed = worldOf(world.app, poll.access_token)
    const more = await keep(claimed, 'own', { steps: 3, size: 100_000 })
    for (const one of [kept, more]) await cancel(claimed, one)
  })
})
