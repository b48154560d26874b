import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, it } from 'node:test'
import type { ApiKey } from '@trellis/contract'
import {
  assertFault,
  assertForbidden,
  assertInvalid,
  expectEvents,
  foundOrg,
  onEachDatabase,
  startTestApp,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

const QUOTA = 12

onEachDatabase('keys', (create) => {
  const app = useApp(create, { TRELLIS_USER_MAX_KEYS: String(QUOTA) })
  let acme: TestOrg

  before(async () => {
    acme = await foundOrg(app, 'acme')
  })

  const asOwner = () => app.client(acme.owner.token, 'acme')
  const status = async (token: string) => (await app.call('repos/list', {}, { token })).status

  it('shows the secret once, and afterwards only how it begins', async () => {
    const made = await asOwner().keys.create({ name: '  laptop ' })
    const { secret, ...listed } = made
    assert.match(secret, /^trk_[0-9A-Za-z]{42}$/)
    assert.deepEqual(listed, {
      id: listed.id,
      name: 'laptop',
      prefix: secret.slice(0, 12),
      scopes: ['*'],
      enabled: true,
      expiresAt: null,
      lastUsedAt: null,
      createdAt: listed.createdAt,
    } satisfies ApiKey)
    assert.match(listed.id, /^key_/)
    assert.deepEqual((await asOwner().keys.list({})).items, [listed])
    const rows = JSON.stringify(await app.database.db.selectFrom('api_keys').selectAll().execute())
    assert.ok(!rows.includes(secret))
    assert.ok(!app.logged().includes(secret))
    await asOwner().keys.revoke({ id: made.id })
  })

  it('tells of every change and of no refused one', async () => {
    const owner = acme.as(acme.owner)
    const key = await expectEvents(
      app,
      ({ id }) => [`key.created ${id}`],
      () => asOwner().keys.create({ name: 'told', scopes: ['repo:read', 'repo:read'] }),
    )
    const { id } = key
    assert.deepEqual(key.scopes, ['repo:read'])
    await expectEvents(app, [`key.updated ${id}`], () => asOwner().keys.update({ id, name: 'renamed' }))
    await expectEvents(app, [`key.revoked ${id}`], () => asOwner().keys.revoke({ id }))
    await expectEvents(app, [], async () => {
      for (const path of ['keys/update', 'keys/revoke'])
        assertFault(await app.call(path, { id }, owner), 'KEY_NOT_FOUND', { id })
      assertInvalid(await app.call('keys/create', { name: 'x', scopes: ['repo:all'] }, owner), ['scopes', 0])
      assertInvalid(await app.call('keys/create', { name: 'x', scopes: [] }, owner), ['scopes'])
      assertInvalid(await app.call('keys/create', { name: ' ' }, owner), ['name'])
    })

    const { items } = await asOwner().events.list({ types: ['key.created', 'key.updated', 'key.revoked'] })
    assert.deepEqual(
      items.filter(({ subject }) => subject === id).map(({ type, actor, payload }) => [type, actor, payload]),
      [
        ['key.created', 'told'],
        ['key.updated', 'renamed'],
        ['key.revoked', 'renamed'],
      ].map(([type, name]) => [
        type,
        { kind: 'user', id: acme.owner.userId },
        { name, scopes: ['repo:read'] },
      ]),
    )
  })

  it("keeps a person's keys, and those of each organization, to themselves", async () => {
    const here = await asOwner().keys.create({ name: 'here' })
    const atHome = await app.client(acme.owner.token).keys.create({ name: 'at home' })
    assert.deepEqual(
      (await app.client(here.secret).keys.list({})).items.map(({ name }) => name),
      ['here'],
    )
    assert.deepEqual(
      (await app.client(atHome.secret).keys.list({})).items.map(({ name }) => name),
      ['at home'],
    )
    for (const options of [acme.as(acme.admin), { token: acme.owner.token }, { token: atHome.secret }])
      for (const path of ['keys/update', 'keys/revoke'])
        assertFault(await app.call(path, { id: here.id }, options), 'KEY_NOT_FOUND', { id: here.id })
    assert.equal(await status(here.secret), 200)
    await asOwner().keys.revoke({ id: here.id })
  })

  it('never gives a key more than the credential that makes it', async () => {
    const weak = await asOwner().keys.create({ name: 'weak', scopes: ['keys:write', 'repo:write'] })
    const use = { token: weak.secret }
    for (const [missing, ...scopes] of [
      ['repo:admin', '*'],
      ['repo:admin', 'repo:admin'],
      ['org:read', 'org:read'],
      ['org:read', 'repo:read', 'org:admin'],
    ])
      await expectEvents(app, [], async () => {
        const why = `The credential of this request lacks ${missing}, so a key cannot have it from here`
        assertForbidden(await app.call('keys/create', { name: 'more', scopes }, use), 'scope_missing', why)
        assertForbidden(await app.call('keys/update', { id: weak.id, scopes }, use), 'scope_missing', why)
      })
    const heir = await app.client(weak.secret).keys.create({ name: 'heir' })
    assert.deepEqual(heir.scopes, ['keys:write', 'repo:write'])
    const narrowed = await app.client(weak.secret).keys.update({ id: heir.id, scopes: ['repo:read'] })
    assert.deepEqual(narrowed.scopes, ['repo:read'])
    assertForbidden(await app.call('repos/create', { name: 'no' }, { token: heir.secret }), 'scope_missing')
    for (const { id } of [weak, heir]) await asOwner().keys.revoke({ id })
  })

  it('stops a key that is disabled, and takes it again when it is enabled', async () => {
    const { id, secret } = await asOwner().keys.create({ name: 'switch' })
    assert.equal((await asOwner().keys.update({ id, enabled: false })).enabled, false)
    assert.equal(await status(secret), 401)
    assert.equal((await asOwner().keys.update({ id, enabled: true })).enabled, true)
    assert.equal(await status(secret), 200)
    await asOwner().keys.revoke({ id })
    assert.equal(await status(secret), 401)
  })

  it('ends a key when it expires', async () => {
    assertInvalid(
      await app.call('keys/create', { name: 'late', expiresAt: app.now() }, acme.as(acme.owner)),
      ['expiresAt'],
    )
    const expiresAt = app.now() + 3_600_000
    const { id, secret } = await asOwner().keys.create({ name: 'hour', expiresAt })
    app.pass(3_590_000)
    assert.equal(await status(secret), 200)
    app.pass(10_000)
    assert.equal(await status(secret), 401)
    assert.deepEqual(
      (await asOwner().keys.list({})).items.map(({ name }) => name),
      ['hour'],
    )
    assertInvalid(await app.call('keys/update', { id, expiresAt }, acme.as(acme.owner)), ['expiresAt'])
    assert.equal((await asOwner().keys.update({ id, expiresAt: null })).expiresAt, null)
    assert.equal(await status(secret), 200)
    await asOwner().keys.revoke({ id })
  })

  it('changes nothing that an update does not name', async () => {
    const expiresAt = app.now() + 60_000
    const { id, secret, ...made } = await asOwner().keys.create({
      name: 'kept',
      scopes: ['org:read'],
      expiresAt,
    })
    assert.deepEqual(await asOwner().keys.update({ id }), { id, ...made })
    assert.deepEqual(await asOwner().keys.update({ id, enabled: false }), { id, ...made, enabled: false })
    await asOwner().keys.revoke({ id })
  })

  it('leaves a key disabled that is renamed at the same time', async () => {
    const { id } = await asOwner().keys.create({ name: 'both' })
    for (let round = 0; round < 10; round++) {
      await asOwner().keys.update({ id, enabled: true })
      await Promise.all([
        asOwner().keys.update({ id, name: 'first' }),
        asOwner().keys.update({ id, enabled: false }),
        asOwner().keys.update({ id, name: 'second' }),
      ])
      assert.equal((await asOwner().keys.list({})).items[0]?.enabled, false)
    }
    await asOwner().keys.revoke({ id })
  })

  it('makes as many keys as the quota allows and not one more, however many ask at once', async () => {
    const before = (await asOwner().keys.list({})).items.length
    const answers = await Promise.all(
      Array.from({ length: QUOTA + 8 }, (_, n) =>
        app.call('keys/create', { name: `k${n}` }, acme.as(acme.owner)),
      ),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    assert.equal(answers.length - refused.length, QUOTA - before)
    for (const answer of refused)
      assertFault(answer, 'QUOTA_EXCEEDED', { scope: 'org', limit: QUOTA, observed: QUOTA })
    assert.equal((await asOwner().keys.list({})).items.length, QUOTA)
    // Another person's keys, and one's own in another organization, are counted apart.
    await app.client(acme.member.token, 'acme').keys.create({ name: 'mine' })
  })

  it('refuses a word it does not know, which would have made a key that can do more', async () => {
    const { token } = await app.signUp('typo')
    const { status, body } = await app.call('keys/create', { name: 'ci', scope: ['repo:read'] }, { token })
    assert.equal(status, 400)
    assert.match(JSON.stringify(body.data.issues), /scope/)
  })
})

onEachDatabase('the last use of a key', (create) => {
  it('is noted, and outlives the process', async () => {
    await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-keys-'))
    await using database = await create()
    await using first = await startTestApp(database, { TRELLIS_DATA: data.path })
    const { token } = await first.signUp('ada')
    const used = await first.client(token).keys.create({ name: 'used' })
    await first.client(token).keys.create({ name: 'unused' })
    first.pass(3_600_000)
    const from = first.now()
    await first.client(used.secret).repos.list({})
    const to = first.now()
    await first.stop()

    await using second = await startTestApp(database, { TRELLIS_DATA: data.path })
    const { items } = await second.client(token).keys.list({})
    const lastUse = Object.fromEntries(items.map(({ name, lastUsedAt }) => [name, lastUsedAt]))
    assert.equal(lastUse.unused, null)
    assert.ok(lastUse.used && lastUse.used >= from && lastUse.used <= to)
  })
})
