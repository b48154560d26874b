import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  type Answer,
  askAgentDoor,
  assertRefused,
  createVisitor,
  expectEvents,
  onEachDatabase,
  type Person,
  refresh,
  registerAgent,
  sessionCookieOf,
  useApp,
} from '../testing/index.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR

onEachDatabase('an agent that was claimed', (create) => {
  const app = useApp(create)
  let ana: Person

  before(async () => {
    ana = await app.signUp('ana')
  })

  const claimed = async (body?: object) => {
    const agent = await registerAgent(app, body)
    const { poll: given } = await agent.beClaimed(ana)
    return { ...agent, given, first: given.refresh_token as string }
  }
  const statusOf = async (token: string) => (await app.call('repos/list', {}, { token })).status
  /** Uses a token, and has it noted. */
  const use = async ({ access_token }: { access_token: string }) => {
    assert.equal(await statusOf(access_token), 200)
    await app.background.run('agent usage')
  }
  const granted = ({ status, body }: Answer) => {
    assert.equal(status, 200, JSON.stringify(body))
    return body as { access_token: string; refresh_token: string }
  }
  const listed = async (id: string) =>
    (await app.client(ana.token).agents.list({ limit: 100 })).items.find(
      ({ registrationId }) => registrationId === id,
    )
  const assertEnded = async (id: string, ...tokens: string[]) => {
    for (const token of tokens) assert.equal(await statusOf(token), 401)
    assert.equal((await listed(id))?.status, 'expired')
  }

  it('goes on for as long as it comes back, and stays an agent in the log', async () => {
    const agent = await claimed()
    const { given } = agent
    assert.match(agent.first, /^trr_[0-9A-Za-z]{42}$/)
    assert.deepEqual([given.expires_in, given.refresh_token_expires_in], [3600, 90 * 24 * 3600])
    let pair = given
    const seen = new Set<string>([agent.first])
    for (let month = 0; month < 6; month++) {
      app.pass(80 * DAY)
      await app.expire()
      pair = granted(await refresh(app, pair.refresh_token))
      assert.deepEqual(Object.keys(pair).sort(), [
        'access_token',
        'expires_in',
        'refresh_token',
        'refresh_token_expires_in',
        'scope',
        'token_type',
      ])
      assert.equal(pair.scope, 'repo:read repo:write repo:admin org:read')
      seen.add(pair.refresh_token)
    }
    assert.equal(seen.size, 7)
    const asAgent = app.client(pair.access_token)
    await asAgent.repos.create({ name: 'late' })
    const { items } = await asAgent.events.list({ name: 'late' })
    assert.deepEqual(items[0]?.actor, { kind: 'agent', id: agent.registrationId })
    const mine = await listed(agent.registrationId)
    assert.equal(mine?.status, 'claimed')
    assert.ok(Math.abs((mine?.endsAt ?? 0) - app.now() - 90 * DAY) < HOUR)
  })

  it('ends after 90 days of silence, with all it has made', async () => {
    const agent = await claimed()
    const asAgent = app.client(agent.given.access_token)
    await asAgent.repos.create({ name: 'silent' })
    const made = await asAgent.tokens.create({ name: 'silent', ttlSeconds: 365 * 24 * 3600 })
    const isValid = async () => (await app.client().tokens.validate({ token: made.secret })).valid
    app.pass(90 * DAY - HOUR)
    await app.expire()
    assert.equal(await isValid(), true)
    app.pass(HOUR)
    await assertRefused(refresh(app, agent.first), 400, 'invalid_grant')
    assert.equal((await listed(agent.registrationId))?.status, 'expired')
    await app.expire()
    assert.equal(await isValid(), false)
    const { items } = await app
      .client(ana.token, (await listed(agent.registrationId))?.orgSlug ?? '')
      .events.list({
        types: ['agent.revoked'],
      })
    assert.deepEqual([items[0]?.actor.kind, items[0]?.payload], ['system', { reason: 'idle' }])
  })

  describe('and whose refresh token comes a second time', () => {
    it('ends at once, with every credential it has and has made', async () => {
      const agent = await claimed()
      const asAgent = app.client(agent.given.access_token)
      await asAgent.repos.create({ name: 'stolen' })
      const made = await asAgent.tokens.create({ name: 'stolen', scope: 'write' })
      const next = granted(await refresh(app, agent.first))
      await expectEvents(
        app,
        [`agent.revoked ${agent.registrationId}`, `token.revoked ${made.id}`],
        async () => assertRefused(refresh(app, agent.first), 400, 'invalid_grant'),
      )
      await assertEnded(agent.registrationId, agent.given.access_token, next.access_token, made.secret)
      await assertRefused(refresh(app, next.refresh_token), 400, 'invalid_grant')
      await assertRefused(agent.exchange(agent.given.identity_assertion), 400, 'invalid_grant')
      await expectEvents(app, [], async () => assertRefused(refresh(app, agent.first), 400, 'invalid_grant'))
    })

    it('ends however old that token is', async () => {
      const agent = await claimed()
      let pair = agent.given
      for (let i = 0; i < 3; i++) pair = granted(await refresh(app, pair.refresh_token))
      app.pass(60 * DAY)
      await assertRefused(refresh(app, agent.first), 400, 'invalid_grant')
      await assertRefused(refresh(app, pair.refresh_token), 400, 'invalid_grant')
      await assertEnded(agent.registrationId)
    })

    it('gives one of many that come at once a new pair at most, and ends', async () => {
      const agent = await claimed()
      const answers = await Promise.all(Array.from({ length: 6 }, () => refresh(app, agent.first)))
      const pairs = answers.filter(({ status }) => status === 200)
      assert.equal(pairs.length, 1)
      await assertEnded(agent.registrationId, pairs[0]?.body.access_token)
    })

    it('goes on when the answer was lost: what was in it is void', async () => {
      const agent = await claimed()
      const lost = granted(await refresh(app, agent.first))
      app.pass(11 * SECOND)
      const again = granted(await refresh(app, agent.first))
      assert.equal(await statusOf(lost.access_token), 401)
      await use(again)
      // And once more, hours later, when the lost token has been swept away or not.
      const lostToo = granted(await refresh(app, again.refresh_token))
      app.pass(8 * HOUR)
      await app.expire()
      const last = granted(await refresh(app, again.refresh_token))
      await use(last)
      await assertRefused(refresh(app, lostToo.refresh_token), 400, 'invalid_grant')
      await assertEnded(agent.registrationId, last.access_token)
    })

    it('ends when something of that answer was used, by whoever it was', async () => {
      const agent = await claimed()
      const next = granted(await refresh(app, agent.first))
      await use(next)
      app.pass(11 * SECOND)
      await assertRefused(refresh(app, agent.first), 400, 'invalid_grant')
      await assertEnded(agent.registrationId, next.access_token)

      const other = await claimed()
      const second = granted(await refresh(app, other.first))
      granted(await refresh(app, second.refresh_token))
      app.pass(11 * SECOND)
      await assertRefused(refresh(app, other.first), 400, 'invalid_grant')
      await assertEnded(other.registrationId)
    })

    it('ends when a thief who took the answer for lost is followed by its owner', async () => {
      const agent = await claimed()
      const owners = granted(await refresh(app, agent.first))
      app.pass(11 * SECOND)
      const thiefs = granted(await refresh(app, agent.first))
      assert.equal(await statusOf(owners.access_token), 401)
      await assertRefused(refresh(app, owners.refresh_token), 400, 'invalid_grant')
      await assertEnded(agent.registrationId, thiefs.access_token)
      await assertRefused(refresh(app, thiefs.refresh_token), 400, 'invalid_grant')
    })
  })

  it('may ask for its claim again when the first answer was lost, and not after it was used', async () => {
    const agent = await claimed()
    await assertRefused(agent.poll(), 400, 'invalid_grant')
    app.pass(11 * SECOND)
    const again = granted(await agent.poll())
    assert.equal(await statusOf(agent.given.access_token), 401)
    await use(again)
    app.pass(11 * SECOND)
    await assertRefused(agent.poll(), 400, 'invalid_grant')
    assert.equal(await statusOf(again.access_token), 200)
    // Whoever has the first answer all the same is one too many.
    await assertRefused(refresh(app, agent.first), 400, 'invalid_grant')
    await assertEnded(agent.registrationId, again.access_token)
  })

  it('ends when it is revoked, and when it gives its refresh token back', async () => {
    const agent = await claimed()
    await app.client(ana.token).agents.revoke({ registrationId: agent.registrationId })
    await assertRefused(refresh(app, agent.first), 400, 'invalid_grant')

    const leaving = await claimed()
    const token = new URLSearchParams({ token: leaving.first })
    await expectEvents(app, [`agent.revoked ${leaving.registrationId}`], async () => {
      for (let i = 0; i < 2; i++) assert.equal((await askAgentDoor(app, '/oauth2/revoke', token)).status, 200)
    })
    await assertRefused(refresh(app, leaving.first), 400, 'invalid_grant')
    await assertEnded(leaving.registrationId, leaving.given.access_token)
  })

  it('ends with the organization it works in', async () => {
    const agent = await claimed()
    const { orgSlug } = (await listed(agent.registrationId)) ?? {}
    await app.client(ana.token).orgs.delete({ orgSlug: orgSlug ?? '' })
    assert.equal(await statusOf(agent.given.access_token), 401)
    await assertRefused(refresh(app, agent.first), 400, 'invalid_grant')
    await assertEnded(agent.registrationId)
  })

  it('has no use for a refresh token that is garbage, and none as a bearer', async () => {
    const agent = await claimed()
    const last = agent.first.endsWith('0') ? '1' : '0'
    for (const garbage of [
      'x',
      `trr_${'0'.repeat(42)}`,
      agent.first.slice(0, -1) + last,
      agent.given.access_token,
    ])
      await assertRefused(refresh(app, garbage), 400, 'invalid_grant')
    const { status, body } = await app.call('repos/list', {}, { token: agent.first })
    assert.equal(status, 401)
    assert.match(body.message, /^A refresh token is for the token endpoint alone: .*\/auth\.md /)
    granted(await refresh(app, agent.first))
  })

  it('tells why its access token is not accepted', async () => {
    const agent = await claimed()
    const { access_token: token } = agent.given
    const refusal = async (token: string) => {
      const { status, body, headers } = await app.call('repos/list', {}, { token })
      assert.equal(status, 401)
      assert.ok(body.message.includes(`${app.url}/auth.md`), body.message)
      const challenge = headers.get('www-authenticate') ?? ''
      assert.match(challenge, /^Bearer resource_metadata="[^"]+", error="invalid_token", error_description="/)
      return body.message as string
    }
    assert.match(await refusal(agent.token), /^This access token has been revoked/)
    app.pass(HOUR)
    assert.match(await refusal(token), /^This access token has expired/)
    await app.expire()
    assert.match(await refusal(token), /^This access token has expired/)
    assert.match(await refusal(`tra_${'0'.repeat(42)}`), /^This credential is not valid here/)
    const { body: missing } = await app.call('repos/list', {})
    assert.match(missing.message, /^Sign in required: .*\/auth\.md/)
  })

  describe('with a name', () => {
    it('is shown by it beside its id, in its own words', async () => {
      const agent = await registerAgent(app, { type: 'anonymous', agent_name: ' <b>Release</b> helper ' })
      const agentName = '<b>Release</b> helper'
      assert.equal(agent.registered.agent_name, agentName)
      const { attemptToken, ceremony } = await agent.startClaim(ana.email)
      const visitor = createVisitor(app, await sessionCookieOf(app, ana.email))
      const page = await visitor.get(`/claim?claim_attempt_token=${attemptToken}`)
      assert.match(page.text, /“&#60;b&#62;Release&#60;\/b&#62; helper”\. These are its own words/)
      const input = { claimAttemptToken: attemptToken, userCode: ceremony.user_code }
      await app.client(ana.token).agents.claimComplete(input)
      const mine = await listed(agent.registrationId)
      assert.equal(mine?.agentName, agentName)
      const { items } = await app.client(ana.token, mine?.orgSlug ?? '').events.list({
        types: ['agent.registered', 'agent.claimed'],
      })
      for (const { payload } of items) assert.deepEqual(payload, { kind: 'anonymous', name: agentName })

      const asAgent = app.client((await agent.poll()).body.access_token)
      await asAgent.repos.create({ name: 'signed' })
      const changes = [{ op: 'put' as const, path: 'a', content: 'a' }]
      await asAgent.git.commits.create({ name: 'signed', branch: 'main', message: 'Sign', changes })
      const [commit] = (await asAgent.git.commits.list({ name: 'signed' })).items
      assert.deepEqual(
        [commit?.author.name, commit?.author.email],
        ['bRelease/b helper (agent)', `${agent.registrationId}@trellis`],
      )
    })

    it('has one of up to 64 characters that can be seen, or none', async () => {
      const register = (agent_name: unknown) =>
        askAgentDoor(app, '/agent/identity', { type: 'anonymous', agent_name })
      for (const name of ['x'.repeat(65), 'a\nb', 'a\u0000b', 'a\u202eb', 'a\u2028b', 7, ['a']])
        await assertRefused(register(name), 400, 'invalid_request')
      for (const name of ['x'.repeat(64), 'Ünïcode 🤖'])
        assert.equal((await register(name)).body.agent_name, name)
      for (const name of [undefined, null, '', '  ']) {
        const { status, body } = await register(name)
        assert.deepEqual([status, 'agent_name' in body], [200, false])
      }
    })
  })
})
