import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  anonymousCookieIn,
  assertFault,
  assertForbidden,
  assertInvalid,
  expectEvents,
  foundOrg,
  onEachDatabase,
  registerAgent,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND

onEachDatabase('invites', (create) => {
  const app = useApp(create, {
    TRELLIS_TRUSTED_PROXIES: '127.0.0.1',
    TRELLIS_ADDRESS_MAX_ANONYMOUS_REPOS: '3',
    TRELLIS_PROVISIONAL_MAX_REPOS: '4',
    TRELLIS_PROVISIONAL_MAX_BYTES: '4096',
  })
  let acme: TestOrg

  before(async () => {
    acme = await foundOrg(app, 'acme')
    await inAcme().repos.create({ name: 'shared' })
  })

  const inAcme = () => app.client(acme.owner.token, 'acme')
  const invite = (input: object = {}) => inAcme().invites.create({ name: 'shared', ...input })
  const reveal = (id: string) => app.call('invites/reveal', { id })
  const fromNow = (iso: string) => Date.parse(iso) - app.now()
  const nearly = (ms: number, wanted: number) =>
    assert.ok(Math.abs(ms - wanted) < 5 * SECOND, `${ms} is not about ${wanted}`)
  const stranger = (input: object, headers: Record<string, string> = {}) =>
    app.call('invites/createAnonymous', input, { headers })

  describe('of members', () => {
    it('last seven days unless told, and never less than a minute or more than thirty days', async () => {
      for (const [expiresIn, wanted] of [
        [undefined, 7 * DAY],
        [1, 60 * SECOND],
        [0, 60 * SECOND],
        [-5, 60 * SECOND],
        [3600, 3600 * SECOND],
        [Number.MAX_SAFE_INTEGER, 30 * DAY],
      ] as const) {
        const made = await invite(expiresIn === undefined ? {} : { expiresIn })
        nearly(fromNow(made.expiresAt), wanted)
        assert.equal(made.repoExpiresAt, null)
      }
    })

    it('are refused when the input is wrong', async () => {
      const odd: [object, string][] = [
        [{ expiresIn: 1.5 }, 'expiresIn'],
        [{ grantTtlSeconds: 59 }, 'grantTtlSeconds'],
        [{ grantTtlSeconds: 86_401 }, 'grantTtlSeconds'],
        [{ maxReveals: 0 }, 'maxReveals'],
        [{ maxReveals: 1001 }, 'maxReveals'],
        [{ scope: 'admin' }, 'scope'],
        [{ name: 'No Such Name' }, 'name'],
      ]
      for (const path of ['invites/create', 'invites/createAnonymous'])
        for (const [input, field] of odd)
          assertInvalid(await app.call(path, { name: 'shared', ...input }, acme.as(acme.owner)), [field])
      for (const id of ['', 'x'.repeat(15), 'x'.repeat(129)]) {
        const { body } = await reveal(id)
        assert.equal(body.code, 'BAD_REQUEST')
      }
    })

    it('need a repository that exists, and power over it', async () => {
      for (const path of ['invites/create', 'invites/createAnonymous']) {
        assertFault(await app.call(path, { name: 'none' }, acme.as(acme.owner)), 'REPO_NOT_FOUND', {
          name: 'none',
        })
        assertForbidden(await app.call(path, { name: 'shared' }, acme.as(acme.member)), 'insufficient_role')
      }
      const agent = await registerAgent(app)
      await app.client(agent.token).repos.create({ name: 'agents' })
      for (const path of ['invites/create', 'invites/createAnonymous'])
        assertForbidden(await app.call(path, { name: 'agents' }, { token: agent.token }), 'scope_missing')
    })
  })

  describe('when revealed', () => {
    it('give a clone of their scope, with all that is needed to use it', async () => {
      const made = await invite({ scope: 'write', grantTtlSeconds: 60 })
      const { status, body } = await expectEvents(
        app,
        (answer) => [`invite.revealed ${answer.subject}`, `token.created ${answer.tokenId}`],
        async () => {
          const answer = await reveal(made.id)
          const { items } = await inAcme().invites.list({ name: 'shared', limit: 100 })
          const subject = items.find(({ idPrefix }) => made.id.startsWith(idPrefix))?.id
          const token = new URL(answer.body.cloneUrl).password
          const tokenId = (await app.client().tokens.validate({ token })).id
          return { ...answer, subject, tokenId }
        },
      )
      assert.equal(status, 200)
      const token = new URL(body.cloneUrl).password
      assert.match(token, /^trt_/)
      nearly(fromNow(body.tokenExpiresAt), 60 * SECOND)
      assert.deepEqual(body, {
        repo: 'shared',
        scope: 'write',
        remote: `${app.url}/git/acme/shared.git`,
        cloneUrl: `${app.url.replace('//', `//token:${token}@`)}/git/acme/shared.git`,
        cloneCommand: `git clone ${body.cloneUrl} shared`,
        prompt: body.prompt,
        tokenExpiresAt: body.tokenExpiresAt,
        inviteExpiresAt: made.expiresAt,
        repoExpiresAt: null,
      })
      for (const said of [body.cloneCommand, body.tokenExpiresAt, 'push'])
        assert.ok(body.prompt.includes(said))
      assert.equal(
        (await app.call('git/branches/create', { name: 'shared', branch: 'x' }, { token })).status,
        404,
      )
      assert.equal((await app.call('repos/get', { name: 'shared' }, { token })).status, 200)
      app.pass(61 * SECOND)
      assert.equal((await app.call('repos/get', { name: 'shared' }, { token })).status, 401)
    })

    it('give nothing that outlives the invite or the repository', async () => {
      const brief = await invite({ expiresIn: 60, grantTtlSeconds: 86_400 })
      app.pass(30_500)
      const clone = (await reveal(brief.id)).body
      assert.equal(clone.tokenExpiresAt, clone.inviteExpiresAt)

      const { body } = await stranger({ name: 'ending', grantTtlSeconds: 86_400, expiresIn: 30 * 86_400 })
      app.pass(DAY - 3600 * SECOND)
      const last = (await reveal(body.id)).body
      assert.equal(last.tokenExpiresAt, body.repoExpiresAt)
      const token = new URL(last.cloneUrl).password
      app.pass(3599 * SECOND)
      assert.equal((await app.call('repos/get', { name: 'ending' }, { token })).status, 200)
      app.pass(2 * SECOND)
      assert.equal((await app.call('repos/get', { name: 'ending' }, { token })).status, 401)
    })

    it('by fifty at once give ten clones when ten are allowed', async () => {
      const made = await invite({ maxReveals: 10 })
      const answers = await Promise.all(Array.from({ length: 50 }, () => reveal(made.id)))
      const given = answers.filter(({ status }) => status === 200)
      assert.equal(given.length, 10)
      assert.equal(new Set(given.map(({ body }) => body.cloneUrl)).size, 10)
      for (const answer of answers)
        if (!given.includes(answer)) assertFault(answer, 'INVITE_UNAVAILABLE', { reason: 'exhausted' })
      const { items } = await inAcme().invites.list({ name: 'shared', limit: 100 })
      const listed = items.find(({ idPrefix }) => made.id.startsWith(idPrefix))
      assert.deepEqual([listed?.revealCount, listed?.maxReveals, listed?.status], [10, 10, 'exhausted'])
    })

    it('say why they are no longer good', async () => {
      assertFault(await reveal('x'.repeat(36)), 'INVITE_NOT_FOUND', {})
      const revoked = await invite()
      await app.client().invites.revoke({ managementId: revoked.managementId })
      const expired = await invite({ expiresIn: 60 })
      await inAcme().repos.create({ name: 'doomed' })
      const orphaned = await inAcme().invites.create({ name: 'doomed' })
      await inAcme().repos.delete({ name: 'doomed' })
      app.pass(61 * SECOND)
      for (const [{ id }, reason] of [
        [revoked, 'revoked'],
        [expired, 'expired'],
        [orphaned, 'repo_unavailable'],
      ] as const)
        assertFault(await reveal(id), 'INVITE_UNAVAILABLE', { reason })
    })

    it('do not let a reader write', async () => {
      const { id } = await invite({ scope: 'read' })
      const { cloneUrl, prompt } = (await reveal(id)).body
      const token = new URL(cloneUrl).password
      assertForbidden(
        await app.call('git/branches/delete', { name: 'shared', branch: 'x' }, { token }),
        'scope_missing',
      )
      assert.match(prompt, /Until .* you may read it; you may not push to it\./)
    })
  })

  describe('when revoked', () => {
    it('end by the management id, whoever has it, once', async () => {
      const made = await invite()
      const revoke = () => app.call('invites/revoke', { managementId: made.managementId })
      assert.deepEqual((await revoke()).body, { revoked: true })
      await expectEvents(app, [], async () => assert.deepEqual((await revoke()).body, { revoked: false }))
      assertFault(await reveal(made.id), 'INVITE_UNAVAILABLE', { reason: 'revoked' })
    })

    it('take along the clones that were taken from them', async () => {
      const [made, other] = [await invite(), await invite()]
      const tokenOf = async ({ id }: { id: string }) => new URL((await reveal(id)).body.cloneUrl).password
      const [taken, others] = [await tokenOf(made), await tokenOf(other)]
      const statuses = async () =>
        Promise.all(
          [taken, others].map(async (token) => (await app.call('repos/list', {}, { token })).status),
        )
      assert.deepEqual(await statuses(), [200, 200])
      await app.client().invites.revoke({ managementId: made.managementId })
      assert.deepEqual(await statuses(), [401, 200])
    })

    it('end by the listed id for their maker and for who administrates the repository, and for nobody else', async () => {
      const outsider = await app.signUp('outsider')
      const cookie = anonymousCookieIn(await stranger({ name: 'theirs' }))
      const readToken = (await inAcme().tokens.create({ name: 'shared', scope: 'write' })).secret
      const narrowKey = (await inAcme().keys.create({ name: 'narrow', scopes: ['repo:read'] })).secret
      const byId = (id: string, options: object) => app.call('invites/revoke', { id }, options)

      const made = await invite()
      const id = await listedId(made.id)
      for (const options of [
        {},
        { headers: { cookie } },
        { token: outsider.token },
        acme.as(acme.member),
        { token: readToken },
        { token: narrowKey },
      ])
        assertFault(await byId(id, options), 'INVITE_NOT_FOUND', {})
      assert.equal((await reveal(made.id)).status, 200)
      assert.deepEqual((await byId(id, acme.as(acme.admin))).body, { revoked: true })

      const mine = await app.call('invites/listAnonymous', {}, { headers: { cookie } })
      const own = mine.body.items[0].id
      assertFault(await byId(own, acme.as(acme.owner)), 'INVITE_NOT_FOUND', {})
      assert.deepEqual((await byId(own, { headers: { cookie } })).body, { revoked: true })
      // The secret is no listed id.
      assertFault(await byId(made.id, acme.as(acme.owner)), 'INVITE_NOT_FOUND', {})
    })

    it('ask for one id or the other', async () => {
      for (const input of [{}, { id: 'a', managementId: 'b' }])
        assertInvalid(await app.call('invites/revoke', input), [])
      assertInvalid(await app.call('invites/revoke', { id: 'a\0b' }), ['id'])
    })

    it('take the clones along when their maker leaves the organization', async () => {
      const leaver = await app.signUp('leaver')
      const { id } = await app
        .client(acme.owner.token)
        .members.invite({ orgSlug: 'acme', email: leaver.email, role: 'admin' })
      await app.client(leaver.token).invitations.accept({ invitationId: id })
      const made = await app.client(leaver.token, 'acme').invites.create({ name: 'shared', scope: 'write' })
      const token = new URL((await reveal(made.id)).body.cloneUrl).password
      await app.client(acme.owner.token).members.remove({ orgSlug: 'acme', userId: leaver.userId })
      assertFault(await reveal(made.id), 'INVITE_UNAVAILABLE', { reason: 'revoked' })
      assert.equal((await app.call('repos/get', { name: 'shared' }, { token })).status, 401)
    })
  })

  describe('when listed', () => {
    it('show everything but what opens them, to their maker alone', async () => {
      const made = await stranger({ name: 'listed', scope: 'write', maxReveals: 5 })
      const cookie = anonymousCookieIn(made)
      const listFor = async (options: object) =>
        (await app.call('invites/listAnonymous', undefined, options)).body
      const { items } = await listFor({ headers: { cookie } })
      assert.equal(items.length, 1)
      const [item] = items
      assert.deepEqual(item, {
        id: item.id,
        idPrefix: made.body.id.slice(0, 8),
        repo: 'listed',
        orgId: item.orgId,
        orgSlug: item.orgSlug,
        orgName: item.orgName,
        scope: 'write',
        status: 'active',
        maxReveals: 5,
        revealCount: 0,
        expiresAt: made.body.expiresAt,
        repoExpiresAt: made.body.repoExpiresAt,
        revokedAt: null,
        createdAt: item.createdAt,
      })
      for (const secret of [made.body.id, made.body.managementId])
        assert.ok(!JSON.stringify(items).includes(secret))
      assert.deepEqual(await listFor({}), { items: [] })
      assert.deepEqual(await listFor({ token: (await app.signUp('nosy')).token }), { items: [] })
      await app.client().invites.revoke({ managementId: made.body.managementId })
      const [revoked] = (await listFor({ headers: { cookie } })).items
      assert.equal(revoked.status, 'revoked')
      assert.equal(typeof revoked.revokedAt, 'string')
    })

    it('show a credential for one repository nothing of its owner elsewhere', async () => {
      await inAcme().repos.create({ name: 'secret-plan' })
      await inAcme().invites.create({ name: 'secret-plan' })
      const { secret } = await inAcme().tokens.create({ name: 'shared' })
      const { items } = (await app.call('invites/listAnonymous', undefined, { token: secret })).body
      assert.ok(items.every(({ repo }: { repo: string }) => repo === 'shared'))
    })

    it('show a repository all its invites, in pages', async () => {
      await inAcme().repos.create({ name: 'paged' })
      for (const who of [acme.owner, acme.admin, acme.owner])
        await app.client(who.token, 'acme').invites.create({ name: 'paged' })
      const first = await inAcme().invites.list({ name: 'paged', limit: 2 })
      const rest = await inAcme().invites.list({ name: 'paged', limit: 2, cursor: first.nextCursor ?? '' })
      assert.deepEqual([first.items.length, rest.items.length, rest.nextCursor], [2, 1, null])
      assertForbidden(
        await app.call('invites/list', { name: 'paged' }, acme.as(acme.member)),
        'insufficient_role',
      )
      assertFault(await app.call('invites/list', { name: 'none' }, acme.as(acme.owner)), 'REPO_NOT_FOUND', {
        name: 'none',
      })
    })
  })

  async function listedId(secret: string): Promise<string> {
    const { items } = await inAcme().invites.list({ name: 'shared', limit: 100 })
    return items.find(({ idPrefix }) => secret.startsWith(idPrefix))?.id ?? ''
  }
})
