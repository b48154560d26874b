// Two servers over one PostgreSQL: runs, daemons and deliveries are shared, and one goes on with what the other leaves.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Daemon } from '@trellis/contract'
import {
  createPostgres,
  filesOf,
  type Receiver,
  startReceiver,
  type TestDatabase,
} from '@trellis/server/testing'
import type { Json } from '../../packages/server/src/testing/json.ts'
import { createSandbox, type Sandbox, type ServerProcess, startServer, until } from '../git/harness.ts'
import { chooseWays, files } from './mixed-runs.ts'
import { assertAgree, assertHeard, readAccounts } from './run-accounts.ts'
import { countUnended, type RunState, takeSnapshot } from './run-snapshots.ts'

const RUNS = 16
/** Runs that each of them has in hand at once: so few that no place is kept for others. */
const EACH = 3
const EVENTS = 6
const PATIENCE_MS = 120_000

const name = 'shared'
const TAKEN_OVER = 'The server that ran it was stopped, or could not be reached any more'

/** In somebody's hands until there is a row of `gate`. */
const WAITS = `
  const isOpen = async () => (await ctx.records.list('gate', { limit: 1 })).rows.length > 0
  const wait = async () => {
    while (!(await isOpen())) await new Promise((resolve) => setTimeout(resolve, 200))
  }`
const waiting = filesOf({
  gates: { declares: { record: { name: 'gate', fields: { by: { type: 'string' } } } }, does: '' },
  stays: { declares: { capabilities: ['records:read'] }, does: `${WAITS}; await wait()` },
  keeps: {
    declares: {
      capabilities: ['records:read'],
      daemon: { scheduleIntervalMinutes: 1440, onEventTypes: ['repo.updated'] },
    },
    does: `${WAITS}; await wait(); return { seqs: input.events.map((event: any) => event.seq) }`,
  },
  goeson: {
    declares: { runtime: 'workflow', capabilities: ['records:read', 'records:write'] },
    does: `${WAITS}
      const mark = (step: string) => ctx.records.create('mark', { run: ctx.run.id, step, token: '' })
      await ctx.step.do('first', async () => { await mark('first') })
      await ctx.step.do('second', async () => { await wait(); await mark('second') })`,
  },
})

