import assert from 'node:assert/strict'
import { request } from 'node:http'
import { it } from 'node:test'
import {
  assertForbidden,
  assertUnauthenticated,
  expectEvents,
  onEachDatabase,
  startTestApp,
  type TestApp,
  useApp,
} from '../testing/index.ts'
import type { Json } from '../testing/json.ts'

const password = 'correct horse battery'

interface Session {
  status: number
  body: Json
  cookie: string
}

/** Calls one of the routes for signing up, in and out. */
async function auth(
  app: TestApp,
  route: string,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<Session> {
  const response = await fetch(`${app.url}/api/auth/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return { status: response.status, body: await response.json(), cookie }
}

const signUp = (app: TestApp, email: string, headers?: Record<string, string>) =>
  auth(app, 'sign-up/email', { email, name: 'Somebody', password }, headers)

onEachDatabase('people', (create) => {
  const app = useApp(create, {
    TRELLIS_OWNER_EMAIL: 'owner@example.com',
    TRELLIS_OWNER_PASSWORD: password,
  })

  it('are limited by the path that is served, however it is written', async () => {
    const { hostname, port } = new URL(app.url)
    for (const path of [
      'sign-in/x/../email',
      'sign-in/./email',
      'sign-in/%65mail',
      'sign-in//email',
      'sign-in/email/',
    ])
      await new Promise<void>((resolve, reject) => {
        const sent = request({ hostname, port, path: `/api/auth/${path}`, method: 'POST' }, (answer) => {
          answer.resume()
          assert.equal(answer.statusCode, 404, path)
          resolve()
        })
        sent.on('error', reject).end('{}')
      })
  })

  it('have names that others can be shown', async () => {
    const long = { email: 'long@example.com', password, name: 'n'.repeat(201) }
    assert.deepEqual((await auth(app, 'sign-up/email', long)).status, 400)
  })

  const whoseOrg = async (options: object) =>
    (await app.call('orgs/list', {}, options)).body.items?.map(({ slug }: { slug: string }) => slug)

  it('gives a newcomer an organization of their own, in which they may do everything', async () => {
    const { body } = await expectEvents(app, ['org.created ada-lovelace'], () =>
      signUp(app, 'Ada.Lovelace@example.com'),
    )
    const { items } = await app.client(body.token).orgs.list({})
    assert.deepEqual(items, [
      {
        id: items[0]?.id ?? '',
        slug: 'ada-lovelace',
        name: 'Somebody',
        personal: true,
        frozen: false,
        role: 'owner',
        repoCount: 0,
        createdAt: items[0]?.createdAt ?? 0,
        updatedAt: items[0]?.createdAt ?? 0,
      },
    ])
    const [member] = (await app.client(body.token).members.list({ orgSlug: 'ada-lovelace' })).items
    assert.deepEqual([member?.userId, member?.email], [body.user.id, 'ada.lovelace@example.com'])
    assert.match(body.user.id, /^usr_/)
    assert.equal((await app.call('repos/create', { name: 'first' }, { token: body.token })).status, 200)
  })

  it('finds another slug when the first is taken, also for people who come at once', async () => {
    const people = await Promise.all(range(4).map((n) => signUp(app, `grace@host${n}.example.com`)))
    const slugs = await Promise.all(people.map(({ body }) => whoseOrg({ token: body.token })))
    assert.equal(new Set(slugs.flat()).size, 4)
    assert.deepEqual(slugs.flat().filter((slug) => slug === 'grace').length, 1)
    for (const slug of slugs.flat()) assert.match(slug, /^grace(-\d+)?$/)
  })

  it('makes a slug of whatever the address begins with', async () => {
    const cases: [string, RegExp][] = [
      ['--a+b--', /^a-b$/],
      ['___', /^user$/],
      ['x'.repeat(64), /^x{57}$/],
    ]
    await Promise.all(
      cases.map(async ([local, slug]) => {
        const { body } = await signUp(app, `${local}@example.com`)
        assert.match((await whoseOrg({ token: body.token }))[0], slug)
      }),
    )
  })

  it('signs up an address once, and wants a password worth the name', async () => {
    await signUp(app, 'once@example.com')
    await expectEvents(app, [], async () => {
      assert.equal((await signUp(app, 'ONCE@example.com')).status, 422)
      for (const bad of ['short', 'x'.repeat(257)])
        assert.equal(
          (await auth(app, 'sign-up/email', { email: 'bad@example.com', name: 'Bad', password: bad })).status,
          400,
        )
      assert.equal((await signUp(app, 'not an address')).status, 400)
    })
  })

  it('takes a session as a cookie and as a bearer, and ends both at sign-out', async () => {
    await signUp(app, 'both@example.com')
    for (const way of ['cookie', 'bearer'] as const) {
      const { status, body, cookie } = await auth(app, 'sign-in/email', {
        email: 'both@example.com',
        password,
      })
      assert.equal(status, 200)
      assert.match(cookie, /^trellis\.session_token=/)
      const ways = { cookie: { cookie }, bearer: { authorization: `Bearer ${body.token}` } }
      for (const headers of Object.values(ways)) assert.deepEqual(await whoseOrg({ headers }), ['both'])
      assert.equal((await auth(app, 'sign-out', {}, { ...ways[way], origin: app.url })).status, 200)
      for (const headers of Object.values(ways))
        assertUnauthenticated(await app.call('orgs/list', {}, { headers }))
    }
  })

  it('gives the token of a session in characters that stand in any address', async () => {
    await signUp(app, 'address@example.com')
    const response = await fetch(`${app.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'address@example.com', password }),
    })
    const token = response.headers.get('set-auth-token') ?? ''
    assert.match(token, /^[0-9A-Za-z_-]{20,}$/)
    const [cookie = ''] = response.headers.getSetCookie()
    const signed = decodeURIComponent(/=([^;]*)/.exec(cookie)?.[1] ?? '')
    // And as it was given before.
    for (const bearer of [token, signed, encodeURIComponent(signed)]) {
      assert.deepEqual(await whoseOrg({ token: bearer }), ['address'])
      const session = await fetch(`${app.url}/api/auth/get-session`, {
        headers: { authorization: `Bearer ${bearer}` },
      })
      assert.ok(await session.json(), bearer)
    }
  })

  it('keeps the other sessions of a person who signs out of one', async () => {
    const { body: first } = await signUp(app, 'two@example.com')
    const { body: second } = await auth(app, 'sign-in/email', { email: 'two@example.com', password })
    await auth(app, 'sign-out', {}, { authorization: `Bearer ${first.token}` })
    assert.equal((await app.call('orgs/list', {}, { token: first.token })).status, 401)
    assert.equal((await app.call('orgs/list', {}, { token: second.token })).status, 200)
  })

  it('lets nobody in with a wrong password, or with a cookie somebody made up', async () => {
    const { status, body } = await auth(app, 'sign-in/email', {
      email: 'once@example.com',
      password: 'wrong password',
    })
    assert.deepEqual([status, body.token], [401, undefined])
    const { body: good } = await signUp(app, 'cookie@example.com')
    for (const cookie of ['garbage', good.token, `${good.token}.forged`])
      assertUnauthenticated(
        await app.call('orgs/list', {}, { headers: { cookie: `trellis.session_token=${cookie}` } }),
      )
  })

  it('refuses a page of another site that signs in or out with the cookie of a visitor', async () => {
    const { cookie } = await signUp(app, 'visitor@example.com')
    const elsewhere = { cookie, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }
    assert.equal((await auth(app, 'sign-out', {}, elsewhere)).status, 403)
    const { cookie: _, ...signedOut } = elsewhere
    assert.equal(
      (await auth(app, 'sign-in/email', { email: 'visitor@example.com', password }, signedOut)).status,
      403,
    )
    assert.deepEqual(await whoseOrg({ headers: { cookie } }), ['visitor'])
  })

  it('lets a session choose the organization it acts in, among those of the person', async () => {
    const { body, cookie } = await signUp(app, 'chooser@example.com')
    await app.client(body.token).orgs.create({ slug: 'chosen' })
    await app.client(body.token, 'chosen').repos.create({ name: 'there' })
    for (const options of [{ token: body.token }, { headers: { cookie } }]) {
      const repos = async (org?: string) =>
        (await app.call('repos/list', {}, { ...options, ...(org && { org }) })).body.items.length
      assert.deepEqual([await repos(), await repos('chooser'), await repos('chosen')], [0, 0, 1])
      for (const org of ['owner', 'nowhere', 'Not A Slug'])
        assertForbidden(await app.call('repos/list', {}, { ...options, org }), 'not_a_member')
    }
  })

  it('makes the owner at the first start, who can sign in', async () => {
    const { status, body } = await auth(app, 'sign-in/email', { email: 'owner@example.com', password })
    assert.equal(status, 200)
    assert.deepEqual(await whoseOrg({ token: body.token }), ['owner'])
    const { items } = await app.client(app.ownerKey).keys.list({})
    assert.deepEqual(
      items.map(({ name, scopes }) => [name, scopes]),
      [['First start', ['*', 'account']]],
    )
  })
})

