// Extensions that are pushed, promoted and run, by workerd as it is.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { createSqlite, onEachDatabase, startTestApp, useInSuite, worldOf } from '@trellis/server/testing'

const useWorld = (
  create: Parameters<Parameters<typeof onEachDatabase>[1]>[0],
  env: Record<string, string> = {},
) =>
  useInSuite(async (made) => {
    const database = made.use(await create())
    const app = made.use(await startTestApp(database, env))
    return worldOf(app, (await app.signUp('ana')).token)
  })

describe('extensions in workerd', () => {
  const world = useWorld(createSqlite)

  before(async () => {
    await world.repo('tools', {
      all: {
        declares: {
          capabilities: ['repo:read', 'repo:write', 'events:emit', 'secret:TOKEN'],
          on: { push: { branches: ['main'], paths: ['docs/**'] } },
        },
        does: `
          console.log('begun', { trigger: ctx.run.trigger })
          const text = await ctx.repo.readText('docs/a.md')
          const bytes = await ctx.repo.readBytes('docs/a.md')
          const { oid } = await ctx.repo.commit({ branch: 'report', message: 'Report', changes: [{ op: 'put', path: 'out', content: String(text) }] })
          await ctx.events.emit('docs.checked', { payload: { oid } })
          const refused = await ctx.repo.deleteBranch('main').catch((error: any) => error.code)
          return { text, bytes: bytes?.length, refused, has: Object.keys(ctx).sort(), token: ctx.secrets.TOKEN }`,
      },
      throws: { does: 'throw new RangeError("too far")' },
    })
    await world.ok('secrets/set', { name: 'tools', secret: 'TOKEN', value: 'very secret' })
  })

  it('run after a push, with what they were granted', async () => {
    await world.commit('tools', { 'docs/a.md': 'hello' })
    const [run] = await world.runsOf('tools', 1)
    assert.equal(run?.error, null)
    assert.deepEqual(run?.output, {
      text: 'hello',
      bytes: 5,
      refused: 'FORBIDDEN',
      has: ['events', 'log', 'repo', 'run', 'secrets', 'signal'],
      token: '***',
    })
    assert.deepEqual(await world.log(run?.id ?? ''), [
      'run.queued',
      'run.started',
      'run.log begun {"trigger":"push"}',
      'run.succeeded',
    ])
    const { items } = await world.ok('events/list', {
      name: 'tools',
      types: ['docs.checked', 'git.push'],
      order: 'newest',
    })
    assert.deepEqual(
      items.slice(0, 2).map(({ cause }: { cause: { runId: string } }) => cause.runId),
      [run?.id, run?.id],
    )
  })

  it('end when they throw', async () => {
    const thrown = await world.run('tools', 'throws')
    assert.equal(thrown.error, 'RangeError: too far')
    const { items } = await world.ok('runs/logs', { id: thrown.id })
    assert.match(items.at(-2).payload.message, /extensions\/throws\/index\.ts:1/)
  })
})

describe('extensions in workerd that do not end', () => {
  const world = useWorld(createSqlite, { TRELLIS_RUN_TIMEOUT_SECONDS: '1' })

  it('are ended', async () => {
    await world.repo('tools', { loop: { does: 'for (;;);' } })
    const late = await world.run('tools', 'loop')
    assert.equal(late.status, 'failed')
    assert.match(late.error ?? '', /time|1 s/)
  })
})

