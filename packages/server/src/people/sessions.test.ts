import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '../db/database.ts'
import { sessionHashes } from '../db/migrations/0008-session-hashes.ts'
import { migrations } from '../db/migrations/index.ts'
import { hashSecret } from '../secrets/minting.ts'
import { onEachDatabase, sessionCookieOf, startTestApp, useApp } from '../testing/index.ts'
import type { Json } from '../testing/json.ts'

onEachDatabase('sessions', (create) => {
  const app = useApp(create)

  const opens = async (headers: Record<string, string>) =>
    (await app.call('orgs/list', {}, { headers })).status === 200
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  async function signIn(name: string): Promise<string> {
    const cookie = await sessionCookieOf(app, `${name}@example.com`)
    return decodeURIComponent(/session_token=([^.]+)\./.exec(cookie)?.[1] ?? '')
  }

  async function ask(route: string, token: string, body?: object): Promise<Json> {
    const response = await fetch(`${app.url}/api/auth/${route}`, {
      method: body ? 'POST' : 'GET',
      headers: { ...bearer(token), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.equal(response.status, 200)
    return response.json()
  }

  it('are kept without what opens them', async () => {
    const { token } = await app.signUp('ada')
    const cookie = await sessionCookieOf(app, 'ada@example.com')
    const { rows } = await sql<{ token_hash: string }>`select * from sessions`.execute(app.database.db)
    const kept = JSON.stringify(rows)
    for (const secret of [token, /session_token=([^.]+)/.exec(cookie)?.[1] ?? 'none'])
      assert.ok(!kept.includes(secret))
    assert.ok(kept.includes(hashSecret(token)))
    assert.equal(await opens(bearer(token)), true)
    assert.equal(await opens({ cookie }), true)
    for (const { token_hash } of rows) assert.equal(await opens(bearer(token_hash)), false)
  })

  it('last longer when they are used, with the same token', async () => {
    const { userId } = await app.signUp('bob')
    const cookie = await sessionCookieOf(app, 'bob@example.com')
    const soon = new Date(Date.now() + 86_400_000).toISOString()
    await app.database.transact((tx) =>
      sql`update sessions set expires_at = ${soon} where user_id = ${userId}`.execute(tx),
    )
    const response = await fetch(`${app.url}/api/auth/get-session`, { headers: { cookie } })
    const renewed = response.headers.getSetCookie().map((line) => line.split(';')[0])
    assert.deepEqual(renewed, [cookie])
    const { session } = (await response.json()) as { session: { expiresAt: string } }
    assert.ok(session.expiresAt > soon)
    assert.equal(await opens({ cookie }), true)
  })

  const ends = async (userId: string): Promise<string[]> => {
    const { rows } = await sql<{
      expires_at: string | Date
    }>`select expires_at from sessions where user_id = ${userId}`.execute(app.database.db)
    return rows.map(({ expires_at }) => new Date(expires_at).toISOString())
  }
  const endAllIn = (userId: string, ms: number) =>
    app.database.transact((tx) =>
      sql`update sessions set expires_at = ${new Date(Date.now() + ms).toISOString()}
        where user_id = ${userId}`.execute(tx),
    )

  it('last longer by a call, once a day', async () => {
    const { token, userId } = await app.signUp('gus')
    const first = await ends(userId)
    assert.equal(await opens(bearer(token)), true)
    assert.deepEqual(await ends(userId), first)
    await endAllIn(userId, 6 * 86_400_000 - 60_000)
    const due = await ends(userId)
    assert.equal(await opens(bearer(token)), true)
    const renewed = await ends(userId)
    assert.ok(String(renewed) > String(due))
    assert.equal(await opens(bearer(token)), true)
    assert.deepEqual(await ends(userId), renewed)
  })

  it('end when their time is over', async () => {
    const { token, userId } = await app.signUp('hal')
    const cookie = await sessionCookieOf(app, 'hal@example.com')
    await endAllIn(userId, -1)
    assert.equal(await opens(bearer(token)), false)
    assert.equal(await opens({ cookie }), false)
    assert.deepEqual(await ends(userId), [])
  })

  it('do not last longer where they are to end with the browser', async () => {
    const { userId } = await app.signUp('ivy')
    const response = await fetch(`${app.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        email: 'ivy@example.com',
        password: 'correct horse battery',
        rememberMe: false,
      }),
    })
    const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
    assert.equal(cookies.length, 2)
    await endAllIn(userId, 60_000)
    const before = await ends(userId)
    assert.equal(await opens({ cookie: cookies.join('; ') }), true)
    assert.deepEqual(await ends(userId), before)
    assert.equal(
      await opens({ cookie: cookies.filter((each) => each.includes('session_token')).join() }),
      true,
    )
    assert.notDeepEqual(await ends(userId), before)
  })

  it('open nothing with a cookie that was changed', async () => {
    await app.signUp('jo')
    const cookie = await sessionCookieOf(app, 'jo@example.com')
    assert.equal(await opens({ cookie }), true)
    const token = await signIn('jo')
    assert.equal(await opens({ cookie: cookie.replace(/=[^.]+/, `=${token}`) }), false)
    assert.equal(await opens({ cookie: cookie.replace(/\.(?=[^.]*$).*/, '') }), false)
  })

  it('act in the organization they name, or in the person’s own', async () => {
    const { token, slug } = await app.signUp('kay')
    const other = await app.signUp('lou')
    const answer = await app.call('orgs/create', { slug: 'kays-team' }, { token })
    assert.equal(answer.status, 200)
    const orgOf = async (org?: string) => {
      const { status, body } = await app.call(
        'repos/create',
        { name: `r-${org}` },
        { token, ...(org && { org }) },
      )
      return status === 200 ? new URL(body.remote).pathname.split('/').at(-2) : status
    }
    assert.deepEqual(
      [
        await orgOf(),
        await orgOf(slug),
        await orgOf('kays-team'),
        await orgOf(other.slug),
        await orgOf('none'),
      ],
      [slug, slug, 'kays-team', 403, 403],
    )
  })

  it('make the organization of a person who was left without', async () => {
    const { token, userId } = await app.signUp('mia')
    await app.database.transact((tx) => sql`delete from orgs where personal_user_id = ${userId}`.execute(tx))
    const { body } = await app.call('orgs/list', {}, { token })
    assert.equal(body.items.length, 1)
  })

  it('act in another organization of a person who has deleted their own', async () => {
    const { token, userId } = await app.signUp('nia')
    await app.call('orgs/create', { slug: 'nias-team' }, { token })
    await app.database.transact((tx) => sql`delete from orgs where personal_user_id = ${userId}`.execute(tx))
    const { body } = await app.call('repos/create', { name: 'there' }, { token })
    assert.equal(new URL(body.remote).pathname.split('/').at(-2), 'nias-team')
  })

  it('are listed without what opens them, and ended by what the list shows', async () => {
    await app.signUp('cleo')
    const [first, second, third] = [await signIn('cleo'), await signIn('cleo'), await signIn('cleo')]
    const listed: { id: string; token: string }[] = await ask('list-sessions', first)
    assert.equal(listed.length, 4)
    for (const { id, token } of listed) {
      assert.equal(token, id)
      assert.equal(await opens(bearer(token)), false)
    }
    const { session } = await ask('get-session', second)
    assert.equal(session.token, second)
    await ask('revoke-session', first, { token: session.id })
    assert.deepEqual(await Promise.all([first, second, third].map((token) => opens(bearer(token)))), [
      true,
      false,
      true,
    ])
    await ask('revoke-session', first, { token: third })
    assert.equal(await opens(bearer(third)), false)
  })

  it('are ended by nobody else', async () => {
    const { token } = await app.signUp('dan')
    const { session } = await ask('get-session', token)
    const other = await app.signUp('eve')
    for (const named of [token, session.id, hashSecret(token)])
      await ask('revoke-session', other.token, { token: named })
    await ask('revoke-other-sessions', other.token, {})
    assert.equal(await opens(bearer(token)), true)
  })

  it('are ended all but one, and then that one too', async () => {
    const { token } = await app.signUp('finn')
    const others = [await signIn('finn'), await signIn('finn')]
    await ask('revoke-other-sessions', token, {})
    assert.equal(await opens(bearer(token)), true)
    for (const other of others) assert.equal(await opens(bearer(other)), false)
    await ask('revoke-sessions', token, {})
    assert.equal(await opens(bearer(token)), false)
  })
})

onEachDatabase('sessions from before tokens were hashed', (create) => {
  it('go on, and are kept without what opens them', async () => {
    await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-sessions-'))
    await using store = await create('empty')
    const location = store.url ? store.location : { sqlite: join(data.path, 'trellis.db') }
    const steps = migrations.slice(0, migrations.indexOf(sessionHashes))
    const before = await openDatabase(location, { steps })
    const now = new Date().toISOString()
    const later = new Date(Date.now() + 6.5 * 86_400_000).toISOString()
    const token = 'Zx81zx81Zx81zx81Zx81zx81Zx81zx81'
    await before.transact(async (tx) => {
      await sql`insert into users values ('usr_1', 'Ada', 'ada@example.com', false, null, ${now}, ${now})`.execute(
        tx,
      )
      await sql`insert into sessions values ('ses_1', 'usr_1', ${token}, ${later}, '', '', ${now}, ${now})`.execute(
        tx,
      )
    })
    await before.close()

    await using app = await startTestApp({ ...store, location }, { TRELLIS_DATA: data.path })
    assert.equal((await app.call('orgs/list', {}, { token })).status, 200)
    const { rows } = await sql<{ token_hash: string }>`select token_hash from sessions`.execute(
      app.database.db,
    )
    assert.deepEqual(
      rows.map(({ token_hash }) => token_hash),
      [hashSecret(token)],
    )
  })
})
