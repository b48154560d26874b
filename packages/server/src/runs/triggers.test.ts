import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { Run } from '@trellis/contract'
import { assertForbidden, assertInvalid, filesOf, onEachDatabase, useRuns } from '../testing/index.ts'

onEachDatabase('what sets runs off', (create) => {
  const world = useRuns(create, { TRELLIS_ORG_MAX_QUEUED: '20' })
  const shown = ({ extension, trigger, status }: Run) => `${extension} ${trigger} ${status}`
  const rejections = async (name: string) => {
    const { items } = await world.ok('events/list', { name, types: ['run.rejected'] })
    return items.map(({ payload }: { payload: object }) => payload)
  }

  before(async () => {
    await world.repo('site', {
      docs: {
        declares: { on: { push: { branches: ['main', 'release/*'], paths: ['docs/**'] } } },
        does: 'return { input, commit: ctx.run.commitSha, cause: ctx.run.cause }',
      },
    })
  })

  it('is a push to a branch that changes a path, and the run is told of it', async () => {
    await world.commit('site', { 'src/x': '1' })
    await world.commit('site', { 'docs/x': '1' }, 'other')
    const after = await world.commit('site', { 'docs/x': '2' })
    const [run] = await world.runsOf('site', 1)
    assert.ok(run)
    const { items } = await world.ok('events/list', { name: 'site', types: ['git.push'], order: 'newest' })
    const [event] = items
    assert.equal((await world.ok('runs/list', { name: 'site' })).items.length, 1)
    assert.deepEqual(
      [run.trigger, run.status, run.ref, run.before, run.after, run.commitSha],
      ['push', 'succeeded', 'refs/heads/main', event.payload.before, after, after],
    )
    assert.deepEqual([run.causeEventId, run.rootEventId, run.causationDepth], [event.id, event.id, 0])
    assert.deepEqual(run.input, event.payload)
    assert.deepEqual(run.output, {
      input: event.payload,
      commit: after,
      cause: { eventId: event.id, runId: null, depth: 0, chain: [], rootEventId: event.id },
    })
    assert.notEqual(run.commitSha, run.canonicalCommitSha)
    assert.deepEqual(run.actor, event.actor)
  })

  it('comes from the canonical commit alone, and changes with it', async () => {
    const files = (branches: string[]) =>
      filesOf({ late: { declares: { on: { push: { branches } } }, does: '' } })
    await world.repo('later', { none: { does: '' } })
    await world.commit('later', files(['*']))
    await world.commit('later', { a: '1' })
    assert.deepEqual((await world.ok('runs/list', { name: 'later' })).items, [])
    await world.ok('extensions/promote', { name: 'later' })
    await world.commit('later', { a: '2' })
    assert.deepEqual((await world.runsOf('later', 1)).map(shown), ['late push succeeded'])
    await world.commit('later', files(['nothing']), 'quiet')
    await world.ok('extensions/promote', { name: 'later', ref: 'quiet' })
    const { items } = await world.ok('runs/list', { name: 'later' })
    await world.commit('later', { a: '3' })
    assert.equal((await world.runsOf('later', items.length)).length, items.length)
  })

  it('is an event by its type, subject and source, emitted by another run', async () => {
    await world.repo('bus', {
      source: {
        declares: { capabilities: ['events:emit'] },
        does: 'await ctx.events.emit(input.type, { subject: input.subject, payload: { n: 1 } })',
      },
      sink: {
        declares: { on: { event: { types: ['task.escalated'], subject: 'task/*', from: 'user' } } },
        does: 'return input',
      },
      agents: { declares: { on: { event: { types: ['task.*'], from: 'agent' } } }, does: '' },
    })
    await world.run('bus', 'source', { type: 'task.escalated', subject: 'other/1' })
    const source = await world.run('bus', 'source', { type: 'task.escalated', subject: 'task/1' })
    const runs = await world.runsOf('bus', 3)
    const sink = runs.find(({ extension }) => extension === 'sink')
    assert.equal(runs.length, 3)
    const { items } = await world.ok('events/list', {
      name: 'bus',
      types: ['task.escalated'],
      order: 'newest',
    })
    const [{ credentialId: _, scope: __, ...event }] = items
    assert.deepEqual(event.cause, { runId: source.id, depth: 1, chain: [source.id], rootEventId: null })
    assert.deepEqual(sink?.input, event)
    assert.deepEqual([sink?.trigger, sink?.causationDepth, sink?.causeEventId], ['event', 1, event.id])
    assert.deepEqual([sink?.rootEventId, sink?.ref], [event.id, 'refs/trellis/canonical'])
  })

  it('is a row that is made or changes its state, for the extension that declares it', async () => {
    const status = {
      type: 'enum',
      values: ['open', 'done'],
      default: 'open',
      transitions: { open: ['done'], done: [] },
    }
    await world.repo('tasks', {
      hooked: {
        declares: {
          record: {
            name: 'task',
            fields: { title: { type: 'string' }, status },
            hooks: { onCreate: true, onTransition: true },
          },
        },
        does: 'return input',
      },
      deaf: { declares: { record: { name: 'note', fields: { text: { type: 'string' } } } }, does: '' },
    })
    await world.ok('records/create', { name: 'tasks', record: 'note', data: { text: 'x' } })
    const row = await world.ok('records/create', { name: 'tasks', record: 'task', data: { title: 'a' } })
    const place = { name: 'tasks', record: 'task', id: row.id }
    await world.ok('records/update', { ...place, revision: 1, data: { title: 'b' } })
    const done = await world.ok('records/update', { ...place, revision: 2, data: { status: 'done' } })
    const runs = await world.runsOf('tasks', 2)
    assert.deepEqual(
      runs.map(({ trigger, output }) => [trigger, output]),
      [
        ['record', { hook: 'create', record: 'task', row }],
        ['record', { hook: 'transition', record: 'task', row: done, before: { title: 'b', status: 'open' } }],
      ],
    )
  })

  it('ends by itself where two wake each other, with an event that says so', async () => {
    const wakes = (hears: string, emits: string) => ({
      declares: { capabilities: ['events:emit'], on: { event: { types: [hears] } } },
      does: `await ctx.events.emit('${emits}')`,
    })
    await world.repo('loop', { ping: wakes('x.pong', 'x.ping'), pong: wakes('x.ping', 'x.pong') })
    await world.run('loop', 'ping')
    const runs = await world.runsOf('loop', 5)
    assert.deepEqual(runs.map(shown), [
      'ping dispatch succeeded',
      'pong event succeeded',
      'ping event succeeded',
      'pong event succeeded',
      'ping event succeeded',
    ])
    assert.deepEqual(
      runs.map(({ causationDepth }) => causationDepth),
      [0, 1, 2, 3, 4],
    )
    assert.deepEqual(await rejections('loop'), [{ extension: 'pong', reason: 'depth_exceeded' }])
    const { items } = await world.ok('events/list', { name: 'loop', types: ['run.rejected'] })
    assert.deepEqual(
      items[0].cause.chain,
      runs.map(({ id }) => id),
    )
  })

  it('ends by itself where runs ask for runs, or hear of their own beginning', async () => {
    await world.repo('deep', {
      again: {
        declares: { capabilities: ['runs:dispatch'] },
        does: 'await ctx.runs.dispatch("again", {})',
      },
      watcher: { declares: { on: { event: { types: ['run.*'] } } }, does: '' },
    })
    await world.run('deep', 'watcher')
    // Each is told of in three events, which wake it. What tells of those that were woken by such wakes it no more.
    const runs = await world.runsOf('deep', 13)
    assert.equal(runs.length, 13)
    assert.ok((await rejections('deep')).length > 0)

    await world.repo('self', {
      again: { declares: { capabilities: ['runs:dispatch'] }, does: 'await ctx.runs.dispatch("again", {})' },
    })
    await world.run('self', 'again')
    const selves = await world.runsOf('self', 3)
    assert.deepEqual(
      selves.map(({ status, error }) => [status, error]),
      [
        ['succeeded', null],
        ['succeeded', null],
        ['failed', 'Error: Run rejected'],
      ],
    )
    assert.deepEqual(await rejections('self'), [{ extension: 'again', reason: 'depth_exceeded' }])
  })

  it('is rejected where nothing may be changed', async () => {
    await world.repo('still', {
      watches: { declares: { on: { event: { types: ['repo.updated'] } } }, does: '' },
    })
    await world.ok('repos/update', { name: 'still', readOnly: true })
    assert.deepEqual(await rejections('still'), [{ extension: 'watches', reason: 'frozen' }])
    assert.deepEqual((await world.ok('runs/list', { name: 'still' })).items, [])
    const asked = await world.call('runs/dispatch', { name: 'still', extension: 'watches' })
    assertForbidden(asked, 'write_frozen')
  })

  it('is held against the schema of the input before there is a run', async () => {
    const taking = (...required: string[]) => ({
      declares: { on: { push: {} }, inputSchema: { type: 'object', required } },
      does: 'return input.ref',
    })
    await world.repo('strict', { fits: taking('ref', 'after'), never: taking('ref', 'title') })
    await world.commit('strict', { a: '1' })
    const runs = await world.runsOf('strict', 1)
    assert.deepEqual(runs.map(shown), ['fits push succeeded'])
    assert.equal(runs[0]?.output, 'refs/heads/main')
    let rejected: { extension: string; reason: string }[] = []
    for (const late = Date.now() + 20_000; rejected.length === 0 && Date.now() < late; )
      rejected = await rejections('strict')
    const [{ extension, reason } = { extension: '', reason: '' }] = rejected
    assert.equal(rejected.length, 1)
    assert.equal(extension, 'never')
    assert.match(reason, /^input_invalid: .*title/)
    assert.deepEqual((await world.runsOf('strict', 1)).map(shown), ['fits push succeeded'])
    const left = await world.app.database.db.selectFrom('run_proposals').select('id').execute()
    assert.deepEqual(left, [])
  })

  it('is a branch that comes or goes, too', async () => {
    await world.repo('wide', {
      all: { declares: { on: { push: {} } }, does: 'return input.refs?.length ?? 1' },
    })
    const { commitSha } = await world.ok('extensions/list', { name: 'wide' })
    await world.ok('git/branches/create', { name: 'wide', branch: 'one', from: commitSha })
    const runs = await world.runsOf('wide', 1)
    assert.deepEqual(
      runs.map(({ ref, before, after, output }) => [ref, before, after, output]),
      [['refs/heads/one', null, commitSha, 1]],
    )
    await world.ok('git/branches/delete', { name: 'wide', branch: 'one' })
    const [, gone] = await world.runsOf('wide', 2)
    assert.deepEqual([gone?.after, gone?.commitSha, gone?.status], [null, null, 'succeeded'])
    // There is no such commit any more: its files are those of the canonical one.
    assert.equal(world.jobs.find(({ runId }) => runId === gone?.id)?.tree, gone?.canonicalCommitSha)
    for (const prefix of ['refs/trellis/', 'refs/trellis/canonical/']) {
      const branch = `${prefix}x`
      assertInvalid(await world.call('git/branches/create', { name: 'wide', branch }), ['ref'])
      const tag = { name: 'wide', tag: branch, oid: commitSha }
      assertInvalid(await world.call('git/tags/create', tag), ['ref'])
    }
  })

  it('is rejected once for all that are too many', async () => {
    const record = { name: 'task', fields: { n: { type: 'integer' } }, hooks: { onCreate: true } }
    await world.repo('many', { hooked: { declares: { record }, does: '' } })
    const lines = Array.from({ length: 50 }, (_, n) => JSON.stringify({ data: { n } })).join('\n')
    const response = await fetch(`${world.app.url}/api/v1/records/import?name=many&record=task`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.token}`, 'content-type': 'application/x-ndjson' },
      body: lines,
    })
    assert.equal(response.status, 200, await response.text())
    assert.equal((await world.runsOf('many', 20)).length, 20)
    assert.deepEqual(await rejections('many'), [{ extension: 'hooked', reason: 'queue_full', count: 30 }])
  })
})
