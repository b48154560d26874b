import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import {
  askAgentDoor,
  assertFault,
  assertRefused,
  exchangeAssertion,
  expectEvents,
  onEachDatabase,
  type Person,
  pollClaim,
  registerAgent,
  sendRaw,
  startTestApp,
  useApp,
} from '../testing/index.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

onEachDatabase('an agent that registers', (create) => {
  const app = useApp(create, {
    TRELLIS_TRUSTED_PROXIES: '127.0.0.1',
    TRELLIS_ADDRESS_MAX_AGENTS: '3',
  })
  let ana: Person

  before(async () => {
    ana = await app.signUp('ana')
  })

  const door = (path: string, body: object | URLSearchParams | string, headers?: Record<string, string>) =>
    askAgentDoor(app, path, body, headers)
  const form = (fields: Record<string, string>) => new URLSearchParams(fields)
  describe('anonymously', () => {
    it('gets an assertion at once, and with it tokens for its own small organization', async () => {
      const { body } = await door('/agent/identity', { type: 'anonymous' })
      const { registration_id: id, identity_assertion: assertion, claim_token: claimToken } = body
      assert.match(id, /^reg_/)
      assert.match(claimToken, /^clm_/)
      assert.deepEqual(body, {
        registration_id: id,
        registration_type: 'anonymous',
        identity_assertion: assertion,
        assertion_expires: body.assertion_expires,
        pre_claim_scopes: ['repo:read', 'repo:write'],
        post_claim_scopes: ['repo:read', 'repo:write', 'repo:admin', 'org:read'],
        claim_url: `${app.url}/agent/identity/claim`,
        claim_token: claimToken,
        claim_token_expires: body.claim_token_expires,
      })
      assert.deepEqual(
        { ...decodeProtectedHeader(assertion), kid: '' },
        { alg: 'ES256', typ: 'oauth-id-jag+jwt', kid: '' },
      )
      const claims = decodeJwt(assertion)
      assert.deepEqual([claims.iss, claims.aud, claims.sub, claims.client_id], [app.url, app.url, id, id])
      assert.equal(claims.email, undefined)

      const { status, body: granted, headers } = await exchangeAssertion(app, assertion)
      assert.equal(status, 200)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('pragma'), 'no-cache')
      assert.deepEqual(granted, {
        access_token: granted.access_token,
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'repo:read repo:write',
      })
      await app.client(granted.access_token).repos.create({ name: 'mine' })
    })

    it('says so in the log of its organization', async () => {
      await expectEvents<Awaited<ReturnType<typeof registerAgent>>>(
        app,
        ({ registrationId }) => [
          `org.created ${slugs.get(registrationId)}`,
          `agent.registered ${registrationId}`,
        ],
        async () => {
          const agent = await registerAgent(app)
          const row = await app.database.db
            .selectFrom('agent_registrations')
            .innerJoin('orgs', 'orgs.id', 'agent_registrations.org_id')
            .select('slug')
            .where('agent_registrations.id', '=', agent.registrationId)
            .executeTakeFirstOrThrow()
          slugs.set(agent.registrationId, row.slug)
          return agent
        },
      )
    })
    const slugs = new Map<string, string>()

    it('loses its token after an hour, and may get another while the assertion lasts', async () => {
      const agent = await registerAgent(app)
      app.pass(40 * MINUTE)
      const { body } = await agent.exchange()
      app.pass(30 * MINUTE)
      assert.equal((await app.call('repos/list', {}, { token: agent.token })).status, 401)
      assert.equal((await app.call('repos/list', {}, { token: body.access_token })).status, 200)
      await assertRefused(agent.exchange(), 400, 'invalid_grant')
    })

    it('ends after a day: no token, no claim', async () => {
      const agent = await registerAgent(app)
      app.pass(DAY)
      await assertRefused(agent.exchange(), 400, 'invalid_grant')
      await assertRefused(agent.poll(), 400, 'expired_token')
      const again = { claim_token: agent.claimToken, login_hint: ana.email }
      await assertRefused(door('/agent/identity/claim', again), 410, 'claim_expired')
    })

    it('may end one of its tokens, and learns nothing of any other', async () => {
      const agent = await registerAgent(app)
      const second = (await agent.exchange()).body.access_token
      for (const token of [agent.token, agent.token, 'unknown', mine()]) {
        const answer = await door('/oauth2/revoke', form({ token, token_type_hint: 'access_token' }))
        assert.deepEqual([answer.status, answer.body], [200, undefined])
      }
      // Who means to end a token is not told that it has ended when none was read.
      for (const body of ['', form({ token: '' }), form({ access_token: second }), { token: second }]) {
        const { status, body: said } = await door('/oauth2/revoke', body)
        assert.deepEqual([status, said.error], [400, 'invalid_request'])
      }
      assert.equal((await app.call('repos/list', {}, { token: agent.token })).status, 401)
      assert.equal((await app.call('repos/list', {}, { token: second })).status, 200)
      assert.equal((await app.call('repos/list', {}, { token: mine() })).status, 200)
    })
    const mine = () => ana.token
  })

  describe('for a person it names', () => {
    it('gets a link and a code at once, and nothing else until it is claimed', async () => {
      const { body } = await door('/agent/identity', {
        type: 'service_auth',
        login_hint: ' Ana@Example.com ',
      })
      assert.deepEqual(Object.keys(body).sort(), [
        'claim',
        'claim_token',
        'claim_token_expires',
        'claim_url',
        'post_claim_scopes',
        'registration_id',
        'registration_type',
      ])
      assert.match(body.claim.user_code, /^\d{6}$/)
      assert.deepEqual([body.claim.expires_in, body.claim.interval], [600, 5])
      assert.ok(!body.claim.verification_uri.includes(body.claim.user_code))
      assert.ok(body.claim.verification_uri.startsWith(`${app.url}/login?return_to=%2Fclaim%3F`))
      await assertRefused(pollClaim(app, body.claim_token), 400, 'authorization_pending')
    })

    it('cannot name another one later', async () => {
      const agent = await registerAgent(app, { type: 'service_auth', login_hint: ana.email })
      const claim = (hint: object) =>
        door('/agent/identity/claim', { claim_token: agent.claimToken, ...hint })
      await assertRefused(claim({ login_hint: 'bob@example.com' }), 400, 'invalid_login_hint')
      await assertRefused(claim({ email: 'bob@example.com' }), 400, 'invalid_login_hint')
      for (const hint of [{}, { login_hint: 'ANA@example.COM' }, { email: ana.email }])
        assert.equal((await claim(hint)).body.status, 'initiated')
    })

    it('is refused to any other account, and has its scopes when the right one has claimed it', async () => {
      const bob = await app.signUp('bob')
      const agent = await registerAgent(app, { type: 'service_auth', login_hint: ana.email })
      const { ceremony, attemptToken } = await agent.startClaim()
      const input = { claimAttemptToken: attemptToken, userCode: ceremony.user_code }
      assertFault(
        await app.call('agents/claimComplete', input, { token: bob.token }),
        'AGENT_CLAIM_WRONG_ACCOUNT',
        { claimEmail: ana.email },
      )
      assert.equal((await app.call('agents/claimComplete', input, { token: ana.token })).status, 200)
      const { body } = await agent.poll()
      assert.equal(body.scope, 'repo:read repo:write repo:admin org:read')
      const claims = decodeJwt(body.identity_assertion)
      assert.deepEqual([claims.email, claims.email_verified], [ana.email, false])
      await app.client(body.access_token).repos.create({ name: 'after' })
      await app.client(ana.token).agents.revoke({ registrationId: agent.registrationId })
      assert.equal((await app.call('repos/list', {}, { token: body.access_token })).status, 401)
      await assertRefused(agent.exchange(body.identity_assertion), 400, 'invalid_grant')
    })

    it('has to name an email address', async () => {
      const odd = [
        undefined,
        '',
        'ana',
        'ana@',
        'a\0na@example.com',
        'ana@example.com\r\nx: y',
        'ána@example.com',
      ]
      for (const login_hint of [...odd, `${'a'.repeat(250)}@example.com`])
        await assertRefused(
          door('/agent/identity', { type: 'service_auth', ...(login_hint !== undefined && { login_hint }) }),
          400,
          'invalid_login_hint',
        )
      const { claimToken } = await registerAgent(app)
      await assertRefused(
        door('/agent/identity/claim', { claim_token: claimToken }),
        400,
        'invalid_login_hint',
      )
      await assertRefused(
        door('/agent/identity/claim', { claim_token: claimToken, login_hint: '<b>@x' }),
        400,
        'invalid_login_hint',
      )
    })
  })

  describe('while it waits for its claim', () => {
    it('is told to slow down when it asks too often, each time by five seconds more', async () => {
      const agent = await registerAgent(app)
      await agent.startClaim(ana.email)
      const pollAfter = async (ms: number) => {
        app.pass(ms)
        return (await agent.poll()).body.error
      }
      assert.equal(await pollAfter(0), 'authorization_pending')
      assert.equal(await pollAfter(5000), 'authorization_pending')
      assert.equal(await pollAfter(1000), 'slow_down')
      assert.equal(await pollAfter(6000), 'slow_down')
      assert.equal(await pollAfter(15_000), 'authorization_pending')
      assert.equal(await pollAfter(14_000), 'slow_down')
    })

    it('gets what it waited for once', async () => {
      const agent = await registerAgent(app)
      const { ceremony, attemptToken } = await agent.startClaim(ana.email)
      await app
        .client(ana.token)
        .agents.claimComplete({ claimAttemptToken: attemptToken, userCode: ceremony.user_code })
      const answers = await Promise.all([agent.poll(), agent.poll(), agent.poll(), agent.poll()])
      const granted = answers.filter(({ status }) => status === 200)
      assert.equal(granted.length, 1)
      for (const { status, body } of answers) if (status !== 200) assert.equal(body.error, 'invalid_grant')
      await assertRefused(agent.poll(), 400, 'invalid_grant')
      await assertRefused(
        door('/agent/identity/claim', { claim_token: agent.claimToken, login_hint: ana.email }),
        409,
        'claimed_or_in_flight',
      )
      // The new assertion is good, that of before the claim is not, and neither is the token got with it.
      const exchanged = await agent.exchange(granted[0]?.body.identity_assertion)
      assert.equal(exchanged.body.scope, 'repo:read repo:write repo:admin org:read')
      await assertRefused(agent.exchange(agent.assertion), 400, 'invalid_grant')
      assert.equal((await app.call('repos/list', {}, { token: agent.token })).status, 401)
    })
  })

  it('is told what is wrong with a request in the words of the protocol', async () => {
    for (const body of [{}, { type: 7 }, { type: 'other' }, { type: ['anonymous'] }, [], 'text', null])
      await assertRefused(door('/agent/identity', body as object), 400, 'invalid_request')
    await assertRefused(door('/agent/identity', ''), 400, 'invalid_request')
    const json = { 'content-type': 'application/json' }
    for (const text of ['{', '{"type":"anonymous"', '\ufeff{', '"'])
      await assertRefused(door('/agent/identity', text, json), 400, 'invalid_request')
    // As a page of another site could send it.
    const posted = '{"type":"anonymous"}'
    await assertRefused(
      door('/agent/identity', posted, { 'content-type': 'text/plain' }),
      400,
      'invalid_request',
    )
    await assertRefused(door('/agent/identity', { type: 'identity_assertion' }), 400, 'issuer_not_enabled')
    for (const body of [{}, { claim_token: '' }, { claim_token: 'x'.repeat(257) }, { claim_token: 7 }])
      await assertRefused(door('/agent/identity/claim', body), 400, 'invalid_request')
    for (const claim_token of ['clm_none', '☃', 'a\0b'])
      await assertRefused(door('/agent/identity/claim', { claim_token }), 401, 'invalid_claim_token')
    const token = (fields: Record<string, string>) => door('/oauth2/token', form(fields))
    await assertRefused(token({}), 400, 'invalid_request')
    await assertRefused(door('/oauth2/token', { grant_type: 'x' }), 400, 'invalid_request')
    await assertRefused(token({ grant_type: 'password' }), 400, 'unsupported_grant_type')
    const [assertion, claim] = [
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      'urn:workos:agent-auth:grant-type:claim',
    ]
    for (const grant_type of [assertion, claim]) {
      await assertRefused(token({ grant_type }), 400, 'invalid_request')
      await assertRefused(token({ grant_type, assertion: '\0', claim_token: '\0' }), 400, 'invalid_request')
    }
    await assertRefused(token({ grant_type: assertion, assertion: 'x' }), 400, 'invalid_grant')
    await assertRefused(token({ grant_type: claim, claim_token: 'x' }), 400, 'expired_token')
  })

  it('is refused a body that is too large, before it is read', async () => {
    for (const path of ['/agent/identity', '/agent/identity/claim', '/oauth2/token', '/oauth2/revoke']) {
      const answer = await sendRaw(
        app.url,
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 70000\r\n\r\n{`,
      )
      assert.match(answer, /^HTTP\/1\.1 413 /)
      assert.match(answer, /PAYLOAD_TOO_LARGE/)
    }
  })

  it('may register as often from one network as the limit says, also many at once', async () => {
    const register = (address: string) =>
      door('/agent/identity', { type: 'anonymous' }, { 'x-forwarded-for': address })
    for (const network of ['203.0.113.7', '2001:db8:1:2:']) {
      const address = (i: number) => (network.endsWith(':') ? `${network}${i}::1` : network)
      const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => register(address(i + 1))))
      assert.equal(answers.filter(({ status }) => status === 200).length, 3)
      const refused = answers.find(({ status }) => status !== 200)
      assert.deepEqual([refused?.status, refused?.body.error], [429, 'rate_limited'])
      assert.ok(Number(refused?.headers.get('retry-after')) > 0)
      const named = { type: 'service_auth', login_hint: ana.email }
      const headers = { 'x-forwarded-for': address(1) }
      await assertRefused(door('/agent/identity', named, headers), 429, 'rate_limited')
    }
    assert.equal((await register('203.0.113.8')).status, 200)
    app.pass(DAY)
    assert.equal((await register('203.0.113.7')).status, 200)
  })

  it('finds no door when the operator keeps strangers out', async () => {
    await using fresh = await create()
    await using closed = await startTestApp(fresh, { TRELLIS_ANONYMOUS: 'off' })
    const ask = (body: object) => askAgentDoor(closed, '/agent/identity', body)
    await assertRefused(ask({ type: 'anonymous' }), 403, 'anonymous_not_enabled')
    const named = { type: 'service_auth', login_hint: ana.email }
    await assertRefused(ask(named), 403, 'service_auth_not_enabled')
    const metadata = await fetch(`${closed.url}/.well-known/oauth-authorization-server`)
    const { agent_auth } = (await metadata.json()) as { agent_auth: Record<string, unknown> }
    assert.deepEqual(agent_auth.identity_types_supported, [])
  })
})
