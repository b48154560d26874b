// A server that is killed while runs of all kinds wait, run and sleep: none is lost, none stays, and no step that is done
// is done again.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { after, before, it } from 'node:test'
import type { Daemon, Run } from '@trellis/contract'
import { installBubblewrap, onEachDatabase, type TestDatabase } from '@trellis/server/testing'
import type { Json } from '../../packages/server/src/testing/json.ts'
import { createSandbox, type Sandbox, type ServerProcess, startServer, until } from '../git/harness.ts'
import { type Ask, askToEnd, askToWait, chooseWays, files } from './mixed-runs.ts'
import { type Accounts, assertAgree, assertHeard, assertSetOffOnce, readAccounts } from './run-accounts.ts'
import { countUnended, type Snapshot, takeSnapshot } from './run-snapshots.ts'

/** Set RUNS_CRASH_ROUNDS and RUNS_CRASH_RUNS to try it for longer and with more, and CRASH_LOG to a file to follow it. */
const ROUNDS = Number(process.env.RUNS_CRASH_ROUNDS ?? 1)
const RUNS = Number(process.env.RUNS_CRASH_RUNS ?? 30)
const AT_ONCE = 8
const PATIENT = 2
const PATIENCE_MS = 60_000 + RUNS * 1_000

const name = 'shaken'
const TAKEN_OVER = 'The server that ran it was stopped, or could not be reached any more'

const log = (line: string) => process.env.CRASH_LOG && appendFileSync(process.env.CRASH_LOG, `${line}\n`)

