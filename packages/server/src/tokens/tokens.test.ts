import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { RepoToken, TokenValidation } from '@trellis/contract'
import { mintSecret } from '../secrets/minting.ts'
import {
  assertFault,
  assertForbidden,
  assertInvalid,
  assertUnauthenticated,
  expectEvents,
  onEachDatabase,
  type Person,
  useApp,
} from '../testing/index.ts'

const DAY_MS = 86_400_000

const unknown: TokenValidation = {
  valid: false,
  id: null,
  artifactId: null,
  tokenPrefix: null,
  scope: null,
  op: null,
  expiresAt: null,
  revokedAt: null,
}

onEachDatabase('repository tokens', (create) => {
  const app = useApp(create)
  let ada: Person

  before(async () => {
    ada = await app.signUp('ada')
    for (const name of ['one', 'two']) await client().repos.create({ name })
  })

  const client = () => app.client(ada.token)
  const asAda = () => ({ token: ada.token })
  const validate = (token: string) => app.client().tokens.validate({ token })
  const status = async (token: string) => (await app.call('repos/get', { name: 'one' }, { token })).status

  it('shows the secret once, and afterwards only how it begins', async () => {
    const before = app.now()
    const { secret, ...listed } = await client().tokens.create({ name: 'one' })
    const { artifactId } = await client().repos.get({ name: 'one' })
    assert.match(secret, /^trt_[0-9A-Za-z]{42}$/)
    assert.deepEqual(listed, {
      id: listed.id,
      artifactId: artifactId ?? '',
      tokenPrefix: secret.slice(0, 12),
      artifactsTokenId: listed.artifactsTokenId,
      scope: 'read',
      op: 'api',
      tokenOps: 'fetch',
      createdAt: listed.createdAt,
      expiresAt: new Date(listed.createdAt + DAY_MS).toISOString(),
      revokedAt: null,
    } satisfies RepoToken)
    assert.match(listed.id, /^tok_/)
    assert.ok(listed.createdAt >= before && listed.createdAt <= app.now())
    assert.deepEqual((await client().tokens.list({ name: 'one' })).items, [listed])
    const rows = JSON.stringify(await app.database.db.selectFrom('repo_tokens').selectAll().execute())
    assert.ok(!rows.includes(secret))
    assert.ok(!app.logged().includes(secret))
  })

  it('lists the tokens of one repository, the newest first', async () => {
    const made: string[] = []
    for (const scope of ['read', 'write', 'read'] as const) {
      made.unshift((await client().tokens.create({ name: 'two', scope })).id)
      app.pass(1)
    }
    const { items } = await client().tokens.list({ name: 'two' })
    assert.deepEqual(
      items.map(({ id }) => id),
      made,
    )
    assert.deepEqual(
      items.map(({ tokenOps }) => tokenOps),
      ['fetch', 'fetch,push', 'fetch'],
    )
  })

  it('acts for whoever made it, on its own repository alone', async () => {
    const read = (await client().tokens.create({ name: 'one' })).secret
    const write = (await client().tokens.create({ name: 'one', scope: 'write' })).secret
    for (const [token, canWrite] of [
      [read, false],
      [write, true],
    ] as const) {
      const { items, nextCursor } = await app.client(token).repos.list({})
      assert.deepEqual([items.map(({ name }) => name), nextCursor], [['one'], null])
      assert.deepEqual([items[0]?.canWrite, items[0]?.canAdmin], [canWrite, false])
      assertFault(await app.call('repos/get', { name: 'two' }, { token }), 'REPO_NOT_FOUND', { name: 'two' })
      assertForbidden(await app.call('tokens/create', { name: 'one' }, { token }), 'scope_missing')
      assertForbidden(await app.call('repos/create', { name: 'three' }, { token }), 'scope_missing')
    }
  })

  it('follows its repository to a new name, and ends with it', async () => {
    await client().repos.create({ name: 'before' })
    const { secret: token } = await client().tokens.create({ name: 'before' })
    await client().repos.update({ name: 'before', newName: 'after' })
    assert.equal((await app.client(token).repos.get({ name: 'after' })).name, 'after')
    await client().repos.delete({ name: 'after' })
    assertUnauthenticated(await app.call('repos/get', { name: 'after' }, { token }))
    assert.deepEqual(await validate(token), unknown)
    // A new repository of the same name is another one.
    await client().repos.create({ name: 'after' })
    assertUnauthenticated(await app.call('repos/get', { name: 'after' }, { token }))
  })

  it('ends when its time is over', async () => {
    const token = await client().tokens.create({ name: 'one', ttlSeconds: 60 })
    app.pass(50_000)
    assert.equal(await status(token.secret), 200)
    assert.equal((await validate(token.secret)).valid, true)
    app.pass(10_000)
    assert.equal(await status(token.secret), 401)
    assert.deepEqual(await validate(token.secret), {
      valid: false,
      id: token.id,
      artifactId: token.artifactId,
      tokenPrefix: token.tokenPrefix,
      scope: 'read',
      op: 'api',
      expiresAt: token.expiresAt,
      revokedAt: null,
    })
  })

  it('ends at once when it is revoked', async () => {
    const { secret, id } = await client().tokens.create({ name: 'one', scope: 'write' })
    assert.equal(await status(secret), 200)
    assert.deepEqual(await client().tokens.revoke({ name: 'two', id }), { revoked: false })
    assert.equal(await status(secret), 200)
    assert.deepEqual(await client().tokens.revoke({ name: 'one', id }), { revoked: true })
    assert.equal(await status(secret), 401)
    const { valid, revokedAt } = await validate(secret)
    assert.equal(valid, false)
    assert.ok(revokedAt && Date.parse(revokedAt) <= app.now())
    assert.equal(
      (await client().tokens.list({ name: 'one' })).items.find((token) => token.id === id)?.revokedAt,
      revokedAt,
    )
  })

  it('stays on the list for a week after its end', async () => {
    await client().repos.create({ name: 'week' })
    const ids = async () => (await client().tokens.list({ name: 'week' })).items.map(({ id }) => id)
    const expiring = await client().tokens.create({ name: 'week', ttlSeconds: 60 })
    app.pass(1)
    const revoked = await client().tokens.create({ name: 'week', ttlSeconds: 60 * 86_400 })
    await client().tokens.revoke({ name: 'week', id: revoked.id })
    app.pass(30 * DAY_MS - 10_000)
    assert.deepEqual(await ids(), [revoked.id, expiring.id])
    app.pass(20_000)
    assert.deepEqual(await ids(), [expiring.id])
    app.pass(60_000)
    assert.deepEqual(await ids(), [])
  })

  it('validates for anybody, and tells nothing of what it does not know', async () => {
    const { secret, id } = await client().tokens.create({ name: 'one', scope: 'write' })
    const { valid, id: found, scope } = await validate(secret)
    assert.deepEqual([valid, found, scope], [true, id, 'write'])
    const key = await client().keys.create({ name: 'not a token' })
    for (const token of ['x', mintSecret('trt'), `${secret}x`, key.secret, ada.token])
      assert.deepEqual(await validate(token), unknown)
    assertInvalid(await app.call('tokens/validate', {}), ['token'])
    assertInvalid(await app.call('tokens/validate', { token: '' }), ['token'])
  })

  it('keeps the bounds of its lifetime', async () => {
    for (const ttlSeconds of [59, 365 * 86_400 + 1, 60.5, '60'])
      assertInvalid(await app.call('tokens/create', { name: 'one', ttlSeconds }, asAda()), ['ttlSeconds'])
    assertInvalid(await app.call('tokens/create', { name: 'one', scope: 'admin' }, asAda()), ['scope'])
  })

  it('finds no repository, no tokens', async () => {
    const inputs = {
      'tokens/list': { name: 'none' },
      'tokens/create': { name: 'none' },
      'tokens/revoke': { name: 'none', id: 'tok_none' },
    }
    for (const [path, input] of Object.entries(inputs))
      assertFault(await app.call(path, input, asAda()), 'REPO_NOT_FOUND', { name: 'none' })
  })

  it('tells of every change in the log of the repository, and of no refused one', async () => {
    const { id, expiresAt } = await expectEvents(
      app,
      (token) => [`token.created ${token.id}`],
      () => client().tokens.create({ name: 'one', scope: 'write' }),
    )
    await expectEvents(app, [`token.revoked ${id}`], () => client().tokens.revoke({ name: 'one', id }))
    await expectEvents(app, [], async () => {
      await client().tokens.revoke({ name: 'one', id })
      await app.call('tokens/create', { name: 'none' }, asAda())
      await app.call('tokens/create', { name: 'one', ttlSeconds: 1 }, asAda())
    })
    const { items } = await client().events.list({ name: 'one', order: 'newest', limit: 2 })
    assert.deepEqual(
      items.map(({ type, subject, payload }) => ({ type, subject, payload })),
      ['token.revoked', 'token.created'].map((type) => ({
        type,
        subject: id,
        payload: { scope: 'write', op: 'api', expiresAt },
      })),
    )
  })
})
