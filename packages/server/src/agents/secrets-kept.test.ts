import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { sql } from 'kysely'
import {
  anonymousCookieIn,
  onEachDatabase,
  type Person,
  registerAgent,
  sessionCookieOf,
  type TestAgent,
  useApp,
  wrongCode,
} from '../testing/index.ts'

onEachDatabase('access without an account', (create) => {
  const app = useApp(create)
  let ana: Person
  let agent: TestAgent
  let claimedToken = ''
  let anonymousOrg = ''
  let claimedOrg = ''
  /** Each secret that went over the wire, by what it is. */
  const secrets: Record<string, string> = {}
  const codes: string[] = []
  /** Everything that was ever listed. */
  let listed = ''

  const list = async (path: string, input: object, options: object) => {
    const { status, body } = await app.call(path, input, options)
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
    listed += JSON.stringify(body)
    return body.items
  }

  /** From nothing to a claimed agent that invites somebody, and a stranger who signs in; also what goes wrong. */
  before(async () => {
    ana = await app.signUp('ana')
    agent = await registerAgent(app)
    const asAgent = app.client(agent.token)
    await asAgent.repos.create({ name: 'made' })
    const first = await agent.startClaim(ana.email)
    await agent.poll()
    const second = await agent.startClaim(ana.email)
    codes.push(first.ceremony.user_code, second.ceremony.user_code)
    for (const code of [wrongCode(second.ceremony.user_code), second.ceremony.user_code])
      await app.call(
        'agents/claimComplete',
        { claimAttemptToken: second.attemptToken, userCode: code },
        { token: ana.token },
      )
    const { body: poll } = await agent.poll()
    claimedToken = poll.access_token
    const claimed = app.client(claimedToken)
    const made = await claimed.tokens.create({ name: 'made', scope: 'write' })
    const changes = [{ op: 'put' as const, path: 'readme', content: 'hello' }]
    await claimed.git.commits.create({ name: 'made', branch: 'main', message: 'Begin', changes })
    const invite = await claimed.invites.create({ name: 'made', scope: 'write' })
    const clone = await app.client().invites.reveal({ id: invite.id })
    await app.client(new URL(clone.cloneUrl).password).git.branches.create({ name: 'made', branch: 'side' })
    for (const accept of ['text/html', 'text/markdown', 'application/json'])
      await fetch(invite.url, { headers: { accept } })
    await fetch(second.ceremony.verification_uri)

    const anonymous = await app.call('invites/createAnonymous', { name: 'sketch' })
    const cookie = anonymousCookieIn(anonymous)
    const session = await sessionCookieOf(app, ana.email)
    await list('invites/listAnonymous', {}, { headers: { cookie } })
    await app.client().invites.revoke({ managementId: anonymous.body.managementId })
    await app.call('repos/list', {}, { headers: { cookie: `${session}; ${cookie}` } })

    const [listedAgent] = await list('agents/list', {}, { token: ana.token })
    claimedOrg = listedAgent.orgSlug
    const orgs = await list('orgs/list', {}, { token: ana.token })
    anonymousOrg = orgs.find(({ slug }: { slug: string }) => slug.startsWith('anon-')).slug
    for (const [org, name] of [
      [claimedOrg, 'made'],
      [anonymousOrg, 'sketch'],
    ]) {
      const options = { token: ana.token, org }
      for (const path of ['invites/list', 'tokens/list', 'events/list']) await list(path, { name }, options)
      await list('events/list', {}, options)
    }
    await app.client(ana.token).agents.revoke({ registrationId: agent.registrationId })
    // Each also where it does not belong.
    for (const token of [
      agent.claimToken,
      second.attemptToken,
      invite.id,
      agent.assertion,
      poll.refresh_token,
    ])
      await app.call('repos/list', {}, { token })

    Object.assign(secrets, {
      'claim token': agent.claimToken,
      'first attempt token': first.attemptToken,
      'second attempt token': second.attemptToken,
      'first assertion': agent.assertion,
      'second assertion': poll.identity_assertion,
      'token before the claim': agent.token,
      'token after the claim': poll.access_token,
      'refresh token': poll.refresh_token,
      'repository token': made.secret,
      'invite id': invite.id,
      'management id': invite.managementId,
      'clone token': new URL(clone.cloneUrl).password,
      "stranger's invite id": anonymous.body.id,
      "stranger's management id": anonymous.body.managementId,
      "stranger's cookie": cookie.split('=')[1] ?? '',
    })
  })

  const assertHasNone = (text: string, where: string) => {
    for (const [name, secret] of Object.entries(secrets)) {
      assert.ok(secret.length > 20, name)
      assert.ok(!text.includes(secret), `${where} has the ${name}`)
      // Nor the part of an assertion that makes it good.
      assert.ok(!text.includes(secret.split('.').at(-1) ?? secret), `${where} has the end of the ${name}`)
    }
    for (const code of codes) assert.doesNotMatch(text, new RegExp(`(?<![0-9a-z])${code}(?![0-9a-z])`, 'i'))
  }

  it('leaves no secret in the log of the server', () => {
    assert.ok(app.logged().split('\n').length > 30)
    assertHasNone(app.logged(), 'the log')
  })

  it('leaves no secret in any listing or event', () => {
    assert.ok(listed.length > 2000)
    assertHasNone(listed, 'a listing')
  })

  it('leaves no secret in any column of the database', async () => {
    const { db, dialect } = app.database
    const tables =
      dialect === 'sqlite'
        ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
        : sql<{
            name: string
          }>`select table_name as name from information_schema.tables where table_schema = 'public'`
    const { rows: names } = await tables.execute(db)
    assert.ok(names.length > 15)
    for (const { name } of names) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(db)
      const text = JSON.stringify(rows, (_, value) =>
        value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
      )
      assertHasNone(text, name)
    }
  })

  it('names actor and credential on every event it causes, and the registration where it is about one', async () => {
    const rows = await app.database.db
      .selectFrom('events')
      .select(['type', 'subject', 'actor_kind', 'actor_id', 'credential_id', 'payload'])
      .where('scope', 'in', [
        ...(await scopesOf(claimedOrg, 'made')),
        ...(await scopesOf(anonymousOrg, 'sketch')),
      ])
      .orderBy('id')
      .execute()
    const of = (type: string) => rows.filter((row) => row.type === type)
    const ids = (prefix: string) => new RegExp(`^${prefix}_`)
    for (const row of rows) {
      assert.notEqual(row.actor_kind, 'system', row.type)
      const isFirst = row.actor_kind === 'agent' && ['org.created', 'agent.registered'].includes(row.type)
      // What somebody with a management id alone does, they do without any credential.
      const isNameless = row.type === 'invite.revoked' && row.actor_kind === 'anonymous'
      if (isFirst || isNameless) assert.equal(row.credential_id, null)
      else assert.match(row.credential_id ?? '', /^(tok|ses|anon|ivt)_/, row.type)
      if (row.actor_kind === 'agent') assert.equal(row.actor_id, agent.registrationId)
    }
    const [registered] = of('agent.registered')
    assert.equal(registered?.subject, agent.registrationId)
    for (const type of ['agent.claimed', 'agent.revoked']) {
      const [row] = of(type)
      assert.deepEqual([row?.subject, row?.actor_id], [agent.registrationId, ana.userId])
      assert.match(row?.credential_id ?? '', ids('ses'))
    }
    const [made, sketch] = of('repo.created')
    assert.deepEqual([made?.actor_kind, sketch?.actor_kind], ['agent', 'anonymous'])
    assert.match(made?.credential_id ?? '', ids('tok'))
    assert.match(sketch?.credential_id ?? '', ids('anon'))
    const added = of('member.added').map(({ payload }) => JSON.parse(payload ?? '{}').registrationId)
    assert.deepEqual(added, [agent.registrationId, undefined])
    const [revealed] = of('invite.revealed')
    assert.equal(revealed?.credential_id, revealed?.subject)
    // Whoever used the clone is known by the invite it came from.
    const side = of('git.branch.created').find(({ subject }) => subject === 'side')
    assert.equal(side?.actor_id, revealed?.subject)
    assert.match(side?.credential_id ?? '', ids('tok'))
  })

  async function scopesOf(slug: string, name: string): Promise<string[]> {
    const { org, repo } = await app.database.db
      .selectFrom('repos')
      .innerJoin('orgs', 'orgs.id', 'repos.org_id')
      .select(['orgs.id as org', 'repos.id as repo'])
      .where('orgs.slug', '=', slug)
      .where('repos.name', '=', name)
      .executeTakeFirstOrThrow()
    return [`org:${org}`, `repo:${repo}`]
  }
})
