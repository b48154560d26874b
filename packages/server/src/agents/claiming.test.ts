import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, it } from 'node:test'
import {
  type Answer,
  assertFault,
  assertInvalid,
  expectEvents,
  join,
  onEachDatabase,
  type Person,
  registerAgent,
  useApp,
  wrongCode,
} from '../testing/index.ts'

const HOUR = 60 * 60_000
const MINUTE = 60_000

onEachDatabase('claiming an agent', (create) => {
  const app = useApp(create, { TRELLIS_TRUSTED_PROXIES: '127.0.0.1' })
  let ana: Person
  let bob: Person

  before(async () => {
    ana = await app.signUp('ana')
    bob = await app.signUp('bob')
  })

  const view = (claimAttemptToken: string, { token }: { token: string } = ana) =>
    app.call('agents/claimView', { claimAttemptToken }, { token })
  const complete = (
    claimAttemptToken: string,
    userCode: string,
    { token }: { token: string } = ana,
    address?: string,
  ) =>
    app.call(
      'agents/claimComplete',
      { claimAttemptToken, userCode },
      { token, ...(address && { headers: { 'x-forwarded-for': address } }) },
    )
  const assertGone = (answer: Answer, reason: 'previously_claimed' | 'claim_expired' | 'user_code_expired') =>
    assertFault(answer, 'AGENT_CLAIM_UNAVAILABLE', { reason })

  /** Somebody who has not tried any code yet. */
  let made = 0
  const newPerson = () => app.signUp(`person-${++made}`)

  it('shows who asks, and changes nothing by showing it', async () => {
    const agent = await registerAgent(app)
    const { attemptToken } = await agent.startClaim('ANA@example.com')
    await expectEvents(app, [], async () => {
      const { status, body } = await view(attemptToken)
      assert.equal(status, 200)
      assert.ok(Math.abs(body.userCodeExpiresAt - app.now() - 10 * MINUTE) < 5000)
      assert.deepEqual(body, {
        registrationId: agent.registrationId,
        kind: 'anonymous',
        status: 'pending_claim',
        claimEmail: 'ana@example.com',
        userCodeExpiresAt: body.userCodeExpiresAt,
      })
    })
  })

  it('gives the person the organization, and the agent its scopes', async () => {
    const agent = await registerAgent(app)
    const repo = await app.call('repos/create', { name: 'made-before' }, { token: agent.token })
    assert.equal(repo.status, 200)
    const { ceremony, attemptToken } = await agent.startClaim(ana.email)
    await expectEvents(
      app,
      [`member.added ${ana.userId}`, `agent.claimed ${agent.registrationId}`],
      async () => {
        assert.deepEqual((await complete(attemptToken, ceremony.user_code)).body, { claimed: true })
      },
    )
    assert.equal((await app.call('repos/list', {}, { token: agent.token })).status, 401)
    const { items } = await app.client(ana.token).agents.list({})
    const mine = items.find(({ registrationId }) => registrationId === agent.registrationId)
    assert.equal(mine?.status, 'claimed')
    const slug = mine?.orgSlug ?? ''
    assert.equal((await app.client(ana.token).orgs.get({ orgSlug: slug })).role, 'owner')
    assert.equal((await app.client(ana.token, slug).repos.get({ name: 'made-before' })).canAdmin, true)

    const { body: poll } = await agent.poll()
    assert.equal(poll.scope, 'repo:read repo:write repo:admin org:read')
    const asAgent = app.client(poll.access_token)
    assert.equal((await asAgent.tokens.create({ name: 'made-before' })).scope, 'read')
    assert.equal((await asAgent.orgs.get({ orgSlug: slug })).slug, slug)
    assert.deepEqual(
      (await asAgent.orgs.list({})).items.map((org) => org.slug),
      [slug],
    )
    assert.deepEqual(
      (await asAgent.members.list({ orgSlug: slug })).items.map(({ userId }) => userId),
      [ana.userId],
    )
    const kept = await app.database.db
      .selectFrom('repos')
      .select('expires_at')
      .where('name', '=', 'made-before')
      .executeTakeFirstOrThrow()
    assert.equal(kept.expires_at, null)
  })

  it('shows a claimed registration to whoever claimed it, and one that has ended to nobody', async () => {
    const agent = await registerAgent(app)
    const { attemptToken } = await agent.beClaimed(ana)
    const claimed = (await view(attemptToken)).body
    assert.deepEqual([claimed.status, claimed.userCodeExpiresAt], ['claimed', null])
    assertGone(await view(attemptToken, bob), 'previously_claimed')
    await app.client(ana.token).agents.revoke({ registrationId: agent.registrationId })
    for (const person of [ana, bob]) assertGone(await view(attemptToken, person), 'claim_expired')
  })

  it('knows no link that was never made, was mistyped, or was followed by a newer one', async () => {
    const agent = await registerAgent(app)
    const first = await agent.startClaim(ana.email)
    await agent.startClaim(ana.email)
    for (const token of [first.attemptToken, 'cvt_none', agent.claimToken, '☃'])
      for (const answer of [await view(token), await complete(token, first.ceremony.user_code)])
        assertFault(answer, 'AGENT_CLAIM_NOT_FOUND', {})
  })

  it('asks for a token and six digits', async () => {
    assertInvalid(await complete('', '123456'), ['claimAttemptToken'])
    assertInvalid(await complete('a\0b', '123456'), ['claimAttemptToken'])
    for (const code of ['12345', '1234567', '12345a', ' 123456', '123456\n', '١٢٣٤٥٦'])
      assertInvalid(await complete('cvt_none', code), ['userCode'])
  })

  it('reports what is wrong in a fixed order: claimed, ended, account, code too old, code wrong', async () => {
    const claimed = await registerAgent(app)
    const { attemptToken } = await claimed.beClaimed(ana)
    assertGone(await complete(attemptToken, '000000', bob), 'previously_claimed')
    await app.client(ana.token).agents.revoke({ registrationId: claimed.registrationId })
    assertGone(await complete(attemptToken, '000000', bob), 'claim_expired')

    const agent = await registerAgent(app)
    const { ceremony, attemptToken: token } = await agent.startClaim(ana.email)
    const wrong = wrongCode(ceremony.user_code)
    const wrongAccount = ['AGENT_CLAIM_WRONG_ACCOUNT', { claimEmail: ana.email }] as const
    assertFault(await complete(token, ceremony.user_code, bob), ...wrongAccount)
    assertFault(await view(token, bob), ...wrongAccount)
    assertFault(await complete(token, wrong), 'AGENT_CLAIM_CODE_INVALID', {})
    app.pass(10 * MINUTE)
    assertFault(await complete(token, wrong, bob), ...wrongAccount)
    assertGone(await complete(token, wrong), 'user_code_expired')
    assertGone(await complete(token, ceremony.user_code), 'user_code_expired')
    const { status, body: late } = await view(token)
    assert.deepEqual([status, late.status, late.userCodeExpiresAt], [200, 'pending_claim', null])
    assert.equal((await agent.poll()).body.error, 'expired_token')
    app.pass(24 * HOUR)
    assertGone(await complete(token, ceremony.user_code, bob), 'claim_expired')
    for (const person of [ana, bob]) assertGone(await view(token, person), 'claim_expired')
  })

  it('burns a code after five wrong tries, also for who knows it', async () => {
    const agent = await registerAgent(app)
    const { ceremony, attemptToken } = await agent.startClaim(ana.email)
    for (let i = 0; i < 5; i++)
      assertFault(await complete(attemptToken, wrongCode(ceremony.user_code)), 'AGENT_CLAIM_CODE_INVALID', {})
    assertGone(await complete(attemptToken, ceremony.user_code), 'user_code_expired')
    assert.equal((await agent.poll()).body.error, 'expired_token')
    const { status, body } = await view(attemptToken)
    assert.deepEqual([status, body.status, body.userCodeExpiresAt], [200, 'pending_claim', null])
    // A new code is a new chance.
    assert.ok((await agent.beClaimed(ana)).poll.access_token)
  })

  it('compares at most five of many codes that come at once', async () => {
    const person = await newPerson()
    const agent = await registerAgent(app)
    const { ceremony, attemptToken } = await agent.startClaim(person.email)
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => complete(attemptToken, wrongCode(ceremony.user_code), person)),
    )
    const compared = answers.filter(({ body }) => body.code === 'AGENT_CLAIM_CODE_INVALID')
    assert.equal(compared.length, 5)
    for (const answer of answers) if (!compared.includes(answer)) assertGone(answer, 'user_code_expired')
  })

  it('keeps a code only as a hash with a key that is not in the database', async () => {
    const agent = await registerAgent(app)
    const { ceremony } = await agent.startClaim(ana.email)
    const attempt = await app.database.db
      .selectFrom('claim_attempts')
      .selectAll()
      .where('registration_id', '=', agent.registrationId)
      .executeTakeFirstOrThrow()
    assert.match(attempt.code_hmac, /^[\w-]{43}$/)
    const { user_code: code } = ceremony
    for (const text of [code, `${attempt.id}${code}`, `${attempt.id} ${code}`, `${attempt.id}:${code}`])
      assert.notEqual(attempt.code_hmac, createHash('sha256').update(text).digest('base64url'))
    assert.ok(!JSON.stringify(Object.values(attempt).map(String)).includes(`"${code}"`))
  })

  describe('when several are at it at once', () => {
    it('lets one of many requests of the same person win', async () => {
      const agent = await registerAgent(app)
      const { ceremony, attemptToken } = await agent.startClaim(ana.email)
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => complete(attemptToken, ceremony.user_code)),
      )
      const won = answers.filter(({ status }) => status === 200)
      assert.equal(won.length, 1)
      for (const answer of answers) if (!won.includes(answer)) assertGone(answer, 'previously_claimed')
    })

    it('gives an agent that named two people to one of them alone', async () => {
      const [first, second] = [await newPerson(), await newPerson()]
      for (let round = 0; round < 5; round++) {
        const agent = await registerAgent(app)
        const early = await agent.startClaim(first.email)
        const answers = await Promise.all([
          complete(early.attemptToken, early.ceremony.user_code, first),
          agent.startClaim(second.email).then(
            (late) => complete(late.attemptToken, late.ceremony.user_code, second),
            // Too late: claimed before the second link was made.
            () => undefined,
          ),
        ])
        assert.equal(answers.filter((answer) => answer?.status === 200).length, 1)
        const owners = await app.database.db
          .selectFrom('agent_registrations')
          .innerJoin('members', 'members.org_id', 'agent_registrations.org_id')
          .select(['members.user_id', 'claimed_by'])
          .where('agent_registrations.id', '=', agent.registrationId)
          .execute()
        assert.equal(owners.length, 1)
        assert.equal(owners[0]?.user_id, owners[0]?.claimed_by)
      }
    })

    it('leaves one link alive of several that are made at once', async () => {
      const agent = await registerAgent(app)
      const links = await Promise.all(Array.from({ length: 6 }, () => agent.startClaim(ana.email)))
      const views = await Promise.all(links.map(({ attemptToken }) => view(attemptToken)))
      assert.equal(views.filter(({ status }) => status === 200).length, 1)
    })
  })

  describe('revoking', () => {
    it('ends every credential at once, and says the same when asked again', async () => {
      const agent = await registerAgent(app)
      const { poll } = await agent.beClaimed(ana)
      const asAgent = app.client(poll.access_token)
      await asAgent.repos.create({ name: 'left' })
      const token = await asAgent.tokens.create({ name: 'left', scope: 'write' })
      const invite = await asAgent.invites.create({ name: 'left', scope: 'write' })
      const clone = await app.client().invites.reveal({ id: invite.id })
      const cloneToken = new URL(clone.cloneUrl).password
      const gitStatus = async (password: string) =>
        (
          await fetch(`${clone.remote}/info/refs?service=git-upload-pack`, {
            headers: { authorization: `Basic ${Buffer.from(`x:${password}`).toString('base64')}` },
          })
        ).status
      for (const secret of [poll.access_token, token.secret, cloneToken])
        assert.equal(await gitStatus(secret), 200)

      const registrationId = agent.registrationId
      const revoke = () => app.call('agents/revoke', { registrationId }, { token: ana.token })
      assert.deepEqual((await revoke()).body, { revoked: true })
      for (const secret of [poll.access_token, token.secret, cloneToken]) {
        assert.equal(await gitStatus(secret), 401)
        assert.equal((await app.call('repos/list', {}, { token: secret })).status, 401)
      }
      assert.equal((await agent.exchange(poll.identity_assertion)).body.error, 'invalid_grant')
      assert.equal((await agent.poll()).body.error, 'expired_token')
      assertFault(await app.call('invites/reveal', { id: invite.id }), 'INVITE_UNAVAILABLE', {
        reason: 'revoked',
      })
      await expectEvents(app, [], async () => assert.deepEqual((await revoke()).body, { revoked: true }))
      const { items } = await app.client(ana.token).agents.list({})
      const ended = items.find((item) => item.registrationId === registrationId)
      assert.equal(ended?.status, 'expired')
      // What it made stays with the person.
      assert.equal(
        (await app.client(ana.token, ended?.orgSlug ?? '').repos.get({ name: 'left' })).name,
        'left',
      )
    })

    it('is for whoever claimed the agent; for others there is none', async () => {
      const agent = await registerAgent(app)
      const unclaimed = await registerAgent(app)
      await agent.beClaimed(ana)
      for (const registrationId of [agent.registrationId, unclaimed.registrationId, 'reg_none', '☃'])
        assertFault(
          await app.call('agents/revoke', { registrationId }, { token: bob.token }),
          'AGENT_NOT_FOUND',
          { registrationId },
        )
      for (const registrationId of ['', 'a\0b'])
        assertInvalid(await app.call('agents/revoke', { registrationId }, { token: bob.token }), [
          'registrationId',
        ])
      assert.equal((await app.client(bob.token).agents.list({})).items.length, 0)
    })

    it('is also for the owners of the organization it works in, and happens when who claimed it leaves', async () => {
      const [claimer, owner] = [await newPerson(), await newPerson()]
      const claimed = async () => {
        const agent = await registerAgent(app)
        const { poll } = await agent.beClaimed(claimer)
        const { items } = await app.client(claimer.token).agents.list({ limit: 100 })
        const { orgSlug } = items.find((item) => item.registrationId === agent.registrationId) ?? {}
        const slug = orgSlug ?? ''
        await join(app, { slug, owner: claimer }, owner, 'owner')
        return { ...agent, slug, token: poll.access_token as string }
      }
      const opens = async ({ token }: { token: string }) =>
        (await app.call('repos/list', {}, { token })).status
      const first = await claimed()
      const other = await claimed()
      await app.client(owner.token).agents.revoke({ registrationId: first.registrationId })
      assert.deepEqual([await opens(first), await opens(other)], [401, 200])

      await app.client(owner.token).members.remove({ orgSlug: other.slug, userId: claimer.userId })
      assert.equal(await opens(other), 401)
      const { items } = await app.client(owner.token, other.slug).events.list({ types: ['agent.revoked'] })
      assert.deepEqual(items[0]?.payload, { reason: 'claimer_left' })
    })

    it('lists those of an organization for its admins, whoever claimed them', async () => {
      const [claimer, admin, member] = [await newPerson(), await newPerson(), await newPerson()]
      const agent = await registerAgent(app, { type: 'anonymous', agent_name: 'scribe' })
      await agent.beClaimed(claimer)
      await (await registerAgent(app)).beClaimed(claimer)
      const own = (await app.client(claimer.token).agents.list({})).items
      const slug = own.find((item) => item.registrationId === agent.registrationId)?.orgSlug ?? ''
      await join(app, { slug, owner: claimer }, admin, 'admin')
      await join(app, { slug, owner: claimer }, member, 'member')
      const { items, nextCursor } = await app.client(admin.token).agents.list({ orgSlug: slug })
      assert.equal(nextCursor, null)
      assert.deepEqual(
        items.map(({ registrationId, orgSlug, agentName, claimedBy }) => [
          registrationId,
          orgSlug,
          agentName,
          claimedBy?.userId,
        ]),
        [[agent.registrationId, slug, 'scribe', claimer.userId]],
      )
      assert.deepEqual((await app.client(admin.token).agents.list({})).items, [])
      const refused = async (token: string) => {
        const { status, body } = await app.call('agents/list', { orgSlug: slug }, { token })
        return [status, body.data?.reason]
      }
      assert.deepEqual(await refused(member.token), [403, 'insufficient_role'])
      assert.deepEqual(await refused(bob.token), [403, 'not_a_member'])
      await app.client(claimer.token).agents.revoke({ registrationId: agent.registrationId })
      const after = await app.client(admin.token).agents.list({ orgSlug: slug })
      assert.equal(after.items[0]?.status, 'expired')
    })

    it('lists the agents of a person in pages', async () => {
      const person = await newPerson()
      const made: string[] = []
      for (let i = 0; i < 3; i++) {
        const agent = await registerAgent(app)
        await agent.beClaimed(person)
        made.push(agent.registrationId)
      }
      const client = app.client(person.token)
      const first = await client.agents.list({ limit: 2 })
      const rest = await client.agents.list({ limit: 2, cursor: first.nextCursor ?? '' })
      assert.deepEqual(
        [...first.items, ...rest.items].map(({ registrationId }) => registrationId),
        made,
      )
      assert.equal(rest.nextCursor, null)
    })
  })

  it('leaves one attempt, however often it is begun', async () => {
    const agent = await registerAgent(app)
    const rows = () =>
      app.database.db
        .selectFrom('claim_attempts')
        .select('id')
        .where('registration_id', '=', agent.registrationId)
        .execute()
    const first = await agent.startClaim(ana.email)
    for (let i = 0; i < 3; i++) await agent.startClaim(ana.email)
    assert.equal((await rows()).length, 1)
    const old = await app.call(
      'agents/claimView',
      { claimAttemptToken: first.attemptToken },
      { token: ana.token },
    )
    assert.notEqual(old.status, 200)
  })
})