onEachDatabase('sign-up by invitation', (create) => {
  const app = useApp(create, { TRELLIS_SIGN_UP: 'invited' })

  const invite = async (email: string) =>
    (await app.client(app.ownerKey).members.invite({ orgSlug: 'owner', email })).id
  const users = async () => (await app.database.db.selectFrom('users').select('id').execute()).length

  it('is for those who name an invitation for their address', async () => {
    const invitation = await invite('Guest@example.com')
    const before = await users()
    await expectEvents(app, [], async () => {
      for (const [email, header] of [
        ['guest@example.com', undefined],
        ['guest@example.com', 'inv_none'],
        ['other@example.com', invitation],
      ] as const) {
        const refused = await signUp(app, email, header === undefined ? {} : { 'trellis-invitation': header })
        assert.deepEqual([refused.status, refused.body.code], [403, 'SIGN_UP_CLOSED'])
      }
    })
    assert.equal(await users(), before)

    const { status, body } = await signUp(app, 'guest@example.com', { 'trellis-invitation': invitation })
    assert.equal(status, 200)
    const member = await app.client(body.token).invitations.accept({ invitationId: invitation })
    assert.deepEqual([member.userId, member.role], [body.user.id, 'member'])
    assert.deepEqual(
      (await app.client(body.token).orgs.list({})).items.map(({ slug }) => slug),
      ['guest', 'owner'],
    )
  })

  it('ends with the invitation', async () => {
    const cancelled = await invite('cancelled@example.com')
    await app.client(app.ownerKey).invitations.cancel({ invitationId: cancelled })
    assert.equal(
      (await signUp(app, 'cancelled@example.com', { 'trellis-invitation': cancelled })).status,
      403,
    )
    const expired = await invite('expired@example.com')
    app.pass(7 * 86_400_000)
    assert.equal((await signUp(app, 'expired@example.com', { 'trellis-invitation': expired })).status, 403)
  })
})

onEachDatabase('closed sign-up', (create) => {
  it('admits nobody, invited or not, and lets those in who are there', async () => {
    await using database = await create()
    await using app = await startTestApp(database, {
      TRELLIS_SIGN_UP: 'closed',
      TRELLIS_OWNER_EMAIL: 'owner@example.com',
      TRELLIS_OWNER_PASSWORD: password,
    })
    const { id } = await app
      .client(app.ownerKey)
      .members.invite({ orgSlug: 'owner', email: 'guest@example.com' })
    for (const headers of [undefined, { 'trellis-invitation': id }]) {
      const { status, body } = await signUp(app, 'guest@example.com', headers)
      assert.deepEqual([status, body.code], [403, 'SIGN_UP_CLOSED'])
    }
    assert.equal((await auth(app, 'sign-in/email', { email: 'owner@example.com', password })).status, 200)
  })
})

function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n)
}