describe('two processes that run extensions', () => {
  let sandbox: Sandbox
  let database: TestDatabase
  let data: string
  let receiver: Receiver
  let one: ServerProcess
  let two: ServerProcess

  const ok = async (path: string, input: object): Promise<Json> => {
    const { status, body } = await two.post(path, { name, ...input })
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
    return body
  }
  const endedIn = async ({ url }: ServerProcess): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return [...text.matchAll(/^trellis_runs_total\{.*\} (\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
  }
  const isQuiet = async () => {
    const unended = await countUnended(database, data)
    // Events wait for as long as the run is not over that was told of them.
    const { items }: { items: Daemon[] } = await ok('daemons/list', {})
    return unended === 0 && items.every(({ pendingEventCount }) => pendingEventCount === 0)
  }
  const seqsSent = () => receiver.received.map(({ body }): number => JSON.parse(body).seq)

  before(async () => {
    sandbox = createSandbox()
    database = await createPostgres()
    data = sandbox.path('data')
    receiver = await startReceiver()
    const env = {
      TRELLIS_DATABASE_URL: database.url,
      TRELLIS_DATABASE_POOL: '5',
      TRELLIS_SANDBOX: 'off',
      TRELLIS_LOG_LEVEL: 'error',
      TRELLIS_EGRESS_ALLOW: '127.0.0.1',
      TRELLIS_WEBHOOK_LEASE_SECONDS: '3',
      // Long enough for a machine that has much else to do: one of them lives, and must not be taken for dead.
      TRELLIS_RUN_LEASE_SECONDS: '6',
      TRELLIS_RUN_CONCURRENCY: String(EACH),
      TRELLIS_ORG_MAX_RUNNING: String(2 * EACH),
      TRELLIS_RUN_TIMEOUT_SECONDS: '300',
    }
    one = await startServer(data, env)
    two = await startServer(data, env)
    await ok('repos/create', {})
    const changes = Object.entries({ ...files, ...waiting }).map(([path, content]) => ({
      op: 'put',
      path,
      content,
    }))
    await ok('git/commits/create', { branch: 'main', message: 'Begin', changes })
    await ok('extensions/promote', {})
    const on = { event: { types: ['mixed.asked', 'repo.updated'] } }
    await ok('webhooks/create', { webhook: 'told', url: receiver.url, on })
  })
  after(async () => {
    await one.kill()
    await two.stop()
    await receiver.close()
    await database.drop()
    sandbox.remove()
  })

  it('share what there is to do, and nothing is done twice', async () => {
    const ways = chooseWays(RUNS, false)
    await Promise.all(ways.map((ask, n) => ask(n % 2 === 0 ? one : two, name, n)))
    await until('all have ended', isQuiet, PATIENCE_MS)
    const accounts = await readAccounts(ok, name, () => true)
    assertAgree(accounts)
    for (const run of accounts.runs)
      assert.deepEqual([run.status, run.error], ['succeeded', null], JSON.stringify(run))
    const [first, second] = [await endedIn(one), await endedIn(two)]
    assert.ok(first > 0 && second > 0, `one did everything: ${first} and ${second}`)
    assert.equal(first + second, accounts.runs.length)

    const { marks, steps } = await takeSnapshot(database, data)
    for (const [step, count] of marks) assert.equal(count, 1, step)
    for (const { attempt } of steps.values()) assert.equal(attempt, 1)
    assertHeard(accounts, { daemon: 'watches', type: 'mixed.asked', most: 1 })
    const asked = accounts.events.filter(({ type }) => type === 'mixed.asked').map(({ seq }) => seq)
    await receiver.until(({ length }) => length >= asked.length)
    assert.deepEqual(seqsSent(), asked)
  })

  it('go on with what one of them leaves when it is killed', async () => {
    receiver.answer = () => {}
    receiver.received.length = 0
    // Wakes the daemon, which stays in somebody's hands like the others.
    await ok('repos/update', { readOnly: false })
    for (let n = 1; n < 2 * EACH; n++)
      await ok('runs/dispatch', { extension: n % 2 === 0 ? 'stays' : 'goeson', input: {} })
    const before = await inHand()
    await receiver.until(({ length }) => length > 0)
    await one.kill()
    receiver.answer = (response) => response.writeHead(204).end()
    for (let i = 1; i < EVENTS; i++) await ok('repos/update', { readOnly: false })

    const shares = [...Map.groupBy(before, ({ worker_id }) => worker_id)]
    assert.deepEqual(
      shares.map(([, share]) => share.length),
      [EACH, EACH],
    )
    let dead: string | null | undefined
    await until(
      'what was in its hands is taken over',
      async () => {
        const { runs } = await takeSnapshot(database, data)
        const isLeft = ([worker, share]: (typeof shares)[0]) =>
          share.every(({ id }) => runs.get(id)?.worker_id !== worker)
        dead = shares.find(isLeft)?.[0]
        return dead !== undefined
      },
      PATIENCE_MS,
    )
    await ok('records/create', { record: 'gate', data: {} })
    await ok('daemons/resume', { daemon: 'keeps' })
    await until('all have ended', isQuiet, PATIENCE_MS)

    const accounts = await readAccounts(ok, name, ({ id }) => before.some((run) => run.id === id))
    assertAgree(accounts)
    assertHeard(accounts, { daemon: 'keeps', type: 'repo.updated', most: 1 })
    const { marks, steps } = await takeSnapshot(database, data)
    for (const { id, worker_id, runtime } of before) {
      const { status, error } = accounts.runs.find((run) => run.id === id) ?? {}
      const isCut = worker_id === dead
      if (runtime === 'workflow') {
        assert.deepEqual([status, marks.get(`${id} first`), marks.get(`${id} second`)], ['succeeded', 1, 1])
        const attempts = ['first', 'second'].map((step) => steps.get(`${id} ${step}`)?.attempt)
        assert.deepEqual(attempts, [1, isCut ? 2 : 1])
      } else assert.deepEqual([status, error], isCut ? ['failed', TAKEN_OVER] : ['succeeded', null])
    }
    await receiver.until(() => new Set(seqsSent()).size === EVENTS)
    const sent = [...new Set(seqsSent())]
    assert.deepEqual(
      sent,
      sent.toSorted((a, b) => a - b),
    )
  })

  /** What the two have in hand when they can take no more, all of it well begun. */
  async function inHand(): Promise<RunState[]> {
    let held: RunState[] = []
    await until(
      'both have their hands full',
      async () => {
        const { runs, steps } = await takeSnapshot(database, data)
        held = [...runs.values()].filter(({ worker_id }) => worker_id !== null)
        const flows = held.filter(({ runtime }) => runtime === 'workflow')
        return held.length === 2 * EACH && flows.every(({ id }) => steps.has(`${id} second`))
      },
      PATIENCE_MS,
    )
    return held
  }
})
