import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  anonymousCookieIn,
  assertFault,
  expectEvents,
  foundOrg,
  onEachDatabase,
  startTestApp,
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
  const reveal = (id: string) => app.call('invites/reveal', { id })
  const fromNow = (iso: string) => Date.parse(iso) - app.now()
  const nearly = (ms: number, wanted: number) =>
    assert.ok(Math.abs(ms - wanted) < 5 * SECOND, `${ms} is not about ${wanted}`)
  const stranger = (input: object, headers: Record<string, string> = {}) =>
    app.call('invites/createAnonymous', input, { headers })

  describe('of strangers', () => {
    it('come with a repository that is made for them, and a cookie to be known by', async () => {
      const answer = await stranger({ name: 'sketch' })
      assert.equal(answer.status, 200)
      const { id, managementId, expiresAt, repoExpiresAt } = answer.body
      assert.deepEqual(answer.body, {
        id,
        managementId,
        url: `${app.url}/invites/${id}`,
        repo: 'sketch',
        scope: 'read',
        expiresAt,
        repoExpiresAt,
      })
      for (const secret of [id, managementId]) assert.match(secret, /^[\w-]{32,}$/)
      nearly(fromNow(repoExpiresAt), DAY)
      // Asked for seven days, but never past the repository.
      assert.equal(expiresAt, repoExpiresAt)
      assert.match(
        answer.headers.getSetCookie()[0] ?? '',
        /^trellis\.anonymous=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/,
      )
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    })

    it('go to the repository they have, when they name one again', async () => {
      const first = await stranger({ name: 'mine' })
      const cookie = anonymousCookieIn(first)
      const again = await expectEvents(
        app,
        (answer) => [`invite.created ${answer.listed}`],
        async () => {
          const { body, headers } = await stranger({ name: 'mine', scope: 'write' }, { cookie })
          const { items } = (await app.call('invites/listAnonymous', {}, { headers: { cookie } })).body
          return { body, headers, listed: items[0].id }
        },
      )
      assert.equal(again.body.repoExpiresAt, first.body.repoExpiresAt)
      // The cookie is renewed with every use.
      assert.equal(anonymousCookieIn({ ...again, status: 200 }), cookie)
      const other = await stranger({ name: 'mine' })
      assert.notEqual(anonymousCookieIn(other), cookie)
      const remotes = await Promise.all(
        [first, other].map(async ({ body }) => (await reveal(body.id)).body.remote),
      )
      assert.notEqual(remotes[0], remotes[1])
    })

    it('are not taken from a cookie somebody made up', async () => {
      for (const cookie of ['trellis.anonymous=short', `trellis.anonymous=${'x'.repeat(43)}`]) {
        const answer = await stranger({ name: 'made-up' }, { cookie })
        assert.notEqual(anonymousCookieIn(answer), cookie)
        assert.deepEqual((await app.call('invites/listAnonymous', {}, { headers: { cookie } })).body, {
          items: [],
        })
      }
    })

    it('are bounded by address, counting a whole network as one', async () => {
      const from = (address: string) => stranger({ name: 'many' }, { 'x-forwarded-for': address })
      for (const address of ['2001:db8:9:9::1', '2001:db8:9:9:8::1', '2001:db8:9:9:7:1::'])
        assert.equal((await from(address)).status, 200)
      assertFault(await from('2001:db8:9:9:ffff::'), 'QUOTA_EXCEEDED', {
        scope: 'anon',
        limit: 3,
        observed: 3,
      })
      assert.equal((await from('2001:db8:9:a::1')).status, 200)
      // Nothing is left of a refused one, and time makes room.
      const { count } = await app.database.db
        .selectFrom('orgs')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('address', '=', '2001:db8:9:9')
        .executeTakeFirstOrThrow()
      assert.equal(Number(count), 3)
      app.pass(DAY)
      await app.expire()
      assert.equal((await from('2001:db8:9:9::1')).status, 200)
      const atOnce = await Promise.all(Array.from({ length: 12 }, () => from('203.0.113.77')))
      assert.equal(atOnce.filter(({ status }) => status === 200).length, 3)
    })

    it('are bounded in repositories and bytes', async () => {
      const first = await stranger({ name: 'repo-0', scope: 'write' })
      const cookie = anonymousCookieIn(first)
      for (let i = 1; i < 4; i++)
        assert.equal((await stranger({ name: `repo-${i}` }, { cookie })).status, 200)
      assertFault(await stranger({ name: 'repo-4' }, { cookie }), 'QUOTA_EXCEEDED', {
        scope: 'org',
        limit: 4,
        observed: 4,
        projected: 5,
      })
      const { cloneUrl } = (await reveal(first.body.id)).body
      const content = Array.from({ length: 400 }, () => crypto.randomUUID()).join('\n')
      const answer = await app.call(
        'git/commits/create',
        { name: 'repo-0', branch: 'main', message: 'Much', changes: [{ op: 'put', path: 'big', content }] },
        { token: new URL(cloneUrl).password },
      )
      assert.equal(answer.body.code, 'QUOTA_EXCEEDED')
      assert.equal(answer.body.data.scope, 'size')
      assert.ok(answer.body.data.limit <= 4096)
    })

    it('are refused where strangers are not served, while members go on', async () => {
      await using fresh = await create()
      await using closed = await startTestApp(fresh, { TRELLIS_ANONYMOUS: 'off' })
      const off = ['FEATURE_UNAVAILABLE', { feature: 'anonymous' }] as const
      assertFault(await closed.call('invites/createAnonymous', { name: 'x' }), ...off)
      assert.equal((await fetch(`${closed.url}/invites`)).status, 404)
      assert.doesNotMatch(await (await fetch(`${closed.url}/login`)).text(), /without an account/)
      assertFault(await closed.call('invites/reveal', { id: 'x'.repeat(36) }), ...off)
      assertFault(await closed.call('invites/listAnonymous'), ...off)
      const { token } = await closed.signUp('ana')
      const client = closed.client(token)
      await client.repos.create({ name: 'mine' })
      // Nobody could open one.
      for (const create of ['createAnonymous', 'create'])
        assertFault(await closed.call(`invites/${create}`, { name: 'mine' }, { token }), ...off)
      assert.deepEqual((await client.invites.listAnonymous()).items, [])
      assert.equal((await client.repos.list({})).items.length, 1)
    })
  })
})
