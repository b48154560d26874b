import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { sql } from 'kysely'
import {
  anonymousCookieIn,
  assertFault,
  expectEvents,
  onEachDatabase,
  type Person,
  registerAgent,
  sessionCookieOf,
  useApp,
} from '../testing/index.ts'

const HOUR = 60 * 60_000

onEachDatabase('what has come to its end', (create) => {
  const app = useApp(create)
  let ana: Person

  before(async () => {
    ana = await app.signUp('ana')
  })

  /** Somebody without an account, with a repository that has a commit in it. */
  async function stranger(name: string) {
    const answer = await app.call('invites/createAnonymous', { name, scope: 'write' })
    const cookie = anonymousCookieIn(answer)
    const clone = await app.client().invites.reveal({ id: answer.body.id })
    const token = new URL(clone.cloneUrl).password
    const changes = [{ op: 'put' as const, path: 'readme', content: name }]
    await app.client(token).git.commits.create({ name, branch: 'main', message: 'Begin', changes })
    return { invite: answer.body, cookie, token }
  }

  async function countRows(table: string, column: string, id: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(
      app.database.db,
    )
    return Number(rows[0]?.count)
  }

  async function idsOf(name: string): Promise<{ id: string; org_id: string }> {
    return app.database.db
      .selectFrom('repos')
      .select(['id', 'org_id'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
  }

  it('is removed with everything that belonged to a stranger', async () => {
    const { invite, cookie, token } = await stranger('sketch')
    const { id, org_id } = await idsOf('sketch')
    await expectEvents(app, [], () => app.expire())
    assert.equal(await countRows('git_refs', 'repo_id', id), 1)

    app.pass(24 * HOUR)
    // Before the sweep it is closed already.
    assert.equal((await app.call('repos/get', { name: 'sketch' }, { token })).status, 401)
    assertFault(await app.call('invites/reveal', { id: invite.id }), 'INVITE_UNAVAILABLE', {
      reason: 'expired',
    })
    await expectEvents(app, ['repo.deleted sketch'], () => app.expire())
    await app.expire()
    for (const [table, column] of [
      ['repos', 'id'],
      ['git_refs', 'repo_id'],
      ['repo_packs', 'repo_id'],
      ['repo_tokens', 'repo_id'],
    ] as const)
      assert.equal(await countRows(table, column, id), 0, table)
    for (const [table, column] of [
      ['orgs', 'id'],
      ['anonymous_callers', 'org_id'],
    ] as const)
      assert.equal(await countRows(table, column, org_id), 0, table)
    assertFault(await app.call('invites/reveal', { id: invite.id }), 'INVITE_UNAVAILABLE', {
      reason: 'expired',
    })
    // The cookie stands for nobody now; its bearer starts anew.
    const again = await app.call('invites/createAnonymous', { name: 'sketch' }, { headers: { cookie } })
    assert.notEqual(anonymousCookieIn(again), cookie)
    app.pass(24 * HOUR)
    await app.expire()
  })

  it('is removed with an agent nobody has claimed', async () => {
    const agent = await registerAgent(app)
    await app.client(agent.token).repos.create({ name: 'left-alone' })
    const { id, org_id } = await idsOf('left-alone')
    const { attemptToken, ceremony } = await agent.startClaim(ana.email)
    app.pass(24 * HOUR)
    await expectEvents(app, ['repo.deleted left-alone'], () => app.expire())
    assert.deepEqual([await countRows('repos', 'id', id), await countRows('orgs', 'id', org_id)], [0, 0])
    assert.equal((await agent.poll()).body.error, 'expired_token')
    const input = { claimAttemptToken: attemptToken, userCode: ceremony.user_code }
    assertFault(
      await app.call('agents/claimComplete', input, { token: ana.token }),
      'AGENT_CLAIM_UNAVAILABLE',
      { reason: 'claim_expired' },
    )
    assert.equal(await countRows('agent_tokens', 'registration_id', agent.registrationId), 0)
    // For a month an old link says so; then nothing is left of the agent.
    app.pass(31 * 24 * HOUR)
    await app.expire()
    assertFault(
      await app.call('agents/claimComplete', input, { token: ana.token }),
      'AGENT_CLAIM_NOT_FOUND',
      {},
    )
    assert.equal(await countRows('agent_registrations', 'id', agent.registrationId), 0)
    assert.equal(await countRows('claim_attempts', 'registration_id', agent.registrationId), 0)
  })

  it('is not what a claimed agent made', async () => {
    const agent = await registerAgent(app)
    await app.client(agent.token).repos.create({ name: 'kept-by-claim' })
    app.pass(24 * HOUR - 60_000)
    await agent.beClaimed(ana)
    app.pass(30 * 24 * HOUR)
    await expectEvents(app, [], () => app.expire())
    const { org_id } = await idsOf('kept-by-claim')
    assert.equal(await countRows('orgs', 'id', org_id), 1)
  })

  it('is not what somebody made before they signed in, but the links they gave away and the clones taken', async () => {
    const { invite, cookie, token } = await stranger('kept-by-sign-in')
    const session = await sessionCookieOf(app, ana.email)
    const { org_id } = await idsOf('kept-by-sign-in')
    const rest = await app.call(
      'invites/createAnonymous',
      { name: 'kept-by-sign-in' },
      { headers: { cookie } },
    )
    const own = (await app.call('invites/listAnonymous', {}, { headers: { cookie } })).body.items
    const [unopened, opened] = own.map(({ id }: { id: string }) => id)
    const [clone] = await app.database.db
      .selectFrom('repo_tokens')
      .select('id')
      .where('actor_id', '=', opened)
      .execute()
    const told = [
      `member.added ${ana.userId}`,
      `invite.revoked ${opened}`,
      `invite.revoked ${unopened}`,
      `token.revoked ${clone?.id}`,
    ]
    await expectEvents(app, told, async () => {
      const browser = { headers: { cookie: `${session}; ${cookie}` } }
      // Many at once, as a page would ask.
      const answers = await Promise.all(Array.from({ length: 4 }, () => app.call('repos/list', {}, browser)))
      for (const { status } of answers) assert.equal(status, 200)
    })
    const { slug } = await app.database.db
      .selectFrom('orgs')
      .select('slug')
      .where('id', '=', org_id)
      .executeTakeFirstOrThrow()
    assert.equal((await app.client(ana.token, slug).repos.get({ name: 'kept-by-sign-in' })).canAdmin, true)
    for (const { id } of [invite, rest.body])
      assertFault(await app.call('invites/reveal', { id }), 'INVITE_UNAVAILABLE', { reason: 'revoked' })
    assert.equal((await app.call('repos/get', { name: 'kept-by-sign-in' }, { token })).status, 401)
    // They are listed with the repository, as ended; among her own are those she makes from now on.
    const { items } = await app.client(ana.token, slug).invites.list({ name: 'kept-by-sign-in' })
    assert.deepEqual(
      items.map(({ status }) => status),
      ['revoked', 'revoked'],
    )
    const fresh = await app.client(ana.token, slug).invites.create({ name: 'kept-by-sign-in' })
    const mine = (await app.call('invites/listAnonymous', {}, { token: ana.token })).body.items
    assert.deepEqual(
      mine.map(({ idPrefix }: { idPrefix: string }) => fresh.id.startsWith(idPrefix)),
      [true],
    )
    // The cookie has done its work.
    assert.deepEqual((await app.call('invites/listAnonymous', {}, { headers: { cookie } })).body.items, [])
    app.pass(30 * 24 * HOUR)
    await expectEvents(app, [], () => app.expire())

    await app.client(ana.token, slug).repos.delete({ name: 'kept-by-sign-in' })
  })

  it('makes room again for later repositories of the same stranger, one by one', async () => {
    const first = await stranger('early')
    const { org_id } = await idsOf('early')
    app.pass(12 * HOUR)
    await app.call('invites/createAnonymous', { name: 'late' }, { headers: { cookie: first.cookie } })
    app.pass(12 * HOUR)
    await expectEvents(app, ['repo.deleted early'], () => app.expire())
    assert.equal(await countRows('orgs', 'id', org_id), 1)
    app.pass(12 * HOUR)
    await expectEvents(app, ['repo.deleted late'], () => app.expire())
    assert.equal(await countRows('orgs', 'id', org_id), 0)
  })

  it('is also the counts of those who tried too often', async () => {
    await app.call(
      'agents/claimComplete',
      { claimAttemptToken: 'none', userCode: '000000' },
      { token: ana.token },
    )
    assert.ok((await app.database.db.selectFrom('throttles').selectAll().execute()).length > 0)
    app.pass(24 * HOUR)
    await app.expire()
    assert.equal((await app.database.db.selectFrom('throttles').selectAll().execute()).length, 0)
  })
})
