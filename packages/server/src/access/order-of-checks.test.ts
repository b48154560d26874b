import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import type { OperationMeta } from '@trellis/contract'
import { allOperations } from '../operations/implement.ts'
import {
  asEnvelope,
  assertFault,
  assertForbidden,
  assertInvalid,
  assertUnauthenticated,
  foundOrg,
  onEachDatabase,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

const newCommit = {
  name: 'target',
  branch: 'main',
  message: 'Say something',
  changes: [{ op: 'put' as const, path: 'readme', content: 'something' }],
}

onEachDatabase('the order of checks, and what is frozen', (create) => {
  const app = useApp(create)
  let acme: TestOrg
  let writeToken: string
  let commit: string
  /** Operations the server has, with what they say of their callers. */
  let present: { path: string; meta: OperationMeta }[]

  before(async () => {
    acme = await foundOrg(app, 'acme')
    await inAcme().repos.create({ name: 'target' })
    commit = (await inAcme().git.commits.create(newCommit)).oid
    writeToken = (await inAcme().tokens.create({ name: 'target', scope: 'write' })).secret
    present = []
    for (const { path, procedure } of allOperations()) {
      const { body } = await app.call(path.slice(1), {})
      if (body.code !== 'NOT_FOUND')
        present.push({ path: path.slice(1), meta: procedure['~orpc'].meta as OperationMeta })
    }
  })

  const inAcme = () => app.client(acme.owner.token, 'acme')
  const newKey = (...scopes: ('repo:read' | 'org:read' | 'keys:read' | '*')[]) =>
    inAcme().keys.create({ name: 'probe', scopes })

  const gitWrites = (): [string, unknown][] => [
    ['git/refs/update', { name: 'target', ref: 'refs/heads/new', oid: commit }],
    ['git/branches/create', { name: 'target', branch: 'new' }],
    ['git/branches/delete', { name: 'target', branch: 'new' }],
    ['git/tags/create', { name: 'target', tag: 'new', oid: commit }],
    ['git/tags/delete', { name: 'target', tag: 'new' }],
    ['git/commits/create', newCommit],
    ['git/merge', { name: 'target', branch: 'main', from: 'main' }],
  ]

  it('asks who is calling before it looks at the input', async () => {
    for (const { path, meta } of present) {
      const { code } = asEnvelope(await app.call(path, []))
      assert.equal(code, meta.admission === 'anyone' ? 'BAD_REQUEST' : 'UNAUTHENTICATED', path)
      const refused = asEnvelope(await app.call(path, [], { token: 'garbage' }))
      assert.equal(refused.code, meta.ignoresCredential ? 'BAD_REQUEST' : 'UNAUTHENTICATED', path)
    }
  })

  it('looks at the input before it asks what the caller may do', async () => {
    const { secret } = await newKey('repo:read')
    const readToken = await inAcme().tokens.create({ name: 'target' })
    for (const token of [secret, readToken.secret])
      for (const { path } of present)
        assert.equal(asEnvelope(await app.call(path, [], { token })).code, 'BAD_REQUEST', path)
  })

  it('tells an unauthenticated caller the same whether a thing exists or not', async () => {
    for (const name of ['target', 'nothing']) assertUnauthenticated(await app.call('repos/get', { name }))
  })

  it('refuses input that only a closer look shows to be wrong before it looks for what is addressed', async () => {
    const weak = { token: (await newKey('keys:read')).secret }
    const member = acme.as(acme.member)
    for (const options of [weak, member]) {
      assertInvalid(await app.call('repos/create', { name: 'new', defaultBranch: 'a..b' }, options), [
        'defaultBranch',
      ])
      for (const name of ['target', 'nothing'])
        assertInvalid(await app.call('repos/update', { name, defaultBranch: '-x' }, options), [
          'defaultBranch',
        ])
      for (const branch of ['-x', 'a..b'])
        assertInvalid(await app.call('git/branches/create', { name: 'nothing', branch }, options), ['branch'])
      assertInvalid(await app.call('git/tags/create', { name: 'nothing', tag: 'a b', oid: 'x' }, options), [
        'tag',
      ])
      assertInvalid(await app.call('repos/import', { name: 'new', url: 'ssh://host/path' }, options), ['url'])
      assertInvalid(await app.call('keys/create', { name: 'late', expiresAt: 1 }, options), ['expiresAt'])
      assertInvalid(await app.call('keys/update', { id: 'key_none', expiresAt: 1 }, options), ['expiresAt'])
    }
  })

  it('looks for a repository before it asks what the caller may do with it', async () => {
    const member = acme.as(acme.member)
    for (const path of ['repos/update', 'repos/delete', 'tokens/list', 'tokens/create']) {
      assertFault(await app.call(path, { name: 'nothing' }, member), 'REPO_NOT_FOUND', { name: 'nothing' })
      assertForbidden(await app.call(path, { name: 'target' }, member), 'insufficient_role')
    }
    const reader = { token: (await newKey('repo:read')).secret }
    assertFault(await app.call('repos/delete', { name: 'nothing' }, reader), 'REPO_NOT_FOUND', {
      name: 'nothing',
    })
    assertForbidden(await app.call('repos/delete', { name: 'target' }, reader), 'scope_missing')
  })

  it('looks into a repository before it asks what the caller may do there', async () => {
    const reader = { token: (await newKey('repo:read')).secret }
    const name = 'target'
    const nowhere: [string, object, string][] = [
      ['webhooks/disable', { webhook: 'none' }, 'WEBHOOK_NOT_FOUND'],
      ['webhooks/redeliver', { deliveryId: randomUUID() }, 'WEBHOOK_DELIVERY_NOT_FOUND'],
      ['git/tags/create', { tag: 'new', oid: 'f'.repeat(40) }, 'GIT_OBJECT_NOT_FOUND'],
      ['git/branches/create', { branch: 'new', from: 'none' }, 'GIT_OBJECT_NOT_FOUND'],
      ['git/merge', { branch: 'main', from: 'none' }, 'GIT_OBJECT_NOT_FOUND'],
      ['extensions/promote', { ref: 'none' }, 'GIT_OBJECT_NOT_FOUND'],
      ['runs/dispatch', { extension: 'none' }, 'EXTENSION_NOT_FOUND'],
      ['daemons/resume', { daemon: 'none' }, 'EXTENSION_NOT_FOUND'],
    ]
    for (const [path, input, code] of nowhere)
      assert.equal(asEnvelope(await app.call(path, { name, ...input }, reader)).code, code, path)
    const there = { tag: 'new', oid: commit }
    assertForbidden(await app.call('git/tags/create', { name, ...there }, reader), 'scope_missing')
  })

  it('looks for a member before it asks what the caller may do with them', async () => {
    const member = acme.as(acme.member)
    const setRole = (userId: string) =>
      app.call('members/setRole', { orgSlug: 'acme', userId, role: 'admin' }, member)
    assert.equal(asEnvelope(await setRole('usr_nobody')).code, 'MEMBER_NOT_FOUND')
    assertForbidden(await setRole(acme.owner.userId), 'insufficient_role')
  })

  it('looks at the input before it asks whether the caller is in the organization they name', async () => {
    const elsewhere = { token: (await app.signUp('elsewhere')).token, org: 'acme' }
    assertInvalid(await app.call('repos/list', { limit: 0 }, elsewhere), ['limit'])
    assertForbidden(await app.call('repos/list', {}, elsewhere), 'not_a_member')
  })

  it('looks for a key before it asks what the caller may do with it', async () => {
    const { id, secret: token } = await newKey('keys:read')
    for (const path of ['keys/update', 'keys/revoke']) {
      assertFault(await app.call(path, { id: 'key_none' }, { token }), 'KEY_NOT_FOUND', { id: 'key_none' })
      assertForbidden(await app.call(path, { id }, { token }), 'scope_missing')
    }
  })

  it('tells somebody who is no member the same whether an organization exists or not', async () => {
    const { token } = await app.signUp('curious')
    for (const orgSlug of ['acme', 'nothing']) {
      assertForbidden(await app.call('orgs/get', { orgSlug }, { token }), 'not_a_member')
      assertForbidden(await app.call('repos/list', {}, { token, org: orgSlug }), 'not_a_member')
    }
  })

  it('gives the role as the reason where neither role nor scope would do', async () => {
    const { secret: token } = await app
      .client(acme.member.token, 'acme')
      .keys.create({ name: 'weak', scopes: ['repo:read'] })
    assertForbidden(await app.call('repos/delete', { name: 'target' }, { token }), 'insufficient_role')
  })

  it('hides a repository from a caller who may not read it', async () => {
    const stray = await app.signUp('stray')
    await app.client(stray.token).repos.create({ name: 'mine' })
    const blind = (await newKey('org:read', 'keys:read')).secret
    for (const path of [
      'repos/get',
      'repos/update',
      'repos/delete',
      'tokens/list',
      'tokens/create',
      'events/list',
    ])
      for (const token of [stray.token, blind])
        assertFault(await app.call(path, { name: 'target' }, { token }), 'REPO_NOT_FOUND', { name: 'target' })
  })

  it('lets nobody prepare to write to a read-only repository, until it is writable again', async () => {
    const owner = acme.as(acme.owner)
    const { body } = await app.call('repos/update', { name: 'target', readOnly: true }, owner)
    assert.deepEqual([body.readOnly, body.canWrite, body.canAdmin], [true, false, true])
    const seen = await app.client(writeToken).repos.get({ name: 'target' })
    assert.deepEqual([seen.readOnly, seen.canWrite, seen.canAdmin], [true, false, false])

    for (const [path, input] of gitWrites())
      for (const options of [owner, acme.as(acme.member), { token: writeToken }])
        assertForbidden(await app.call(path, input, options), 'write_frozen')
    // It can be read, and so forked.
    assert.equal((await app.call('repos/fork', { name: 'target', newName: 'fork' }, owner)).status, 200)

    const askWrite = { name: 'target', scope: 'write' }
    assertForbidden(await app.call('tokens/create', askWrite, owner), 'write_frozen')
    assertForbidden(await app.call('tokens/create', askWrite, acme.as(acme.member)), 'insufficient_role')
    assert.equal((await app.call('tokens/create', { name: 'target', scope: 'read' }, owner)).status, 200)
    assert.equal((await app.call('repos/get', { name: 'target' }, acme.as(acme.member))).status, 200)

    await inAcme().repos.update({ name: 'target', readOnly: false })
    assert.equal((await app.call('tokens/create', askWrite, owner)).status, 200)
  })

  it('lets nobody write in a frozen organization, until it is thawed', async () => {
    const owner = acme.as(acme.owner)
    const { secret: key } = await newKey('*')
    assert.equal((await app.call('orgs/update', { orgSlug: 'acme', frozen: true }, owner)).body.frozen, true)

    const writes: [string, unknown][] = [
      ['repos/create', { name: 'new' }],
      ['repos/update', { name: 'target', newName: 'renamed' }],
      ['repos/delete', { name: 'target' }],
      ['tokens/create', { name: 'target', scope: 'write' }],
      ['repos/import', { name: 'new', url: 'https://127.0.0.1/not-allowed.git' }],
      ['repos/fork', { name: 'target', newName: 'new' }],
      ...gitWrites(),
    ]
    for (const [path, input] of writes)
      for (const options of [owner, acme.as(acme.admin), { token: key }])
        assertForbidden(await app.call(path, input, options), 'write_frozen')
    assertForbidden(await app.call('repos/create', { name: 'new' }, acme.as(acme.member)), 'write_frozen')
    for (const [path, input] of gitWrites())
      assertForbidden(await app.call(path, input, { token: writeToken }), 'write_frozen')
    // What the caller could not do anyway is refused for that reason.
    assertForbidden(
      await app.call('repos/delete', { name: 'target' }, acme.as(acme.member)),
      'insufficient_role',
    )

    for (const token of [key, writeToken]) {
      const [seen] = (await app.client(token).repos.list({})).items
      assert.equal(seen?.canWrite, false)
    }
    assert.equal((await app.call('tokens/create', { name: 'target' }, owner)).status, 200)
    assert.equal((await app.call('events/list', { name: 'target' }, owner)).status, 200)

    assertForbidden(
      await app.call('orgs/update', { orgSlug: 'acme', frozen: false }, acme.as(acme.admin)),
      'insufficient_role',
    )
    assert.equal(
      (await app.call('orgs/update', { orgSlug: 'acme', frozen: false }, owner)).body.frozen,
      false,
    )
    assert.equal((await app.call('repos/create', { name: 'new' }, acme.as(acme.member))).status, 200)
  })
})
