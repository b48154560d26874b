import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import {
  assertFault,
  assertForbidden,
  assertInvalid,
  expectEvents,
  onEachDatabase,
  type Person,
  registerAgent,
  useApp,
} from '../testing/index.ts'

const HOUR_MS = 3_600_000

onEachDatabase('what somebody makes or changes with a credential that ends', (create) => {
  const app = useApp(create)
  let ada: Person

  before(async () => {
    ada = await app.signUp('ada')
    await client().repos.create({ name: 'hello' })
  })

  const client = () => app.client(ada.token)
  const keyFor = (ms: number) => client().keys.create({ name: 'short', expiresAt: app.now() + ms })
  const longer = { message: 'This key lives longer than the credential of this request' }

  it('is a key that ends with it at the latest, or earlier', async () => {
    const { secret, expiresAt } = await keyFor(HOUR_MS)
    const at = expiresAt ?? 0
    for (const time of [{}, { expiresAt: null }, { expiresAt }])
      assert.equal((await app.client(secret).keys.create({ name: 'heir', ...time })).expiresAt, at)
    assert.equal(
      (await app.client(secret).keys.create({ name: 'heir', expiresAt: at - 1 })).expiresAt,
      at - 1,
    )
    const answer = await app.call('keys/create', { name: 'more', expiresAt: at + 1 }, { token: secret })
    assertInvalid(answer, ['expiresAt'])
    assert.match(answer.body.data.issues[0].message, new RegExp(new Date(at).toISOString()))
  })

  it('is not its own expiry, but for the better', async () => {
    const { id, secret, expiresAt } = await keyFor(HOUR_MS)
    const at = expiresAt ?? 0
    await expectEvents(app, [], async () => {
      for (const expiresAt of [null, at + 1])
        assertInvalid(await app.call('keys/update', { id, expiresAt }, { token: secret }), ['expiresAt'])
    })
    assert.equal((await app.client(secret).keys.update({ id, expiresAt: at - 1000 })).expiresAt, at - 1000)
    assertInvalid(await app.call('keys/update', { id, expiresAt: at }, { token: secret }), ['expiresAt'])
  })

  it('is no key that lives longer, of which it may only be the end', async () => {
    const { secret } = await keyFor(HOUR_MS)
    for (const expiresAt of [null, app.now() + 2 * HOUR_MS]) {
      const other = await client().keys.create({ name: 'other', expiresAt })
      await client().keys.update({ id: other.id, enabled: false })
      for (const change of [{ name: 'mine' }, { enabled: true }, { scopes: ['repo:read'] }])
        await expectEvents(app, [], async () =>
          assertFault(
            await app.call('keys/update', { id: other.id, ...change }, { token: secret }),
            'FORBIDDEN',
            {},
            longer.message,
          ),
        )
      assert.deepEqual(await app.client(secret).keys.revoke({ id: other.id }), { revoked: true })
    }
  })

  it('is no key that can do more', async () => {
    const weak = await client().keys.create({ name: 'weak', scopes: ['keys:write', 'repo:write'] })
    const strong = await client().keys.create({ name: 'strong', scopes: ['repo:admin'] })
    await client().keys.update({ id: strong.id, enabled: false })
    for (const change of [
      { enabled: true },
      { name: 'mine' },
      { expiresAt: null },
      { scopes: ['repo:read'] },
    ])
      await expectEvents(app, [], async () =>
        assertForbidden(
          await app.call('keys/update', { id: strong.id, ...change }, { token: weak.secret }),
          'scope_missing',
          'This key has repo:admin, which the credential of this request lacks',
        ),
      )
    const equal = await client().keys.create({ name: 'equal', scopes: ['repo:write'] })
    await client().keys.update({ id: equal.id, enabled: false })
    assert.equal((await app.client(weak.secret).keys.update({ id: equal.id, enabled: true })).enabled, true)
  })

  it('is no key that becomes stronger at the same moment', async () => {
    const weak = await client().keys.create({ name: 'weak', scopes: ['keys:write'] })
    for (let round = 0; round < 8; round++) {
      const { id } = await client().keys.create({ name: 'before', scopes: ['keys:read'] })
      const [, renamed] = await Promise.all([
        client().keys.update({ id, scopes: ['*'], name: 'strong' }),
        app.call('keys/update', { id, name: 'mine' }, { token: weak.secret }),
      ])
      const key = (await client().keys.list({})).items.find((key) => key.id === id)
      // Either it came first, when the key was weak, or it was refused.
      assert.deepEqual([key?.name, key?.scopes], ['strong', ['*']], `answered ${renamed.status}`)
      await client().keys.revoke({ id })
    }
  })

  it('is a token that ends with it: one that would last longer is refused, one without a time is shortened', async () => {
    const { secret, expiresAt } = await keyFor(HOUR_MS)
    const at = new Date(expiresAt ?? 0).toISOString()
    assert.equal((await app.client(secret).tokens.create({ name: 'hello' })).expiresAt, at)
    const answer = await app.call('tokens/create', { name: 'hello', ttlSeconds: 3601 }, { token: secret })
    assertInvalid(answer, ['ttlSeconds'])
    assert.match(answer.body.data.issues[0].message, new RegExp(at))
    const short = await app.client(secret).tokens.create({ name: 'hello', ttlSeconds: 60 })
    assert.ok(short.expiresAt < at)
  })

  it('is an invite that ends with it', async () => {
    const { secret, expiresAt } = await keyFor(HOUR_MS)
    const at = new Date(expiresAt ?? 0).toISOString()
    for (const operation of ['create', 'createAnonymous'] as const) {
      const invite = await app.client(secret).invites[operation]({ name: 'hello', grantTtlSeconds: 7200 })
      assert.equal(invite.expiresAt, at)
      assert.equal((await app.client().invites.reveal({ id: invite.id })).tokenExpiresAt, at)
    }
  })

  it('has no such bound with a session, nor with a key that has no end', async () => {
    const key = await client().keys.create({ name: 'for ever' })
    for (const token of [ada.token, key.secret]) {
      assert.equal((await app.client(token).keys.create({ name: 'heir' })).expiresAt, null)
      const ttlSeconds = 365 * 24 * 3600
      const made = await app.client(token).tokens.create({ name: 'hello', ttlSeconds })
      assert.ok(Date.parse(made.expiresAt) > app.now() + (ttlSeconds - 60) * 1000)
    }
  })

  it('ends with an agent that made it, and not with the token the agent used', async () => {
    const agent = await registerAgent(app)
    const { poll } = await agent.beClaimed(ada)
    await app.client(poll.access_token).repos.create({ name: 'work' })
    const token = await app.client(poll.access_token).tokens.create({ name: 'work', ttlSeconds: 7200 })
    assert.ok(Date.parse(token.expiresAt) > app.now() + HOUR_MS)
    const isValid = async () => (await app.client().tokens.validate({ token: token.secret })).valid
    assert.equal(await isValid(), true)
    await client().agents.revoke({ registrationId: agent.registrationId })
    assert.equal(await isValid(), false)
  })
})