onEachDatabase('killing the server while extensions run', (create) => {
  let sandbox: Sandbox
  let database: TestDatabase
  let data: string
  let server: ServerProcess
  let canSandbox: boolean
  let asked = 0
  /** Ids of runs and records, and commits, that somebody was told of. */
  const acknowledged = new Set<string>()

  const start = () =>
    startServer(data, {
      TRELLIS_DATABASE_URL: database.url,
      TRELLIS_DATABASE_POOL: '5',
      TRELLIS_LOG_LEVEL: 'error',
      TRELLIS_RATE_PER_SECOND: '1000000',
      TRELLIS_RATE_BURST: '1000000',
      TRELLIS_RUN_LEASE_SECONDS: '3',
    })
  const ok = async (path: string, input: object): Promise<Json> => {
    const { status, body } = await server.post(path, input)
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
    return body
  }
  const endedHere = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return [...text.matchAll(/^trellis_runs_total\{.*\} (\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
  }
  const unended = () => countUnended(database, data)
  const daemon = async (): Promise<Daemon> => (await ok('daemons/list', { name })).items[0]

  /** Sets off runs until all are, or the server is gone. */
  async function ask(ways: Ask[]): Promise<void> {
    const askers = Array.from({ length: AT_ONCE }, async () => {
      for (let way = ways.pop(); way; way = ways.pop()) {
        const answer = await way(server, name, asked++).catch(() => undefined)
        if (!answer) return
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        acknowledged.add(answer.kept)
      }
    })
    await Promise.all(askers)
  }

  /** With all that it started. */
  async function killServer(): Promise<void> {
    const below = descendantsOf(server.pid)
    await server.kill()
    await until('what it had started is gone', () => !below.some(isAlive), 60_000)
  }

  /** All but those who wait for the end; what the daemon was told of in vain it is told again. */
  async function settle(): Promise<void> {
    await until('all have ended', async () => (await unended()) === PATIENT, PATIENCE_MS)
    await ok('daemons/resume', { name, daemon: 'watches' })
    const isHeard = async () => (await daemon()).pendingEventCount === 0 && (await unended()) === PATIENT
    await until('the daemon has heard everything', isHeard, PATIENCE_MS)
  }

  before(async () => {
    await installBubblewrap()
    sandbox = createSandbox()
    database = await create()
    data = sandbox.path('data')
    server = await start()
    await ok('repos/create', { name })
    const changes = Object.entries(files).map(([path, content]) => ({ op: 'put', path, content }))
    await ok('git/commits/create', { name, branch: 'main', message: 'Begin', changes })
    await ok('extensions/promote', { name })
    const { items } = await ok('extensions/list', { name })
    canSandbox = items.find((entry: { name: string }) => entry.name === 'box').dispatchable
  })
  after(async () => {
    await server.stop()
    await database.drop()
    sandbox.remove()
  })

  it('loses none, leaves none behind, and does no step again that was done', async (t) => {
    for (let n = 1; n <= PATIENT; n++) acknowledged.add((await askToWait(server, name, -n)).kept)
    let known: ReadonlySet<string> = new Set()
    for (let round = 1; round <= ROUNDS; round++) {
      const killAt = (await endedHere()) + randomInt(Math.ceil(RUNS * 0.1), Math.ceil(RUNS * 0.9))
      const ways = chooseWays(RUNS, canSandbox)
      const asking = ask(ways)
      await until('some have ended', async () => (await endedHere()) >= killAt, PATIENCE_MS)
      await killServer()
      await asking
      const then = await takeSnapshot(database, data)
      server = await start()
      await ask(ways)
      await settle()
      const accounts = await readAccounts(ok, name, ({ id }) => !known.has(id))
      assertAllThere(accounts, acknowledged)
      const told = assertWell(accounts, then, await takeSnapshot(database, data))
      known = new Set(accounts.runs.map(({ id }) => id))
      const line = `${database.dialect} round ${round}: ${told}, ${known.size} runs and ${accounts.events.length} events in all`
      t.diagnostic(line)
      log(line)
    }
    const { kept: id } = await askToEnd(server, name, asked++)
    assert.equal((await ok('runs/get', { id, waitMs: 60_000 })).run.status, 'succeeded')
    await until('nothing goes on', async () => (await unended()) === 0, PATIENCE_MS)
    const accounts = await readAccounts(ok, name, ({ extension }) => extension === 'patient')
    assertAgree(accounts)
    const { queues, keptBytes, marks } = await takeSnapshot(database, data)
    const counted = queues.map(({ ready, running }) => ready + running)
    assert.ok(counted.every((count) => count === 0))
    assert.equal(
      queues.reduce((sum, { kept_bytes }) => sum + kept_bytes, 0),
      keptBytes,
    )
    const patient = accounts.runs.filter(({ extension }) => extension === 'patient')
    assert.equal(patient.length, PATIENT)
    for (const { id, status } of patient)
      assert.deepEqual([status, marks.get(`${id} first`), marks.get(`${id} last`)], ['succeeded', 1, 1])
  })
})

function assertAllThere(accounts: Accounts, acknowledged: ReadonlySet<string>): void {
  assertAgree(accounts)
  const { runs, events } = accounts
  const told = new Set([...runs.map(({ id }) => id), ...events.flatMap(({ payload }) => idsIn(payload))])
  for (const kept of acknowledged) assert.ok(told.has(kept), `${kept} was acknowledged`)
  const [first] = events.filter(({ type }) => type === 'extension.promoted')
  assertSetOffOnce(accounts, 'hears', ({ type }) => type === 'mixed.asked')
  assertSetOffOnce(accounts, 'pushed', ({ type, seq }) => type === 'git.push' && seq > (first?.seq ?? 0))
  assertSetOffOnce(
    accounts,
    'items',
    ({ type, payload }) => type === 'record.created' && (payload as { record: string }).record === 'item',
  )
  assertHeard(accounts, { daemon: 'watches', type: 'mixed.asked', most: 1 })
}

/** Of a record, or a commit. */
const idsIn = (payload: unknown): string[] => {
  const { row, after } = (payload ?? {}) as { row?: { id: string }; after?: string }
  return [...(row ? [row.id] : []), ...(after ? [after] : [])]
}

/** What has become of runs of which some were under way when the server was killed. */
function assertWell({ runs }: Accounts, then: Snapshot, now: Snapshot): string {
  let cut = 0
  let stalled = 0
  for (const run of runs.filter(({ endedAt }) => endedAt !== null)) {
    const before = then.runs.get(run.id)
    const after = now.runs.get(run.id)
    if (before?.ended_at) assert.deepEqual(after, before)
    else if (run.status === 'succeeded') assertSucceeded(run, then, now)
    else {
      assert.deepEqual([run.status, run.error], ['failed', TAKEN_OVER], JSON.stringify(run))
      assert.notEqual(run.runtime, 'workflow')
      // On a machine that stands still for longer than a lease, it may be taken from one that lives.
      if (before?.status === 'running') cut++
      else stalled++
    }
    if (before?.status === 'running' && before.runtime !== 'workflow') assert.equal(run.status, 'failed')
  }
  const going = [...then.runs.values()].filter(({ ended_at }) => ended_at === null)
  const waiting = going.filter(({ status }) => status === 'queued').length
  const again = [...now.steps.values()].filter(({ kind, attempt }) => kind === 'do' && attempt > 1).length
  const flows = going.filter(({ runtime, status }) => runtime === 'workflow' && status === 'running').length
  return `${waiting} waited, ${flows} workflows were begun, ${cut} runs were cut off, ${again} steps begun again, ${stalled} taken from the living`
}

function assertSucceeded(run: Run, then: Snapshot, now: Snapshot): void {
  const about = JSON.stringify(run)
  const { n, ...tokens } = run.output as { n: number; [step: string]: unknown }
  if (run.trigger === 'dispatch') assert.equal(n, (run.input as { n: number }).n, about)
  if (run.runtime !== 'workflow') return
  const steps = [...now.steps.values()].filter(({ run_id }) => run_id === run.id)
  assert.deepEqual(
    steps.map(({ place }) => place).toSorted((a, b) => Number(a) - Number(b)),
    steps.map((_, i) => i + 1),
    about,
  )
  for (const step of steps) {
    const key = `${run.id} ${step.name}`
    const before = then.steps.get(key)
    if (step.kind === 'do') assert.equal(step.result, JSON.stringify(tokens[step.name]), about)
    if (before?.state === 'done') {
      assert.deepEqual(step, before)
      assert.equal(now.marks.get(key), then.marks.get(key), `${key} was done before`)
    }
    // One that was under way may have left its mark, and is begun once more.
    if (step.kind === 'do') assert.ok((now.marks.get(key) ?? 0) <= step.attempt, about)
    assert.equal(step.state, 'done')
  }
}

function descendantsOf(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [...children, ...children.flatMap(descendantsOf)]
}

/** One that has ended and that nobody has asked after is gone. */
const isAlive = (pid: number): boolean => /\) [^ZX] /.test(textOf(`/proc/${pid}/stat`))

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
