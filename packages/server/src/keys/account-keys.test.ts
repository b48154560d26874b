import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import {
  assertForbidden,
  foundOrg,
  join,
  onEachDatabase,
  type Person,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

onEachDatabase('a key with the scope account', (create) => {
  const app = useApp(create)
  let acme: TestOrg
  /** In acme a member, at home an owner. */
  let ana: Person
  let key: string

  before(async () => {
    acme = await foundOrg(app, 'acme')
    ana = await app.signUp('ana')
    await join(app, acme, ana, 'member')
    await app.client(acme.owner.token, 'acme').repos.create({ name: 'theirs' })
    key = (await app.client(ana.token).keys.create({ name: 'all', scopes: ['*', 'account'] })).secret
  })

  const status = async (path: string, input: object, org?: string) =>
    (await app.call(path, input, { token: key, ...(org && { org }) })).status

  it('acts where it was made, and in every organization of its maker that is named', async () => {
    assert.equal((await app.client(key).credentials.self()).organization.slug, 'ana')
    const there = await app.client(key, 'acme').credentials.self()
    assert.deepEqual([there.organization.slug, there.role], ['acme', 'member'])
    assert.deepEqual(
      (await app.client(key, 'acme').repos.list({})).items.map(({ name }) => name),
      ['theirs'],
    )
    assert.deepEqual(
      (await app.client(key).orgs.list({})).items.map(({ slug }) => slug),
      ['acme', 'ana'],
    )
    assert.equal((await app.client(key).orgs.get({ orgSlug: 'acme' })).role, 'member')
  })

  it('may do what the role allows, in each of them', async () => {
    assert.equal(await status('repos/create', { name: 'mine' }, 'acme'), 200)
    assertForbidden(
      await app.call('tokens/create', { name: 'theirs' }, { token: key, org: 'acme' }),
      'insufficient_role',
      'This needs repo:admin, which the role member does not give',
    )
    await app.client(key).repos.create({ name: 'home' })
    assert.equal(await status('tokens/create', { name: 'home' }), 200)
  })

  it('reaches what it founds, and nothing its maker is not in', async () => {
    await app.client(key).orgs.create({ slug: 'founded' })
    assert.equal(await status('repos/create', { name: 'first' }, 'founded'), 200)
    for (const org of ['acme-owner', 'nowhere'])
      assertForbidden(await app.call('repos/list', {}, { token: key, org }), 'not_a_member')
  })

  it('serves git in all of them', async () => {
    const asked = (org: string, name: string) =>
      fetch(`${app.url}/git/${org}/${name}.git/info/refs?service=git-upload-pack`, {
        headers: { authorization: `Bearer ${key}` },
      })
    assert.equal((await asked('acme', 'theirs')).status, 200)
    assert.equal((await asked('acme-owner', 'none')).status, 404)
  })

  it('leaves an organization with its maker', async () => {
    const bea = await app.signUp('bea')
    await join(app, acme, bea, 'admin')
    const { secret } = await app
      .client(bea.token)
      .keys.create({ name: 'all', scopes: ['org:read', 'account'] })
    assert.equal((await app.call('orgs/get', { orgSlug: 'acme' }, { token: secret })).status, 200)
    await app.client(acme.owner.token).members.remove({ orgSlug: 'acme', userId: bea.userId })
    assertForbidden(await app.call('orgs/get', { orgSlug: 'acme' }, { token: secret }), 'not_a_member')
    assertForbidden(await app.call('orgs/list', {}, { token: secret, org: 'acme' }), 'not_a_member')
    assert.equal((await app.call('orgs/list', {}, { token: secret })).status, 200)
  })

  it('is handed out by sessions and by keys that have it, when it is named', async () => {
    const plain = await app.client(ana.token).keys.create({ name: 'plain' })
    assert.deepEqual(plain.scopes, ['*'])
    const scopes = ['repo:read', 'account']
    const refused = 'The credential of this request lacks account, so a key cannot have it from here'
    const create = (token: string) => app.call('keys/create', { name: 'new', scopes }, { token })
    assertForbidden(await create(plain.secret), 'scope_missing', refused)
    assert.deepEqual((await create(key)).body.scopes, scopes)
    assert.deepEqual((await app.client(key).keys.create({ name: 'unnamed' })).scopes, ['*'])

    const { id } = await app.client(ana.token).keys.create({ name: 'changed' })
    const widen = (token: string) => app.call('keys/update', { id, scopes }, { token })
    assertForbidden(await widen(plain.secret), 'scope_missing', refused)
    assert.equal((await widen(ana.token)).status, 200)
    // Nor is one that has it changed by those who have not.
    assertForbidden(
      await app.call('keys/update', { id, name: 'taken over' }, { token: plain.secret }),
      'scope_missing',
      'This key has account, which the credential of this request lacks',
    )
  })

  it('gives nothing by itself, and a key without it stays where it was made', async () => {
    const { secret } = await app.client(ana.token).keys.create({ name: 'bare', scopes: ['account'] })
    assertForbidden(
      await app.call('repos/create', { name: 'x' }, { token: secret }),
      'scope_missing',
      'The credential of this request lacks the scope repo:write',
    )
    const plain = await app.client(ana.token).keys.create({ name: 'plain' })
    assertForbidden(
      await app.call('repos/list', {}, { token: plain.secret, org: 'acme' }),
      'not_a_member',
      'This credential is for ana alone; one with the scope account goes where its maker is',
    )
  })
})
