import assert from 'node:assert/strict'
import { createHash, createHmac, generateKeyPairSync } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import {
  askAgentDoor,
  assertFault,
  assertRefused,
  onEachDatabase,
  type Person,
  pollClaim,
  registerAgent,
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
  describe('signing keys', () => {
    it('change after a month, and those before still count for what they signed', async () => {
      const jwks = async () => {
        const response = await fetch(`${app.url}/.well-known/jwks.json`)
        return (await response.json()) as { keys: { kid: string; d?: string }[] }
      }
      await registerAgent(app)
      const before = await jwks()
      const newest = before.keys[0]?.kid
      app.pass(30 * DAY - 10 * MINUTE - (app.now() - (await createdAt(newest ?? ''))))
      const late = await registerAgent(app)
      assert.equal(decodeProtectedHeader(late.assertion).kid, newest)
      app.pass(20 * MINUTE)

      const both = await jwks()
      assert.deepEqual(both.keys.slice(1), before.keys)
      for (const key of both.keys) assert.equal(key.d, undefined)
      const next = await registerAgent(app)
      assert.equal(decodeProtectedHeader(next.assertion).kid, both.keys[0]?.kid)
      for (const assertion of [late.assertion, next.assertion])
        await jwtVerify(assertion, createLocalJWKSet(both as never), {
          issuer: app.url,
          audience: app.url,
          currentDate: new Date(app.now()),
        })
      assert.equal((await late.exchange()).status, 200)
      app.pass(30 * DAY)
      assert.ok(!(await jwks()).keys.some(({ kid }) => kid === newest))
    })

    it('are one when two processes need the first at once', async () => {
      await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-shared-'))
      await using fresh = await create()
      await using one = await startTestApp(fresh, { TRELLIS_DATA: data.path })
      await using two = await startTestApp(fresh, { TRELLIS_DATA: data.path })
      const agents = await Promise.all([one, two, one, two].map((process) => registerAgent(process)))
      const kids = new Set(agents.map(({ assertion }) => decodeProtectedHeader(assertion).kid))
      assert.equal(kids.size, 1)
    })

    const createdAt = async (id: string) =>
      (
        await app.database.db
          .selectFrom('signing_keys')
          .select('created_at')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      ).created_at
  })

  it('cannot forge an assertion', async () => {
    const agent = await registerAgent(app)
    const header = decodeProtectedHeader(agent.assertion)
    const claims = decodeJwt(agent.assertion)
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const [head = '', payload = '', signature = ''] = agent.assertion.split('.')
    const { keys } = (await (await fetch(`${app.url}/.well-known/jwks.json`)).json()) as {
      keys: Record<string, string>[]
    }
    const signed = (head: object) => `${encode(head)}.${payload}`
    const hmac = (text: string, key: string) => createHmac('sha256', key).update(text).digest('base64url')
    const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const byOwnKey = (head: object, body: object = claims) =>
      new SignJWT({ ...body }).setProtectedHeader(head as never).sign(own.privateKey)
    const publicJwk = own.publicKey.export({ format: 'jwk' })
    const forged = [
      `${encode({ ...header, alg: 'none' })}.${payload}.`,
      `${encode({ ...header, alg: 'none' })}.${payload}.${signature}`,
      ...['HS256', 'hs256'].map((alg) => {
        const text = signed({ ...header, alg })
        return `${text}.${hmac(text, JSON.stringify(keys[0]))}`
      }),
      await byOwnKey(header),
      await byOwnKey({ ...header, jwk: publicJwk }),
      await byOwnKey({ ...header, kid: 'sig_none' }),
      await byOwnKey({ alg: 'ES256', typ: header.typ }),
      await byOwnKey({ ...header, kid: "' or 1=1 --" }),
      await byOwnKey({ ...header, kid: '../../dev/null' }),
      `${head}.${encode({ ...claims, generation: 2 })}.${signature}`,
      `${head}.${encode({ ...claims, sub: 'reg_other' })}.${signature}`,
      `${encode({ ...header, typ: 'JWT' })}.${payload}.${signature}`,
      `${head}.${payload}.`,
      `${head}.${payload}`,
      `${agent.assertion}.more`,
      agent.assertion.slice(0, -2),
      createHash('sha256').update(agent.assertion).digest('hex'),
      'a'.repeat(60_000),
      '☃.☃.☃',
    ]
    for (const assertion of forged) await assertRefused(agent.exchange(assertion), 400, 'invalid_grant')
    assert.equal((await agent.exchange()).status, 200)
  })

  it('cannot use one kind of secret in the place of another', async () => {
    const agent = await registerAgent(app)
    const { attemptToken } = await agent.startClaim(ana.email)
    const { poll } = await (await registerAgent(app)).beClaimed(ana)
    const asAgent = app.client(poll.access_token)
    await asAgent.repos.create({ name: 'confused' })
    const repoToken = (await asAgent.tokens.create({ name: 'confused' })).secret
    const invite = await asAgent.invites.create({ name: 'confused' })
    const secrets = {
      claim: agent.claimToken,
      attempt: attemptToken,
      assertion: agent.assertion,
      agent: agent.token,
      repo: repoToken,
      invite: invite.id,
      management: invite.managementId,
    }
    const others = (...own: (keyof typeof secrets)[]) =>
      Object.entries(secrets)
        .filter(([kind]) => !own.includes(kind as keyof typeof secrets))
        .map(([, secret]) => secret)

    for (const token of others('agent', 'repo'))
      assert.equal((await app.call('repos/list', {}, { token })).status, 401)
    for (const token of others('repo'))
      assert.equal((await app.call('tokens/validate', { token })).body.valid, false)
    for (const assertion of others('assertion'))
      await assertRefused(agent.exchange(assertion), 400, 'invalid_grant')
    for (const claimToken of others('claim')) {
      await assertRefused(pollClaim(app, claimToken), 400, 'expired_token')
      const input = { claim_token: claimToken.slice(0, 256), login_hint: ana.email }
      await assertRefused(door('/agent/identity/claim', input), 401, 'invalid_claim_token')
    }
    for (const claimAttemptToken of others('attempt'))
      assertFault(
        await app.call('agents/claimView', { claimAttemptToken }, { token: ana.token }),
        'AGENT_CLAIM_NOT_FOUND',
        {},
      )
    for (const id of others('invite').map((secret) => secret.slice(0, 128)))
      assertFault(await app.call('invites/reveal', { id }), 'INVITE_NOT_FOUND', {})
    for (const managementId of others('management'))
      assertFault(await app.call('invites/revoke', { managementId }), 'INVITE_NOT_FOUND', {})
    for (const token of others('agent')) await door('/oauth2/revoke', form({ token }))
    for (const token of [agent.token, repoToken])
      assert.equal((await app.call('repos/list', {}, { token })).status, 200)
  })
})