onEachDatabase('workflows in workerd', (create) => {
  const world = useWorld(create)

  before(async () => {
    await world.repo('flows', {
      report: {
        declares: { runtime: 'workflow', capabilities: ['events:emit'] },
        does: `
          const first = await ctx.step.do('first', async () => { ctx.log('once'); return { n: 1 } })
          await ctx.step.sleep('a month', 30 * 86_400_000)
          const event = await ctx.step.waitForEvent('approval', { type: 'report.approved', subject: 'report/*' })
          const late = await ctx.step.waitForEvent('more', { type: 'report.never', timeoutMs: 60_000 })
          const tried = await ctx.step.do('flaky', { retries: 2 }, async () => {
            ctx.log('trying')
            if (!(globalThis as any).tried) { (globalThis as any).tried = true; throw new Error('not yet') }
            return 'done'
          })
          return { first, event: event.payload, late, tried, slept: Date.now() >= input.from + 30 * 86_400_000 }`,
      },
      emits: {
        declares: { capabilities: ['events:emit'] },
        does: `await ctx.events.emit('report.approved', { subject: input.subject, payload: { ok: true } })`,
      },
      changes: {
        declares: { runtime: 'workflow' },
        does: `
          ;(globalThis as any).begun = ((globalThis as any).begun ?? 0) + 1
          await ctx.step.do((globalThis as any).begun > 1 ? 'other' : 'one', async () => 1)
          await ctx.step.sleep('a while', 3_600_000)`,
      },
      stays: {
        declares: { runtime: 'workflow' },
        does: `
          const first = await ctx.step.do('first', async () => { ctx.log('in the first'); return 1 })
          const second = await ctx.step.do('second', async () => {
            ctx.log('in the second')
            const before = (globalThis as any).before
            ;(globalThis as any).before = true
            if (!before) await new Promise((resolve) => setTimeout(resolve, 20_000))
            return 2
          })
          return { first, second }`,
      },
      waits: {
        declares: { runtime: 'workflow', capabilities: ['repo:read'] },
        does: `
          await ctx.step.do('first', async () => ctx.log('begun'))
          while (!(await ctx.repo.branches()).some(({ name }) => name === 'go'))
            await new Promise((resolve) => setTimeout(resolve, 50))
          return 'gone on'`,
      },
      naps: {
        declares: { runtime: 'workflow', capabilities: ['repo:read'] },
        does: `
          const isToGoOn = async () => (await ctx.repo.branches()).some(({ name }: any) => name === input.until)
          await ctx.step.do('work', async () => {
            ctx.log('working')
            while (!(await isToGoOn())) await new Promise((resolve) => setTimeout(resolve, 50))
          })
          await ctx.step.sleep('an hour', 3_600_000)`,
      },
      gives: {
        declares: { runtime: 'workflow' },
        does: `return ctx.step.do('fails', async () => { throw new TypeError('never') })`,
      },
    })
  })

  const asleep = async (id: string) => {
    for (const late = Date.now() + 120_000; Date.now() < late; ) {
      const row = await world.app.database.db
        .selectFrom('runs')
        .select(['worker_id', 'status', 'ready'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      if (row.status === 'running' && row.worker_id === null && row.ready === 0) return
      assert.ok(['queued', 'running'].includes(row.status), row.status)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error('it does not fall asleep')
  }

  it('sleep for months, wait for events and go on where they were', async () => {
    const from = world.app.now()
    const { run } = await world.ok('runs/dispatch', { name: 'flows', extension: 'report', input: { from } })
    await asleep(run.id)
    world.app.pass(31 * 86_400_000)
    const waiting = async () =>
      (
        await world.app.database.db
          .selectFrom('run_triggers')
          .select('run_id')
          .where('run_id', '=', run.id)
          .execute()
      ).length
    for (
      const late = Date.now() + 120_000;
      (await waiting()) === 0;
      await new Promise((resolve) => setTimeout(resolve, 20))
    )
      assert.ok(Date.now() < late, 'it does not come to wait')
    await asleep(run.id)
    // What it was begun with is what it goes on with.
    await world.commit('flows', { 'extensions/report/index.ts': 'export default async () => "another"\n' })
    await world.ok('extensions/promote', { name: 'flows' })
    await world.run('flows', 'emits', { subject: 'other/1' })
    await world.run('flows', 'emits', { subject: 'report/1' })
    for (
      const late = Date.now() + 120_000;
      (await waiting()) !== 1;
      await new Promise((resolve) => setTimeout(resolve, 20))
    )
      assert.ok(Date.now() < late, 'it does not go on')
    await asleep(run.id)
    world.app.pass(61_000)
    const ended = await world.ended(run.id)
    assert.deepEqual([ended.status, ended.error], ['succeeded', null])
    assert.deepEqual(ended.output, {
      first: { n: 1 },
      event: { ok: true },
      late: null,
      tried: 'done',
      slept: true,
    })
    const log = await world.log(run.id)
    assert.deepEqual(
      log.filter((line) => line.startsWith('run.log')),
      ['run.log once', 'run.log trying', 'run.log trying'],
    )
    assert.equal(log.filter((line) => line === 'run.started').length, 1)
  })

  it('go on from their last step when their server died over them', async () => {
    const { run } = await world.ok('runs/dispatch', { name: 'flows', extension: 'stays', input: {} })
    for (const late = Date.now() + 120_000; !(await world.log(run.id)).includes('run.log in the second'); )
      assert.ok(Date.now() < late, 'it does not come so far')
    await world.app.database.db
      .updateTable('runs')
      .set({ worker_id: 'dead' })
      .where('id', '=', run.id)
      .execute()
    const ended = await world.ended(run.id)
    assert.deepEqual([ended.status, ended.output], ['succeeded', { first: 1, second: 2 }])
    const said = (await world.log(run.id)).filter((line) => line.startsWith('run.log'))
    assert.deepEqual(said, ['run.log in the first', 'run.log in the second', 'run.log in the second'])
  })

  it('go on when their server was silent for so long that others might have taken them', async () => {
    const { run } = await world.ok('runs/dispatch', { name: 'flows', extension: 'waits', input: {} })
    for (const late = Date.now() + 20_000; !(await world.log(run.id)).includes('run.log begun'); )
      assert.ok(Date.now() < late, 'it does not begin')
    world.app.pass(60_000)
    await world.commit('flows', { go: '' }, 'go')
    const ended = await world.ended(run.id)
    assert.deepEqual([ended.status, ended.output], ['succeeded', 'gone on'])
  })

  it('do not sleep, nor go on elsewhere, when they were cancelled through another process meanwhile', async () => {
    for (const elsewhere of [{}, { worker_id: 'dead' }]) {
      const input = { until: `go-${Object.keys(elsewhere).length}` }
      const { run } = await world.ok('runs/dispatch', { name: 'flows', extension: 'naps', input })
      for (const late = Date.now() + 20_000; !(await world.log(run.id)).includes('run.log working'); )
        assert.ok(Date.now() < late, 'it does not come so far')
      await world.app.database.db
        .updateTable('runs')
        .set({ cancel_requested_at: world.app.now(), ...elsewhere })
        .where('id', '=', run.id)
        .execute()
      await world.ok('git/branches/create', { name: 'flows', branch: input.until, from: 'main' })
      const ended = await world.ended(run.id)
      assert.deepEqual([ended.status, ended.error], ['cancelled', null])
      const log = ['run.queued', 'run.started', 'run.log working', 'run.cancelled']
      assert.deepEqual(await world.log(run.id), log)
    }
  })

  it('end when their steps come in another order, when a step fails for good, and when they are cancelled', async () => {
    const failed = await world.run('flows', 'gives')
    assert.equal(failed.error, 'TypeError: never')
    const { run } = await world.ok('runs/dispatch', { name: 'flows', extension: 'changes', input: {} })
    await asleep(run.id)
    world.app.pass(3_600_000)
    const ended = await world.ended(run.id)
    assert.match(ended.error ?? '', /The order of steps has changed/)
    const again = await world.ok('runs/dispatch', { name: 'flows', extension: 'changes', input: {} })
    await asleep(again.run.id)
    const { run: cancelled } = await world.ok('runs/cancel', { id: again.run.id })
    assert.equal(cancelled.status, 'cancelled')
  })
})
