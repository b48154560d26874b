import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { answerWith, onEachDatabase, startReceiver, useRuns } from '../../testing/index.ts'

const task = {
  name: 'task',
  fields: {
    title: { type: 'string', required: true },
    status: {
      type: 'enum',
      values: ['open', 'done'],
      default: 'open',
      transitions: { open: ['done'], done: [] },
    },
  },
}

/** Does whatever it is told to, with what it was granted. */
const DO = `
  const at = input.call.split('.')
  try { return { is: await at.reduce((on, key) => on[key], ctx)(...(input.args ?? [])) } }
  catch (error) { return { threw: error.code ?? error.message, data: error.data } }`

onEachDatabase('what a module reaches', (create) => {
  const world = useRuns(create, { TRELLIS_EGRESS_ALLOW: '127.0.0.1' })

  before(async () => {
    const capabilities = [
      'repo:read',
      'repo:write',
      'records:read',
      'records:write',
      'events:emit',
      'runs:dispatch',
    ]
    await world.repo('tools', {
      all: { declares: { capabilities, record: task }, does: DO },
      none: { does: DO },
      echo: { does: 'return input' },
      keeper: {
        declares: { capabilities: ['secret:API_TOKEN', 'secret:UNSET', 'secret:PIN'] },
        does: `
          ctx.log('token is ' + ctx.secrets.API_TOKEN, { deep: [ctx.secrets.API_TOKEN] })
          ctx.log('long', { a: 'x'.repeat(20_000) })
          if (input.throw) throw new Error('with ' + ctx.secrets.API_TOKEN)
          return { names: Object.keys(ctx.secrets), ['key ' + ctx.secrets.API_TOKEN]: ctx.secrets.API_TOKEN, pin: ctx.secrets.PIN }`,
      },
      promises: {
        declares: {
          capabilities: ['secret:API_TOKEN'],
          outputSchema: {
            type: 'object',
            properties: { token: { type: 'string', minLength: 10, maxLength: 20 } },
          },
        },
        does: `return { token: ctx.secrets.API_TOKEN.repeat(input.times) }`,
      },
      net: {
        declares: { capabilities: ['net:127.0.0.1'] },
        does: `
          try { const { status, url, redirected, body } = await ctx.fetch(input.url, input.init)
            return { status, url, redirected, body: atob(body ?? '') } }
          catch (error) { return { threw: error.code ?? error.name, message: error.message } }`,
      },
    })
    await world.commit('tools', { 'docs/a.txt': 'a', 'docs/deep/b.txt': 'b\n' })
  })

  const doing = async (call: string, ...args: unknown[]) => {
    const { output, error } = await world.run('tools', 'all', { call, args })
    assert.equal(error, null)
    return output as { is?: unknown; threw?: string; data?: unknown }
  }

  it('reads at its commit unless told otherwise', async () => {
    assert.deepEqual(await doing('repo.readText', 'docs/a.txt'), { is: null })
    assert.deepEqual(await doing('repo.readText', 'docs/a.txt', { ref: 'main' }), { is: 'a' })
    assert.deepEqual(await doing('repo.readBytes', 'docs/a.txt', { ref: 'main' }), { is: 'YQ==' })
    assert.deepEqual(await doing('repo.readText', 'x', { ref: 'no' }), {
      threw: 'GIT_OBJECT_NOT_FOUND',
      data: { name: 'tools', object: 'no' },
    })
    const paths = async (...args: unknown[]) =>
      ((await doing('repo.list', ...args)).is as { path: string; type: string }[]).map(
        ({ path, type }) => `${type} ${path}`,
      )
    assert.deepEqual(await paths('docs', { ref: 'main' }), ['blob docs/a.txt', 'tree docs/deep'])
    assert.deepEqual(await paths('docs', { ref: 'main', recursive: true }), [
      'blob docs/a.txt',
      'tree docs/deep',
      'blob docs/deep/b.txt',
    ])
    assert.deepEqual(await paths(), ['tree extensions'])
    const branches = (await doing('repo.branches')).is as { name: string }[]
    assert.deepEqual(
      branches.map(({ name }) => name),
      ['main'],
    )
    assert.equal(((await doing('repo.commits', { ref: 'main' })).is as object[]).length, 2)
  })

  it('writes as the run, which everything says that comes of it', async () => {
    const change = {
      branch: 'made',
      message: 'By a run',
      changes: [{ op: 'put', path: 'new', content: 'x' }],
    }
    const run = await world.run('tools', 'all', { call: 'repo.commit', args: [change] })
    const { oid } = (run.output as { is: { oid: string } }).is
    const { items } = await world.ok('events/list', {
      name: 'tools',
      types: ['git.push'],
      order: 'newest',
      limit: 1,
    })
    const [{ cause, actor, credentialId, payload }] = items
    assert.deepEqual(cause, { runId: run.id, depth: 1, chain: [run.id], rootEventId: null })
    assert.deepEqual([actor, credentialId, payload.after], [run.actor, run.tokenId, oid])

    assert.deepEqual((await doing('repo.createBranch', 'other', 'made')).is, {
      name: 'other',
      type: 'branch',
      oid,
    })
    assert.deepEqual((await doing('repo.createTag', 'v1', oid)).is, { name: 'v1', type: 'tag', oid })
    assert.equal(
      ((await doing('repo.merge', { into: 'main', from: 'made' })).is as { outcome: string }).outcome,
      'fast-forward',
    )
    assert.deepEqual((await doing('repo.deleteBranch', 'other')).is, { deleted: true })
    // The rule of every new repository: only admins take the default branch away, and no run is one.
    assert.equal((await doing('repo.deleteBranch', 'main')).threw, 'FORBIDDEN')
    assert.equal((await doing('repo.createBranch', '../x', 'main')).threw, 'BAD_REQUEST')
    assert.equal((await doing('repo.commit', { ...change, changes: 'no' })).threw, 'BAD_REQUEST')
  })

  it('keeps records, and learns of conflicts by their code', async () => {
    const { is: row } = (await doing('records.create', 'task', { title: 'Write' })) as { is: { id: string } }
    assert.deepEqual((await doing('records.get', 'task', row.id)).is, row)
    const update = { revision: 1, data: { status: 'done' } }
    assert.equal(
      ((await doing('records.update', 'task', row.id, update)).is as { revision: number }).revision,
      2,
    )
    assert.equal((await doing('records.update', 'task', row.id, update)).threw, 'RECORD_REVISION_CONFLICT')
    const { rows } = (await doing('records.list', 'task', { where: { status: 'done' } })).is as {
      rows: object[]
    }
    assert.equal(rows.length, 1)
    assert.deepEqual((await doing('records.delete', 'task', row.id, { revision: 2 })).is, { deleted: true })
    assert.equal((await doing('records.get', 'none', row.id)).threw, 'RECORD_SCHEMA_NOT_FOUND')
  })

  it('emits events of its own types and no others', async () => {
    assert.deepEqual(await doing('events.emit', 'task.escalated', { subject: 'task/1', payload: { n: 1 } }), {
      is: null,
    })
    for (const type of ['run.started', 'git.push', 'repo', 'daemon.x', 'Big', 'a..b', 7])
      assert.equal((await doing('events.emit', type)).threw, 'BAD_REQUEST', String(type))
    assert.equal(
      (await doing('events.emit', 'x.y', { payload: 'x'.repeat(70_000) })).threw,
      'PAYLOAD_TOO_LARGE',
    )
    const { items } = await world.ok('events/list', { name: 'tools', types: ['task.escalated'] })
    assert.deepEqual([items[0].subject, items[0].payload, items[0].actor.kind], ['task/1', { n: 1 }, 'user'])
  })

  it('starts other extensions, which are caused by it', async () => {
    const parent = await world.run('tools', 'all', { call: 'runs.dispatch', args: ['echo', { a: 1 }] })
    const { is: queued } = parent.output as { is: { id: string } }
    const child = await world.ended(queued.id)
    assert.deepEqual(
      [child.output, child.causationDepth, child.trigger, child.causeEventId],
      [{ a: 1 }, 1, 'dispatch', null],
    )
    assert.deepEqual(child.actor, parent.actor)
    assert.deepEqual((await doing('runs.dispatch', 'gone', {})).threw, 'EXTENSION_NOT_FOUND')
  })

  it('has nothing that was not granted, whatever it calls', async () => {
    for (const call of ['repo.branches', 'repo.commit', 'records.list', 'events.emit', 'fetch']) {
      const { output } = await world.run('tools', 'none', { call, args: ['x'] })
      assert.deepEqual(output, { threw: 'FORBIDDEN', data: { reason: 'scope_missing' } }, call)
    }
    const { output } = await world.run('tools', 'none', { call: 'runs.dispatch', args: ['echo'] })
    assert.deepEqual(output, { threw: 'RUN_REJECTED', data: { reason: 'capability_missing' } })
    for (const call of ['repo.constructor', 'repo.toString', 'repo.purge'])
      assert.equal((await doing(call)).threw, 'BAD_REQUEST', call)
  })

  it('is given secrets that are never said aloud', async () => {
    assert.equal(
      (await world.call('secrets/set', { name: 'tools', secret: 'api', value: 'x' })).body.code,
      'BAD_REQUEST',
    )
    const { secret, updatedAt } = await world.ok('secrets/set', {
      name: 'tools',
      secret: 'API_TOKEN',
      value: 'a "quoted" value',
    })
    await world.ok('secrets/set', { name: 'tools', secret: 'PIN', value: '1234' })
    assert.deepEqual([secret, typeof updatedAt], ['API_TOKEN', 'number'])
    const run = await world.run('tools', 'keeper')
    assert.deepEqual(run.output, { names: ['API_TOKEN', 'PIN'], 'key ***': '***', pin: '1234' })
    const { items } = await world.ok('runs/logs', { id: run.id })
    assert.deepEqual(items[2].payload, { level: 'info', message: 'token is ***', data: { deep: ['***'] } })
    assert.match(items[3].payload.data, /^\{"a":"x{16000,16384}… \(\d+ more\)$/)
    const failed = await world.run('tools', 'keeper', { throw: true })
    assert.equal(failed.error, 'Error: with ***')
    assert.ok(!JSON.stringify(await world.ok('runs/logs', { id: failed.id })).includes('quoted'))

    const kept = await world.run('tools', 'promises', { times: 1 })
    assert.deepEqual([kept.status, kept.output], ['succeeded', { token: '***' }])
    const broken = await world.run('tools', 'promises', { times: 2 })
    assert.match(broken.error ?? '', /^output_invalid/)

    const list = await world.ok('secrets/list', { name: 'tools' })
    assert.deepEqual(
      list.items.map((item: object) => Object.keys(item)),
      [
        ['secret', 'updatedAt'],
        ['secret', 'updatedAt'],
      ],
    )
    const { sealed } = await world.app.database.db
      .selectFrom('repo_secrets')
      .select('sealed')
      .where('name', '=', 'API_TOKEN')
      .executeTakeFirstOrThrow()
    assert.ok(!sealed.includes('quoted'))
    assert.deepEqual(await world.ok('secrets/delete', { name: 'tools', secret: 'API_TOKEN' }), {
      deleted: true,
    })
    assert.deepEqual(await world.ok('secrets/delete', { name: 'tools', secret: 'API_TOKEN' }), {
      deleted: false,
    })
    await world.ok('secrets/delete', { name: 'tools', secret: 'PIN' })
    const none = await world.run('tools', 'keeper')
    assert.deepEqual((none.output as { names: string[] }).names, [])
  })

  it('reaches the hosts that were granted, and follows to no others', async () => {
    await using receiver = await startReceiver()
    const fetched = async (url: string, init?: object) =>
      (await world.run('tools', 'net', { url, init })).output
    assert.deepEqual(await fetched(`${receiver.url}/x`), {
      status: 200,
      url: `${receiver.url}/x`,
      redirected: false,
      body: '',
    })
    const port = new URL(receiver.url).port
    receiver.answer = answerWith(302, '', { location: `http://localhost:${port}/` })
    assert.deepEqual(await fetched(`${receiver.url}/away`), {
      threw: 'FORBIDDEN',
      message: 'net:localhost was not granted to this extension',
    })
    receiver.answer = (response, { path, headers }) =>
      path === '/back'
        ? response.writeHead(302, { location: '/x' }).end()
        : response.end(`${headers.authorization}`)
    const headers = [['authorization', 'me']]
    assert.deepEqual(await fetched(`${receiver.url}/back`, { headers }), {
      status: 200,
      url: `${receiver.url}/x`,
      redirected: true,
      body: 'me',
    })
    assert.deepEqual(await fetched('http://localhost:1/'), {
      threw: 'FORBIDDEN',
      message: 'net:localhost was not granted to this extension',
    })
    assert.deepEqual(await fetched('file:///etc/passwd'), {
      threw: 'BAD_REQUEST',
      message: 'Bad request: 0.url: Only http and https URLs can be fetched',
    })
    const { message } = (await fetched('http://127.0.0.1:1/')) as { message: string }
    assert.match(message, /^fetch failed: the connection failed/)
  })
})
