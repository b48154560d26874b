// What is in examples/, pushed with git to one server, promoted, and run there as their pages say.

import assert from 'node:assert/strict'
import { cp, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import type { Run } from '@trellis/contract'
import { createSqlite, installBubblewrap, useInSuite, useReceiver } from '@trellis/server/testing'
import type { Json } from '../../packages/server/src/testing/json.ts'
import { type Client, startHost, until } from '../git/harness.ts'

const EXAMPLES = resolve(import.meta.dirname, '../../examples')
const DAY_MS = 24 * 60 * 60_000
/** A machine may be slow, and has a sandbox to start. */
const PATIENCE_MS = 120_000

describe('the examples', () => {
  const receiver = useReceiver()
  const host = useInSuite(async (made) => {
    await installBubblewrap()
    return made.use(
      await startHost(createSqlite, { TRELLIS_SANDBOX: 'on', TRELLIS_EGRESS_ALLOW: '127.0.0.1' }),
    )
  })

  /** A repository with files of examples, each below a folder, pushed and promoted. */
  async function pushed(name: string, folders: Record<string, string>, files: Record<string, string> = {}) {
    const client = host.client()
    await host.repo(name)
    await client.run('init', '-q')
    for (const [folder, example] of Object.entries(folders))
      await cp(join(EXAMPLES, example), join(client.dir, folder), { recursive: true })
    await client.commit(files)
    await client.run('push', '-q', host.remote(name), 'HEAD:main')
    await host.ok('extensions/promote', { name })
    return client
  }
  async function push(name: string, client: Client, files: Record<string, string>, branch = 'main') {
    const oid = await client.commit(files)
    await client.run('push', '-q', host.remote(name), `HEAD:${branch}`)
    return oid
  }
  const rows = async (name: string, record: string, where: object = {}): Promise<Json[]> =>
    (await host.ok('records/list', { name, record, where })).rows
  const oneRow = async (name: string, record: string, where: object): Promise<Json> => {
    await until(
      `there is such a ${record}`,
      async () => (await rows(name, record, where)).length > 0,
      PATIENCE_MS,
    )
    return (await rows(name, record, where))[0]
  }
  const update = async (name: string, record: string, id: string, data: object) => {
    for (;;) {
      const { revision } = await host.ok('records/get', { name, record, id })
      const { status, body } = await host.call('records/update', { name, record, id, revision, data })
      // An extension may have changed it in between.
      if (body.code === 'RECORD_REVISION_CONFLICT') continue
      assert.equal(status, 200, JSON.stringify(body))
      return
    }
  }
  const event = async (name: string, type: string) => {
    const find = async () => (await host.events(name)).findLast((each) => each.type === type)
    await until(`${type} is told`, async () => (await find()) !== undefined, PATIENCE_MS)
    return find()
  }
  async function ended(id: string): Promise<Run> {
    let run: Run | undefined
    const hasEnded = async () => {
      run = (await host.ok('runs/get', { id, waitMs: 10_000 })).run as Run
      return run.endedAt !== null
    }
    await until('the run has ended', hasEnded, PATIENCE_MS)
    assert.deepEqual([run?.status, run?.error], ['succeeded', null])
    return run ?? assert.fail()
  }
  const dispatch = async (name: string, extension: string, input: object = {}): Promise<Run> =>
    (await host.ok('runs/dispatch', { name, extension, input })).run
  const wake = async (name: string, daemon: string): Promise<Run> =>
    (await host.ok('daemons/wake', { name, daemon })).run
  const latest = async (name: string, extension: string): Promise<Run | undefined> =>
    (await host.ok('runs/list', { name, extension, limit: 1 })).items[0]
  const logOf = async ({ id }: Run): Promise<string> =>
    (await host.ok('runs/logs', { id, limit: 250 })).items
      .flatMap(({ payload }: Json) => payload?.message ?? [])
      .join('\n')
  /** Whether this machine has no sandbox, and what is left out for that reason. */
  function hasNoSandbox(t: TestContext): boolean {
    const reason = /sandbox runtime cannot run here.*"reason":"([^"]+)/.exec(host.app.logged())?.[1]
    if (reason !== undefined) t.skip(reason)
    return reason !== undefined
  }

  describe('tracker', () => {
    const name = 'tracker'
    let client: Client
    before(async () => {
      client = await pushed(name, { '.': 'tracker' })
    })

    it('finds somebody for a task, and tells when it is done', async () => {
      const task = { title: 'Write the guide', area: 'docs', due: 1000 }
      const { id } = await host.ok('records/create', { name, record: 'task', data: task })
      await oneRow(name, 'task', { id, assignee: 'grace' })
      for (const status of ['doing', 'done']) await update(name, 'task', id, { status })
      const closed = await event(name, 'task.closed')
      assert.deepEqual(
        [closed?.subject, closed?.payload],
        [`task/${id}`, { title: task.title, assignee: 'grace' }],
      )
    })

    it('says what is late, once', async () => {
      await host.ok('records/create', { name, record: 'task', data: { title: 'Late', due: 1000 } })
      // Rows that were made have woken it, too.
      await until('it sleeps', async () => (await latest(name, 'overdue'))?.endedAt !== null, PATIENCE_MS)
      await ended((await wake(name, 'overdue')).id)
      assert.equal((await event(name, 'task.overdue'))?.payload.title, 'Late')
      assert.deepEqual((await ended((await wake(name, 'overdue')).id)).output, { told: 0 })
      await until('there is an alert', async () => (await latest(name, 'alerts')) !== undefined, PATIENCE_MS)
      const alert = await ended((await latest(name, 'alerts'))?.id ?? '')
      assert.match(await logOf(alert), /tracker: "Late" is overdue/)
    })

    it('makes a release of what is done, when somebody approves of it', async () => {
      const run = await dispatch(name, 'releases', { version: '1.0.0' })
      const { id } = await oneRow(name, 'release', { version: '1.0.0', notes: { exists: true } })
      const waits = async () => {
        const { db } = host.app.database
        const steps = db.selectFrom('run_steps').select('step').where('run_id', '=', run.id)
        return (await steps.where('state', '=', 'waiting').execute()).length > 0
      }
      await until('it waits for somebody to approve', waits, PATIENCE_MS)
      await update(name, 'release', id, { status: 'approved' })
      assert.deepEqual((await ended(run.id)).output, { release: id, status: 'published', tasks: 1 })
      assert.ok('refs/tags/v1.0.0' in (await host.refs(name)))
      assert.equal((await event(name, 'release.published'))?.payload.version, '1.0.0')
    })

    it('checks documentation that is pushed, and keeps what is wrong with the commit', async (t) => {
      if (hasNoSandbox(t)) return
      const commit = await push(name, client, {
        'docs/a.md': 'See [b](b.md), [home](../README.md) and `[c](c.md)`.\n',
      })
      const { data } = await oneRow(name, 'check', { commit })
      assert.deepEqual(
        [data.outcome, data.ref, data.problems],
        ['failed', 'refs/heads/main', [{ file: 'docs/a.md', message: 'b.md leads nowhere' }]],
      )
      const mended = await push(name, client, { 'docs/b.md': 'Here.\n' })
      assert.equal((await oneRow(name, 'check', { commit: mended })).data.outcome, 'passed')
    })
  })

  describe('library', () => {
    const name = 'library'
    let client: Client
    before(async () => {
      client = await pushed(name, { '.': 'library' })
    })

    it('runs its own tests when it is pushed, and keeps how they went', async (t) => {
      if (hasNoSandbox(t)) return
      const good = await push(name, client, { 'NOTES.md': 'x\n' })
      const passed = (await oneRow(name, 'test', { commit: good })).data
      assert.deepEqual([passed.outcome, passed.exitCode, passed.ref], ['passed', 0, 'refs/heads/main'])
      const test =
        "import assert from 'node:assert'\nimport { it } from 'node:test'\nit('holds', () => assert.ok(false))\n"
      const bad = await push(name, client, { 'src/wrong.test.js': test }, 'topic')
      const failed = (await oneRow(name, 'test', { commit: bad })).data
      assert.deepEqual([failed.outcome, failed.exitCode], ['failed', 1])
      assert.match(failed.output, /holds/)
      assert.deepEqual((await event(name, 'tests.failed'))?.payload, { commit: bad, ref: 'refs/heads/topic' })
      const run = await latest(name, 'tests')
      assert.match(await logOf(await ended(run?.id ?? '')), /holds/)
    })

    it('reports in the night, and whenever it is woken by hand', async () => {
      const { output } = await ended((await wake(name, 'nightly')).id)
      const read = async ({ day }: Json): Promise<string> =>
        (await host.ok('git/blobs/get', { name, ref: 'reports', path: `reports/${day}.md` })).content
      assert.match(await read(output), /^# \d{4}-\d\d-\d\d\n\n\d commits on main, \d runs of the tests/)

      // By the clock it is woken a day after its promotion, and sleeps until three.
      host.app.pass(DAY_MS)
      const scheduled = async () =>
        (await host.ok('runs/list', { name, extension: 'nightly' })).items.find(
          ({ input }: Json) => input.reason === 'schedule',
        )
      await until('it is woken', async () => (await scheduled()) !== undefined, PATIENCE_MS)
      const { id } = await scheduled()
      const sleeps = async () =>
        (
          await host.app.database.db
            .selectFrom('runs')
            .select(['status', 'worker_id'])
            .where('id', '=', id)
            .execute()
        ).some(({ status, worker_id }) => status === 'running' && worker_id === null)
      await until('it sleeps', sleeps, PATIENCE_MS)
      host.app.pass(DAY_MS)
      const night = await ended(id)
      assert.equal(new Date((night.output as Json).day).getTime() % DAY_MS, 0)
      assert.match(await read(night.output), /0 runs of the tests/)
      assert.equal((await event(name, 'report.written'))?.subject, (night.output as Json).day)
    })
  })

  describe('templates', () => {
    const name = 'templates'
    const runtimes = ['worker', 'sandbox', 'workflow']
    before(async () => {
      const folders = runtimes.map((runtime) => [`extensions/${runtime}`, `templates/${runtime}`])
      const webhook = await readFile(join(EXAMPLES, 'templates/webhook/webhook.json'), 'utf8')
      await pushed(
        name,
        { ...Object.fromEntries(folders), 'webhooks/chat': 'templates/webhook' },
        {
          'README.md': '# Hello\n\nIt is me.\n',
          'webhooks/chat/webhook.json': JSON.stringify({ ...JSON.parse(webhook), url: receiver.url }),
        },
      )
    })

    it('run as they are', async () => {
      const worker = await ended((await dispatch(name, 'worker')).id)
      assert.deepEqual(worker.output, { path: 'README.md', lines: 3 })
      const { began, ended: over } = (await ended((await dispatch(name, 'workflow', { waitMs: 1 })).id))
        .output as Json
      assert.ok(over > began)
    })

    it('run in the sandbox, where there is one', async (t) => {
      if (hasNoSandbox(t)) return
      const run = await ended((await dispatch(name, 'sandbox')).id)
      assert.equal((run.output as Json).commit, run.commitSha)
      assert.match(await logOf(run), /^\d+ files/)
    })

    it('send bodies of their own making', async () => {
      const client = await host.clone(name)
      await push(name, client, { 'README.md': '# Hello again\n' })
      await until('it has come', () => receiver.received.length === 1, PATIENCE_MS)
      const { text } = JSON.parse(receiver.received[0]?.body ?? '')
      assert.equal(text, `user ${host.owner.userId} pushed refs/heads/main to ${host.owner.slug}/${name}`)
    })
  })
})
