import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { assertFault, filesOf, onEachDatabase, useRuns, worldOf } from '../testing/index.ts'

onEachDatabase('runs that are asked for', (create) => {
  const world = useRuns(create)

  before(async () => {
    await world.repo('tools', {
      add: {
        declares: {
          inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
          outputSchema: { type: 'integer', maximum: 100 },
        },
        does: 'ctx.log("adding", { n: input.n }); return input.n + 1',
      },
      quiet: { declares: { dispatch: false }, does: 'return 1' },
      boxed: { declares: { runtime: 'sandbox' }, does: 'return 1' },
      throws: { does: 'const e = new TypeError("no good"); throw e' },
      nothing: { does: '' },
    })
  })

  it('are queued, run and answered with every field', async () => {
    const { run } = await world.ok('runs/dispatch', { name: 'tools', extension: 'add', input: { n: 1 } })
    assert.equal(run.status, 'queued')
    const ended = await world.ended(run.id)
    const { canonicalCommitSha, items } = await world.ok('extensions/list', { name: 'tools' })
    const entry = items.find(({ name }: { name: string }) => name === 'add')
    const { user } = { user: ended.actor }
    assert.deepEqual(ended, {
      ...run,
      status: 'succeeded',
      actor: user,
      ref: 'refs/trellis/canonical',
      canonicalRef: 'refs/trellis/canonical',
      before: null,
      after: null,
      commitSha: canonicalCommitSha,
      canonicalCommitSha,
      executedModuleHash: entry.moduleHash,
      canonicalDescriptorHash: entry.descriptorHash,
      canonicalGrantHash: entry.canonicalGrantHash,
      causeEventId: null,
      rootEventId: null,
      tokenId: ended.tokenId,
      error: null,
      causationDepth: 0,
      exitCode: null,
      input: { n: 1 },
      output: 2,
      runtime: 'worker',
      capabilities: [],
      effectiveCapabilities: [],
      startedAt: ended.startedAt,
      endedAt: ended.endedAt,
    })
    assert.match(ended.tokenId ?? '', /^tok_/)
    assert.ok(run.createdAt <= (ended.startedAt ?? 0) && (ended.startedAt ?? 0) <= (ended.endedAt ?? 0))
    assert.deepEqual(await world.log(run.id), [
      'run.queued',
      'run.started',
      'run.log adding',
      'run.succeeded',
    ])
    const { items: told } = await world.ok('events/list', {
      name: 'tools',
      types: ['run.queued', 'run.succeeded'],
    })
    assert.deepEqual(
      told.map(({ type, subject }: { type: string; subject: string }) => [type, subject]),
      [
        ['run.queued', run.id],
        ['run.succeeded', run.id],
      ],
    )
  })

  it('page their log as they were written', async () => {
    const { id } = await world.run('tools', 'add', { n: 1 })
    const first = await world.ok('runs/logs', { id, limit: 3 })
    const second = await world.ok('runs/logs', { id, limit: 3, cursor: first.nextCursor })
    assert.equal(first.items.length, 3)
    assert.deepEqual(first.items[2].payload, { level: 'info', message: 'adding', data: { n: 1 } })
    assert.equal(first.items[2].scope, `run:${id}`)
    assert.deepEqual(
      second.items.map(({ type }: { type: string }) => type),
      ['run.succeeded'],
    )
    assert.equal(second.nextCursor, null)
    assert.deepEqual(Object.keys(first.items[2]).sort(), [
      'actor',
      'cause',
      'id',
      'payload',
      'scope',
      'subject',
      'ts',
      'type',
    ])
  })

  it('are rejected before they exist when the input does not fit', async () => {
    for (const input of [{}, { n: 'one' }, [], null]) {
      const answer = await world.call('runs/dispatch', { name: 'tools', extension: 'add', input })
      assert.equal(answer.body.code, 'RUN_REJECTED')
      assert.match(answer.body.data.reason, /^input_invalid/)
    }
    assert.deepEqual((await world.run('tools', 'nothing', null)).input, {})
    // A number that would come back as null.
    const response = await fetch(`${world.app.url}/api/v1/runs/dispatch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${world.token}` },
      body: '{"name": "tools", "extension": "nothing", "input": {"list": [null, {"n": -1e400}]}}',
    })
    const { data } = (await response.json()) as { data: { reason: string } }
    assert.match(data.reason, /^input_invalid: it has a number beyond/)
    const large = { n: 1, text: 'x'.repeat(1024 * 1024 - 100) }
    assert.equal(
      (await world.call('runs/dispatch', { name: 'tools', extension: 'add', input: large })).status,
      200,
    )
  })

  it('fail when the output does not fit, when they throw, and with nothing returned succeed without output', async () => {
    const wrong = await world.run('tools', 'add', { n: 100 })
    assert.equal(wrong.status, 'failed')
    assert.match(wrong.error ?? '', /^output_invalid/)
    const thrown = await world.run('tools', 'throws')
    assert.deepEqual(
      [thrown.status, thrown.error, 'output' in thrown],
      ['failed', 'TypeError: no good', false],
    )
    const { items } = await world.ok('runs/logs', { id: thrown.id })
    const line = items.find(({ type }: { type: string }) => type === 'run.log')
    assert.equal(line.payload.level, 'error')
    assert.match(line.payload.message, /TypeError: no good\n/)
    const none = await world.run('tools', 'nothing')
    assert.deepEqual([none.status, 'output' in none], ['succeeded', false])
  })

  it('are refused for what is not there, may not be dispatched or is not in the canonical commit', async () => {
    const dispatch = (more: object) => world.call('runs/dispatch', { name: 'tools', ...more })
    assertFault(await dispatch({ extension: 'none' }), 'EXTENSION_NOT_FOUND', {
      name: 'tools',
      extension: 'none',
    })
    assertFault(await dispatch({ extension: 'quiet' }), 'RUN_REJECTED', { reason: 'not_dispatchable' })
    assertFault(await dispatch({ extension: 'add', ref: 'nowhere' }), 'GIT_OBJECT_NOT_FOUND', {
      name: 'tools',
      object: 'nowhere',
    })
    await world.commit('tools', filesOf({ later: { does: 'return 1' } }))
    assertFault(await dispatch({ extension: 'later' }), 'EXTENSION_NOT_FOUND', {
      name: 'tools',
      extension: 'later',
    })
    assert.equal((await world.run('tools', 'later', {}, 'main')).output, 1)
    await world.commit('tools', { 'extensions/later/index.ts': 'export default (' }, 'main')
    assert.equal((await dispatch({ extension: 'later', ref: 'main' })).body.code, 'EXTENSION_BUILD_FAILED')
    assertFault(await world.call('runs/get', { id: 'run_none' }), 'RUN_NOT_FOUND', { id: 'run_none' })
    assertFault(await world.call('runs/logs', { id: 'run_none' }), 'RUN_NOT_FOUND', { id: 'run_none' })
    assertFault(await world.call('runs/cancel', { id: 'run_none' }), 'RUN_NOT_FOUND', { id: 'run_none' })
  })

  it('have at a branch no more than was granted, and none where nothing was promoted', async () => {
    await world.repo('granted', {
      one: { declares: { capabilities: ['repo:read'] }, does: 'return (await ctx.repo.branches()).length' },
    })
    const more = { one: { declares: { capabilities: ['repo:read', 'repo:write'] }, does: 'return "branch"' } }
    await world.commit('granted', filesOf(more), 'bold')
    const branch = await world.run('granted', 'one', {}, 'bold')
    assert.deepEqual(
      [branch.output, branch.ref, branch.capabilities, branch.effectiveCapabilities],
      ['branch', 'bold', ['repo:read', 'repo:write'], ['repo:read']],
    )
    assert.notEqual(branch.commitSha, branch.canonicalCommitSha)
    assert.equal((await world.run('granted', 'one')).output, 2)

    await world.ok('repos/create', { name: 'fresh' })
    await world.commit(
      'fresh',
      filesOf({ one: { declares: { capabilities: ['repo:read'] }, does: 'return ctx.repo.branches()' } }),
    )
    const fresh = await world.run('fresh', 'one')
    assert.deepEqual([fresh.ref, fresh.canonicalCommitSha, fresh.effectiveCapabilities], ['main', null, []])
    assert.equal(fresh.status, 'failed')
    assert.match(fresh.error ?? '', /repo\.branches needs repo:read/)
  })

  it('do not move for a token the refs that it may not move', async () => {
    const does = 'return ctx.repo.commit({ branch: "main", message: "Moved", changes: input })'
    const writing = { declares: { capabilities: ['repo:read', 'repo:write'] }, does }
    const reading = { declares: { capabilities: ['repo:read'] }, does: 'return 1' }
    await world.repo('guarded', { writing, reading })
    const { secret } = await world.ok('tokens/create', {
      name: 'guarded',
      scope: 'write',
      refs: ['agent/**'],
    })
    const agent = worldOf(world.app, secret)
    const changed = { reading, writing: { ...writing, does: `/* another */ ${does}` } }
    await agent.commit('guarded', filesOf(changed), 'agent/try')

    const input = [{ op: 'put', path: 'moved', content: '' }]
    const dispatch = { name: 'guarded', extension: 'writing', input, ref: 'agent/try' }
    const { status, body } = await agent.call('runs/dispatch', dispatch)
    assert.deepEqual([status, body.data], [403, { reason: 'scope_missing' }])
    assert.equal((await agent.run('guarded', 'reading', {}, 'agent/try')).status, 'succeeded')
    // What was promoted is trusted with what it does for whoever may dispatch it.
    assert.equal((await agent.run('guarded', 'writing', input)).status, 'succeeded')
    assert.equal((await world.run('guarded', 'writing', input, 'agent/try')).status, 'succeeded')
  })

  it('are listed, newest first, by extension, status and trigger', async () => {
    await world.repo('listed', { a: { does: 'return 1' }, b: { does: 'throw new Error("x")' } })
    const ids: string[] = []
    for (const extension of ['a', 'b', 'a', 'b']) ids.unshift((await world.run('listed', extension)).id)
    const list = async (input: object) => {
      const { items, nextCursor } = await world.ok('runs/list', { name: 'listed', ...input })
      return { ids: items.map(({ id }: { id: string }) => id), nextCursor }
    }
    assert.deepEqual(await list({}), { ids, nextCursor: null })
    assert.deepEqual(await list({ extension: 'a' }), { ids: [ids[1], ids[3]], nextCursor: null })
    assert.deepEqual(await list({ status: 'failed' }), { ids: [ids[0], ids[2]], nextCursor: null })
    assert.deepEqual((await list({ trigger: 'push' })).ids, [])
    const first = await list({ limit: 1, status: 'failed' })
    assert.deepEqual(await list({ limit: 1, status: 'failed', cursor: first.nextCursor }), {
      ids: [ids[2]],
      nextCursor: null,
    })
  })
})
