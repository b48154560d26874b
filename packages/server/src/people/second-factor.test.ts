import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { codeFor, createVisitor, onEachDatabase, useApp, wrongCodeFor } from '../testing/index.ts'
import type { Json } from '../testing/json.ts'
import { createEntryLinkIn } from './entry-links.ts'

const password = 'correct horse battery'

interface Answer {
  status: number
  body: Json
  /** What a browser would keep of it. */
  cookie: string
  location: string | null
}

onEachDatabase('two-factor sign-in', (create) => {
  const app = useApp(create, { TRELLIS_TRUSTED_PROXIES: '127.0.0.1' })

  let addresses = 0
  /** From an address of its own each time, unless one is named. */
  async function ask(
    route: string,
    body: object | undefined,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${app.url}/api/auth/${route}`, {
      method: body ? 'POST' : 'GET',
      redirect: 'manual',
      headers: {
        'x-forwarded-for': `203.0.${Math.floor(++addresses / 250)}.${addresses % 250}`,
        origin: app.url,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const kept = response.headers.getSetCookie().filter((line) => !line.includes('Max-Age=0'))
    return {
      status: response.status,
      body: await response.json().catch(() => undefined),
      cookie: kept.map((line) => line.split(';')[0]).join('; '),
      location: response.headers.get('location'),
    }
  }

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const signIn = (email: string) => ask('sign-in/email', { email, password })
  const sessionsOf = async (userId: string) =>
    (await app.database.db.selectFrom('sessions').select('id').where('user_id', '=', userId).execute()).length

  /** Somebody who is asked for a code. */
  async function careful(name: string) {
    const person = await app.signUp(name)
    const begun = await ask('two-factor/enable', { password }, bearer(person.token))
    assert.equal(begun.status, 200, JSON.stringify(begun.body))
    const { totpURI, backupCodes } = begun.body
    const confirmed = await ask('two-factor/verify-totp', { code: codeFor(totpURI) }, bearer(person.token))
    assert.equal(confirmed.status, 200)
    return { ...person, uri: totpURI as string, codes: backupCodes as string[], cookie: confirmed.cookie }
  }

  it('lets nobody in with a password alone, and then with the code of the app', async () => {
    const { email, userId, uri, cookie } = await careful('ana')
    assert.equal((await app.call('orgs/list', {}, { headers: { cookie } })).status, 200)
    const before = await sessionsOf(userId)
    const challenged = await signIn(email)
    assert.deepEqual(challenged.body, { twoFactorRedirect: true, twoFactorMethods: ['totp'] })
    assert.doesNotMatch(challenged.cookie, /session_token/)
    assert.equal(await sessionsOf(userId), before)

    const wrong = await ask(
      'two-factor/verify-totp',
      { code: wrongCodeFor(uri) },
      { cookie: challenged.cookie },
    )
    assert.deepEqual([wrong.status, wrong.cookie], [401, ''])
    const right = await ask('two-factor/verify-totp', { code: codeFor(uri) }, { cookie: challenged.cookie })
    assert.equal(right.status, 200)
    for (const options of [{ token: right.body.token }, { headers: { cookie: right.cookie } }])
      assert.equal((await app.call('orgs/list', {}, options)).status, 200)
    const again = await ask('two-factor/verify-totp', { code: codeFor(uri) }, { cookie: challenged.cookie })
    assert.equal(again.status, 401)
  })

  it('takes each code of the app once, and none from before', async () => {
    const { email, uri } = await careful('lea')
    const use = async (code: string, cookie?: string) => {
      const challenge = cookie ?? (await signIn(email)).cookie
      const { status, body } = await ask('two-factor/verify-totp', { code }, { cookie: challenge })
      return { status, message: body.message, challenge }
    }
    // Two of the three that are taken now: the next period may begin in between.
    const [now, next] = [codeFor(uri), codeFor(uri, 1)]
    const challenges = [(await signIn(email)).cookie, (await signIn(email)).cookie]
    const both = await Promise.all(challenges.map((cookie) => use(now, cookie)))
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401])
    const again = await use(now)
    assert.equal(again.status, 401)
    assert.match(again.message, /used already/)
    // The sign-in goes on with the next one.
    assert.equal((await use(next, again.challenge)).status, 200)
    assert.equal((await use(now)).status, 401)
  })

  it('needs the password to begin with, and changes nothing before a code was right', async () => {
    const { token, email } = await app.signUp('bob')
    for (const body of [{}, { password: 'wrong password' }])
      assert.equal((await ask('two-factor/enable', body, bearer(token))).status, 400)
    const { body } = await ask('two-factor/enable', { password }, bearer(token))
    const { status } = await ask(
      'two-factor/verify-totp',
      { code: wrongCodeFor(body.totpURI) },
      bearer(token),
    )
    assert.equal(status, 401)
    assert.ok((await signIn(email)).body.token)
  })

  it('takes each backup code once', async () => {
    const { email, codes } = await careful('cleo')
    const use = async (code: string | undefined) => {
      const { cookie } = await signIn(email)
      return (await ask('two-factor/verify-backup-code', { code }, { cookie })).status
    }
    assert.equal(await use(codes[0]), 200)
    assert.equal(await use(codes[0]), 401)
    assert.equal(await use(codes[1]), 200)
  })

  it('ends a sign-in after five wrong codes, and closes the account for a while after ten', async () => {
    const { email, uri } = await careful('dan')
    const statuses: number[] = []
    for (let sign = 0; sign < 2; sign++) {
      const { cookie } = await signIn(email)
      for (let tries = 0; tries < 5; tries++)
        statuses.push((await ask('two-factor/verify-totp', { code: wrongCodeFor(uri) }, { cookie })).status)
      statuses.push((await ask('two-factor/verify-totp', { code: codeFor(uri) }, { cookie })).status)
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 400, 401, 401, 401, 401, 401, 429])
    const { cookie } = await signIn(email)
    assert.equal((await ask('two-factor/verify-totp', { code: codeFor(uri) }, { cookie })).status, 429)
  })

  it('counts codes from one address as it counts passwords', async () => {
    const { uri } = await careful('eve')
    const from = { 'x-forwarded-for': '198.51.100.7' }
    const code = wrongCodeFor(uri)
    const statuses = []
    for (let n = 0; n < 25; n++) {
      const cookie = `trellis.two_factor=made-up-${n}`
      statuses.push((await ask('two-factor/verify-totp', { code }, { ...from, cookie })).status)
    }
    assert.deepEqual(statuses.slice(0, 20), Array(20).fill(401))
    assert.equal(statuses.at(-1), 429)
    const cookie = 'trellis.two_factor=the-same'
    const sameSignIn = []
    for (let n = 0; n < 12; n++)
      sameSignIn.push(
        (await ask('two-factor/verify-backup-code', { code }, { 'x-forwarded-for': '198.51.100.8', cookie }))
          .status,
      )
    assert.deepEqual(sameSignIn.slice(9), [401, 429, 429])
  })

  it('keeps nothing in the database that would open the account', async () => {
    const { uri, codes, userId } = await careful('finn')
    const { rows } = await sql<Record<string, unknown>>`
      select * from two_factors where user_id = ${userId}`.execute(app.database.db)
    const kept = JSON.stringify(rows)
    const secret = new URL(uri).searchParams.get('secret') ?? ''
    for (const opens of [
      secret,
      secret.replaceAll('=', ''),
      ...codes,
      ...codes.map((code) => code.slice(0, 5)),
    ])
      assert.ok(!kept.includes(opens))
    assert.ok(!app.logged().includes(secret))
  })

  it('is turned off with the password, and then asks for nothing more', async () => {
    const { email, cookie } = await careful('gil')
    assert.equal((await ask('two-factor/disable', { password: 'wrong password' }, { cookie })).status, 400)
    assert.equal((await ask('two-factor/disable', { password }, { cookie })).status, 200)
    assert.ok((await signIn(email)).body.token)
  })

  it('renews a session that is used late without asking again', async () => {
    const { userId, cookie } = await careful('hal')
    const late = new Date(Date.now() + 3 * 86_400_000).toISOString()
    await app.database.transact((tx) =>
      sql`update sessions set expires_at = ${late} where user_id = ${userId}`.execute(tx),
    )
    for (const route of ['list-sessions', 'get-session'])
      assert.equal((await ask(route, undefined, { cookie })).status, 200)
    assert.equal((await app.call('orgs/list', {}, { headers: { cookie } })).status, 200)
  })

  it('does not ask in a browser that somebody trusts', async () => {
    const { email, uri } = await careful('ida')
    const { cookie } = await signIn(email)
    const trusted = await ask('two-factor/verify-totp', { code: codeFor(uri), trustDevice: true }, { cookie })
    const kept = trusted.cookie.split('; ').filter((each) => each.startsWith('trellis.trust_device'))
    const next = await ask('sign-in/email', { email, password }, { cookie: kept.join('; ') })
    assert.ok(next.body.token)
    const stranger = await signIn(email)
    assert.equal(stranger.body.twoFactorRedirect, true)
  })

  it('is turned off by a link of whoever runs the server, for those who lost their phone', async () => {
    const { email, userId } = await careful('kay')
    const secret = await app.database.transact((tx) => createEntryLinkIn(tx, userId, app.now()))
    const visitor = createVisitor(app)
    const page = await visitor.get(`/enter/${secret}`)
    assert.equal((await visitor.post(page, `/enter/${secret}`, { password })).status, 303)
    assert.equal((await visitor.get('/account/sessions')).status, 200)
    assert.ok((await signIn(email)).body.token)
  })

  it('leaves nothing behind of sign-ins that were not completed', async () => {
    const { email, cookie } = await careful('jo')
    await signIn(email)
    const count = async () =>
      (await app.database.db.selectFrom('verifications').select('id').execute()).length
    const before = await count()
    app.pass(3_600_000)
    await app.background.run('ended sign-ins')
    assert.ok((await count()) < before)
    assert.equal((await app.call('orgs/list', {}, { headers: { cookie } })).status, 200)
    // As long as browsers are trusted.
    app.pass(31 * 86_400_000)
    await app.background.run('ended sign-ins')
    assert.equal(await count(), 0)
    assert.equal((await app.database.db.selectFrom('sessions').select('id').execute()).length, 0)
  })
})
