// Who may move which refs: by pushing, through operations, with a token for some refs.

import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import {
  assertForbidden,
  assertInvalid,
  foundOrg,
  onEachDatabase,
  type TestOrg,
} from '@trellis/server/testing'
import { type Client, pushRaw, useHost } from './harness.ts'

onEachDatabase('rules for refs', (create) => {
  const host = useHost(create)
  let acme: TestOrg
  const keys = { owner: '', admin: '', member: '' }
  const roles = ['owner', 'admin', 'member'] as const
  type Role = (typeof roles)[number]

  before(async () => {
    acme = await foundOrg(host.app, 'acme')
    for (const role of roles)
      keys[role] = (await host.app.client(acme[role].token, 'acme').keys.create({ name: role })).secret
  })

  const remote = (name: string) => `${host.app.url}/git/acme/${name}.git`
  const call = (role: Role, path: string, input: object) => host.call(path, input, { token: keys[role] })
  const clientOf = (token: string) => host.client({ token })

  /** A repository whose main is two commits ahead of its start; somebody's clone of it, rewound to there. */
  async function rewound(name: string, role: Role): Promise<{ client: Client; start: string; tip: string }> {
    assert.equal((await call('owner', 'repos/create', { name })).status, 200)
    const client = clientOf(keys.owner)
    await client.run('init', '-q')
    await client.commit({ 'a.txt': '1\n' })
    const start = await client.rev('HEAD')
    await client.commit({ 'a.txt': '2\n' })
    const tip = await client.rev('HEAD')
    await client.run('push', '-q', remote(name), 'main')
    const theirs = clientOf(keys[role])
    await theirs.run('clone', '-q', remote(name), '.')
    await theirs.run('reset', '-q', '--hard', start)
    return { client: theirs, start, tip }
  }

  const mainOf = async (name: string) => {
    const { body } = await call('owner', 'git/branches/list', { name })
    return body.items.find((item: { name: string }) => item.name === 'main')?.oid
  }

  it('start with one that keeps the default branch from losing commits, for all but admins', async () => {
    const { client, start, tip } = await rewound('guarded', 'member')
    const rule = { pattern: 'HEAD', refuse: { force: { except: ['admin'] }, delete: { except: ['admin'] } } }
    assert.deepEqual((await call('admin', 'rules/list', { name: 'guarded' })).body, {
      items: [rule],
      nextCursor: null,
    })

    const told = await client.fails('push', '--force', 'origin', 'main')
    assert.match(told, /remote rejected.*force push.*default branch.*allowed for admins/s)
    assert.match(
      await client.fails('push', 'origin', ':main'),
      /deleting this ref is refused.*default branch/,
    )
    const update = { name: 'guarded', ref: 'refs/heads/main', oid: start, force: true }
    const refused = await call('member', 'git/refs/update', update)
    assert.match(refused.body.message, /force push/)
    assertForbidden(refused, 'insufficient_role', refused.body.message)
    assert.equal((await call('member', 'git/refs/update', { ...update, oid: null })).status, 403)
    assert.equal(
      (await call('member', 'git/branches/delete', { name: 'guarded', branch: 'main' })).status,
      403,
    )
    assert.equal(await mainOf('guarded'), tip)

    // What is no loss is for everybody.
    await client.run('reset', '-q', '--hard', tip)
    await client.commit({ 'b.txt': 'b\n' })
    await client.run('push', '-q', 'origin', 'main', 'main:refs/heads/other')
    await client.run('reset', '-q', '--hard', start)
    await client.run('push', '-q', '--force', 'origin', 'main:other')
    await client.run('push', '-q', 'origin', ':other')

    assert.equal((await call('admin', 'git/refs/update', update)).status, 200)
    assert.equal(await mainOf('guarded'), start)
    const { client: admin } = await rewound('by-admin', 'admin')
    await admin.run('push', '-q', '--force', 'origin', 'main')
    await admin.run('push', '-q', 'origin', ':main')
    assert.equal(await mainOf('by-admin'), undefined)
  })

  it('follow the default branch when it changes', async () => {
    const { client } = await rewound('moving', 'member')
    await client.run('push', '-q', 'origin', 'origin/main:refs/heads/next')
    await call('owner', 'repos/update', { name: 'moving', defaultBranch: 'next' })
    assert.match(await client.fails('push', '--force', 'origin', 'main:next'), /default branch/)
    await client.run('push', '-q', '--force', 'origin', 'main')
  })

  it('count a key that may not administrate as a member, whoever made it', async () => {
    const { start } = await rewound('weak', 'owner')
    const { body } = await call('owner', 'keys/create', { name: 'weak', scopes: ['repo:write'] })
    const update = { name: 'weak', ref: 'refs/heads/main', oid: start, force: true }
    const refused = await host.call('git/refs/update', update, { token: body.secret })
    assert.match(refused.body.message, /allowed for admins, and this credential lacks the scope repo:admin$/)
    assertForbidden(refused, 'scope_missing', refused.body.message)
    // Unless it is named.
    const except = ['admin', body.id]
    await call('owner', 'rules/set', { name: 'weak', pattern: 'HEAD', refuse: { force: { except } } })
    assert.equal((await host.call('git/refs/update', update, { token: body.secret })).status, 200)
  })

  it('refuse what they are set to: creating, deleting, forcing, and all but merges', async () => {
    const { client, tip } = await rewound('ruled', 'member')
    await client.run('reset', '-q', '--hard', tip)
    const set = (pattern: string, refuse: object) =>
      call('admin', 'rules/set', { name: 'ruled', pattern, refuse })
    assert.equal(
      (await set('refs/tags/v*', { force: {}, delete: {}, create: { except: ['admin'] } })).status,
      200,
    )
    assert.equal((await set('{release,stable}/**', { push: {} })).status, 200)

    assert.match(await client.fails('push', 'origin', 'main:refs/tags/v1'), /creating this ref is refused/)
    await client.run('push', '-q', 'origin', 'main:refs/tags/nightly')
    assert.equal(
      (await call('member', 'git/tags/create', { name: 'ruled', tag: 'v1', oid: tip })).status,
      403,
    )
    assert.equal((await call('admin', 'git/tags/create', { name: 'ruled', tag: 'v1', oid: tip })).status, 200)
    const owners = clientOf(keys.owner)
    await owners.run('clone', '-q', remote('ruled'), '.')
    await owners.commit({ 'c.txt': 'c\n' })
    assert.match(await owners.fails('push', '-f', 'origin', 'HEAD:refs/tags/v1'), /force push/)
    assert.match(await owners.fails('push', 'origin', ':refs/tags/v1'), /deleting this ref is refused/)

    assert.match(await owners.fails('push', 'origin', 'main:refs/heads/release/1'), /only moved by merging/)
    await set('{release,stable}/**', { push: { except: ['owner'] } })
    await owners.run('push', '-q', 'origin', 'main~1:refs/heads/release/1', 'main:refs/heads/feature')
    await set('{release,stable}/**', { push: {} })
    const commit = {
      name: 'ruled',
      branch: 'release/1',
      message: 'no',
      changes: [{ op: 'put', path: 'd', content: 'd' }],
    }
    assert.equal((await call('owner', 'git/commits/create', commit)).body.data.reason, 'insufficient_role')
    const merge = { name: 'ruled', branch: 'release/1', from: 'feature' }
    assert.equal((await call('member', 'git/merge', merge)).body.outcome, 'fast-forward')
  })

  it('let a token for some refs move those and nothing else', async () => {
    const { client, tip } = await rewound('agents', 'owner')
    await client.run('reset', '-q', '--hard', tip)
    const made = await call('admin', 'tokens/create', { name: 'agents', scope: 'write', refs: ['agents/*'] })
    assert.deepEqual([made.status, made.body.refs], [200, ['agents/*']])
    const { items } = (await call('admin', 'tokens/list', { name: 'agents' })).body
    assert.ok(!('refs' in items[0]))
    const agent = clientOf(made.body.secret)
    await agent.run('clone', '-q', remote('agents'), '.')
    await agent.commit({ 'e.txt': 'e\n' })
    await agent.run('push', '-q', 'origin', 'main:refs/heads/agents/one')
    await agent.run('push', '-q', 'origin', 'main~1:refs/heads/agents/two', '+main~2:refs/heads/agents/one')
    await agent.run('push', '-q', 'origin', ':refs/heads/agents/two')
    await agent.run('push', '-q', 'origin', 'main:refs/heads/agents/ahead')
    for (const ref of ['main', 'agents', 'agents/a/b', 'refs/tags/agents/x', 'refs/notes/agents/x'])
      assert.match(
        await agent.fails('push', 'origin', `main:${ref.startsWith('refs/') ? ref : `refs/heads/${ref}`}`),
        /this token may move agents\/\* and nothing else/,
        ref,
      )
    const token = { token: made.body.secret }
    const commit = { message: 'm', changes: [{ op: 'put', path: 'f', content: 'f' }] }
    const tries = {
      'git/commits/create': { ...commit, branch: 'main' },
      'git/merge': { branch: 'main', from: 'agents/ahead', strategy: 'merge' },
      'git/branches/create': { branch: 'mine' },
      'git/branches/delete': { branch: 'main' },
      'git/tags/create': { tag: 'v1', oid: tip },
      'git/refs/update': { ref: 'refs/heads/main', oid: null },
    }
    await client.commit({ 'g.txt': 'g\n' })
    await client.run('push', '-q', 'origin', 'main')
    for (const [path, input] of Object.entries(tries)) {
      const { body } = await host.call(path, { name: 'agents', ...input }, token)
      assert.equal(body.data?.reason, 'scope_missing', path)
    }
    const allowed = await host.call(
      'git/commits/create',
      { ...commit, name: 'agents', branch: 'agents/three' },
      token,
    )
    assert.equal(allowed.status, 200)
    // All or nothing stays so.
    const together = await agent.fails(
      'push',
      '--atomic',
      'origin',
      'main:refs/heads/agents/four',
      'main:main',
    )
    assert.match(together, /atomic push failed/)
  })

  it('can tell a forced branch among very many', async () => {
    const { start, tip } = await rewound('many', 'owner')
    const moves = Array.from({ length: 30 }, (_, i) => `refs/heads/b${String(i).padStart(2, '0')}`)
    const at = { remote, owner: { ...acme.member, token: keys.member } }
    await pushRaw(
      at,
      'many',
      moves.map((ref) => ({ ref, after: tip })),
    )
    const rewinds = [...moves, 'refs/heads/main'].map((ref) => ({ ref, before: tip, after: start }))
    const report = await pushRaw(at, 'many', rewinds)
    assert.equal(report.match(/ok refs\/heads\/b\d\d/g)?.length, 30)
    assert.match(report, /ng refs\/heads\/main moving this ref other than straight ahead/)
    assert.equal(await mainOf('many'), tip)
  })

  it('are listed, set and removed by admins, and checked', async () => {
    await rewound('edited', 'owner')
    const name = 'edited'
    const set = (input: object) => call('admin', 'rules/set', { name, ...input })
    assert.equal((await call('member', 'rules/list', { name })).status, 403)
    assertInvalid(await set({ pattern: 'a|b', refuse: { push: {} } }), ['pattern'])
    assertInvalid(await set({ pattern: 'a', refuse: {} }), ['refuse'])
    assertInvalid(await set({ pattern: 'a', refuse: { force: { except: ['everybody'] } } }), [
      'refuse',
      'force',
      'except',
      0,
    ])
    assert.deepEqual((await set({ pattern: 'a', refuse: { create: {} } })).body, {
      pattern: 'a',
      refuse: { create: { except: [] } },
    })
    await set({ pattern: 'a', refuse: { delete: { except: ['owner'] } } })
    assert.deepEqual((await call('admin', 'rules/delete', { name, pattern: 'HEAD' })).body, { deleted: true })
    assert.deepEqual((await call('admin', 'rules/delete', { name, pattern: 'HEAD' })).body, {
      deleted: false,
    })
    assert.deepEqual((await call('admin', 'rules/list', { name })).body.items, [
      { pattern: 'a', refuse: { delete: { except: ['owner'] } } },
    ])
    const { body } = await call('admin', 'events/list', { name, types: ['repo.rules.changed'] })
    assert.deepEqual(
      body.items.map((event: { subject: string }) => event.subject),
      ['a', 'a', 'HEAD'],
    )
    for (let i = 0; i < 49; i++) await set({ pattern: `b${i}`, refuse: { push: {} } })
    assert.equal((await set({ pattern: 'one more', refuse: { push: {} } })).body.code, 'QUOTA_EXCEEDED')
    assertInvalid(await call('admin', 'tokens/create', { name, refs: ['a'] }), ['refs'])
    assertInvalid(await call('admin', 'tokens/create', { name, scope: 'write', refs: ['a', '('] }), [
      'refs',
      1,
    ])
  })
})
