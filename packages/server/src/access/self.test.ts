import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import {
  assertUnauthenticated,
  foundOrg,
  onEachDatabase,
  registerAgent,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

onEachDatabase('credentials/self', (create) => {
  const app = useApp(create)
  let acme: TestOrg
  let org: { id: string; slug: string; name: string }

  before(async () => {
    acme = await foundOrg(app, 'acme')
    const { id, slug, name } = await app.client(acme.owner.token).orgs.get({ orgSlug: 'acme' })
    org = { id, slug, name }
  })

  it('tells a session who it is, in the organization it names', async () => {
    const { member } = acme
    const here = await app.client(member.token, 'acme').credentials.self()
    assert.deepEqual(here, {
      actor: { kind: 'user', id: member.userId },
      kind: 'session',
      id: here.id,
      organization: org,
      role: 'member',
      scopes: ['*'],
      repo: null,
      refs: null,
      expiresAt: here.expiresAt,
    })
    assert.match(here.id, /^ses_/)
    assert.ok(here.expiresAt && here.expiresAt > app.now())
    const home = await app.client(member.token).credentials.self()
    assert.deepEqual([home.organization.slug, home.role], [member.slug, 'owner'])
  })

  it('tells a key its scopes and its end', async () => {
    const expiresAt = app.now() + 60_000
    const { secret, id } = await app
      .client(acme.admin.token, 'acme')
      .keys.create({ name: 'key', scopes: ['repo:read'], expiresAt })
    assert.deepEqual(await app.client(secret).credentials.self(), {
      actor: { kind: 'user', id: acme.admin.userId },
      kind: 'key',
      id,
      organization: org,
      role: 'admin',
      scopes: ['repo:read'],
      repo: null,
      refs: null,
      expiresAt,
    })
    const endless = await app.client(acme.admin.token, 'acme').keys.create({ name: 'endless' })
    assert.equal((await app.client(endless.secret).credentials.self()).expiresAt, null)
  })

  it('tells a repository token which repository it opens, and that it is no membership', async () => {
    const inAcme = app.client(acme.owner.token, 'acme')
    await inAcme.repos.create({ name: 'one' })
    const { secret, id, expiresAt } = await inAcme.tokens.create({
      name: 'one',
      scope: 'write',
      refs: ['ci/*'],
    })
    assert.deepEqual(await app.client(secret).credentials.self(), {
      actor: { kind: 'user', id: acme.owner.userId },
      kind: 'token',
      id,
      organization: org,
      role: null,
      scopes: ['repo:write'],
      repo: 'one',
      refs: ['ci/*'],
      expiresAt: Date.parse(expiresAt),
    })
  })

  it('tells an agent that it is one, and when its token ends', async () => {
    const agent = await registerAgent(app)
    const self = await app.client(agent.token).credentials.self()
    assert.deepEqual(self.actor, { kind: 'agent', id: agent.registrationId })
    assert.deepEqual([self.kind, self.scopes], ['agent', ['repo:read', 'repo:write']])
    assert.ok(self.expiresAt && self.expiresAt > app.now() && self.expiresAt <= app.now() + 3_600_000)
  })

  it('is for those who have a credential', async () => {
    assertUnauthenticated(await app.call('credentials/self'))
    assertUnauthenticated(await app.call('credentials/self', {}, { token: 'garbage' }))
  })
})
