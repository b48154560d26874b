import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { SMTPServer } from 'smtp-server'
import { createVisitor, onEachDatabase, startTestApp, type TestApp, useInSuite } from '../testing/index.ts'
import { invitationLetter } from './letters.ts'

const PASSWORD = 'correct horse battery'

interface Received {
  to: string[]
  from: string
  /** As it came, header and body. */
  source: string
}

/** A server for mail that keeps what it is given. */
async function startPostOffice({ asksForPassword = false } = {}) {
  const received: Received[] = []
  const state = {
    refuse: undefined as (Error & { responseCode?: number }) | undefined,
    tried: 0,
    passwords: 0,
  }
  const server = new SMTPServer({
    disabledCommands: asksForPassword ? ['STARTTLS'] : ['AUTH', 'STARTTLS'],
    allowInsecureAuth: true,
    onAuth(_auth, _session, done) {
      state.passwords++
      done(null, { user: 'trellis' })
    },
    onRcptTo(_address, _session, done) {
      state.tried++
      done(state.refuse)
    },
    onData(stream, { envelope }, done) {
      text(stream).then((source) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        received.push({ to: envelope.rcptTo.map(({ address }) => address), from, source })
        done()
      }, done)
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    received,
    state,
    port,
    env: { TRELLIS_SMTP_URL: `smtp://127.0.0.1:${port}`, TRELLIS_MAIL_FROM: 'post@trellis.example' },
    /** The letter to somebody, when it is there. */
    letterTo: async (address: string, nth = 0): Promise<Received & { link: string }> => {
      const those = () => received.filter(({ to }) => to.includes(address))
      await until(() => those().length > nth)
      const letter = those()[nth] as Received
      const body = unfolded(letter.source)
      return { ...letter, link: /https?:\/\/\S+/.exec(body)?.[0] ?? '' }
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((closed) => server.close(closed))
    },
  }
}

/** Lines that were too long for mail, as they were before. */
const unfolded = (source: string): string =>
  source
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

const pathOf = (link: string) => link.slice(new URL(link).origin.length)

onEachDatabase('mail', (create) => {
  const world = useInSuite(async (made) => {
    const post = made.use(await startPostOffice())
    const database = made.use(await create())
    const app = made.use(await startTestApp(database, { ...post.env, TRELLIS_SIGN_UP: 'invited' }))
    return { post, app, database }
  })
  const owner = () => world.app.client(world.app.ownerKey)
  const lettersLeft = async (app: TestApp) =>
    (await app.database.db.selectFrom('letters').select('id').execute()).length

  it('carries the link of an invitation, which signs up and joins', async () => {
    const { app, post } = world
    const made = await owner().members.invite({ orgSlug: 'owner', email: 'guest@example.com' })
    assert.equal(made.mailed, true)
    const { from, source, link } = await post.letterTo('guest@example.com')
    assert.equal(from, 'post@trellis.example')
    assert.match(source, /^From: Trellis <post@trellis\.example>\r$/m)
    assert.match(source, /^Auto-Submitted: auto-generated\r$/m)
    assert.equal(link, made.url)
    const visitor = createVisitor(app)
    const page = await visitor.get(pathOf(link))
    const fields = { action: 'sign-up', name: 'Guest', password: PASSWORD }
    assert.equal((await visitor.post(page, pathOf(link), fields)).status, 303)
    assert.equal((await owner().members.list({ orgSlug: 'owner' })).items.length, 2)
    await until(async () => (await lettersLeft(app)) === 0)
    assert.ok(!app.logged().includes(link))
  })

  it('asks at sign-up whether the address is theirs, and knows it when somebody says so on the page', async () => {
    const { app, post } = world
    const { link } = await post.letterTo('guest@example.com', 1)
    const verified = async () => {
      const user = await app.database.db
        .selectFrom('users')
        .select('email_verified')
        .where('email', '=', 'guest@example.com')
        .executeTakeFirst()
      return Boolean(user?.email_verified)
    }
    const path = pathOf(link)
    const secret = path.slice('/confirm-address/'.length)
    assert.equal(path, `/confirm-address/${secret}`)
    const visitor = createVisitor(app)
    // A program that reads mail opens the link, and sends the form without having it from the page.
    const page = await visitor.get(path)
    assert.equal(page.status, 200)
    assert.match(page.text, /Confirm it only if that was you\./)
    assert.ok(!page.text.includes(secret) && !page.text.includes('guest@example.com'))
    assert.equal((await createVisitor(app).post({ text: '' }, path, {})).status, 403)
    const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    assert.equal((await visitor.post(page, path, {}, elsewhere)).status, 403)
    for (const forged of ['/confirm-address/forged', '/confirm-address/', `${path}x`]) {
      const answer = await visitor.post(page, forged, {})
      assert.deepEqual([answer.status, /This link is over/.test(answer.text)], [404, true], forged)
    }
    assert.equal(await verified(), false)
    const confirmed = await visitor.post(page, path, {})
    assert.equal(confirmed.status, 200)
    assert.match(confirmed.text, /Your address is confirmed/)
    assert.equal(await verified(), true)
    assert.ok(!app.logged().includes(secret))
  })

  it('gives an account another address, which whoever is signed in to it confirms', async () => {
    const { app, post } = world
    const before = 'mover@example.com'
    const after = 'moved@example.com'
    const { url } = await owner().members.invite({ orgSlug: 'owner', email: before })
    const visitor = createVisitor(app)
    const joining = await visitor.get(pathOf(url))
    await visitor.post(joining, pathOf(url), { action: 'sign-up', name: 'Mover', password: PASSWORD })
    const security = await visitor.get('/account/security')
    const wish = (email: string, password = PASSWORD) =>
      visitor.post(security, '/account/security', { action: 'change-address', email, password })
    assert.equal((await wish(after, 'wrong password')).status, 400)
    assert.equal((await wish('no address')).status, 400)
    // Nobody is told whose address is taken, and nothing is sent there.
    const letters = () => post.received.filter(({ source }) => /Confirm your new address/.test(source)).length
    assert.equal((await wish('guest@example.com')).location, '/account/security?sent')
    assert.equal((await wish(after.toUpperCase())).location, '/account/security?sent')
    const path = pathOf((await post.letterTo(after)).link)
    assert.equal(letters(), 1)
    assert.match((await visitor.get('/account/security')).text, new RegExp(`<strong>${before}`))

    // A link by itself is nothing: neither to a stranger nor to somebody else who has an account.
    const stranger = createVisitor(app)
    assert.match((await stranger.get(path)).location ?? '', /^\/login\?return_to=/)
    const login = await stranger.get('/login')
    const asGuest = { action: 'sign-in', email: 'guest@example.com', password: PASSWORD }
    await stranger.post(login, '/login', asGuest)
    assert.equal((await stranger.post(await stranger.get(path), path, {})).status, 404)
    assert.equal((await visitor.post({ text: '' }, path, {})).status, 403)
    const page = await visitor.get(path)
    assert.equal((await visitor.post(page, `${path.slice(0, -4)}AAAA`, {})).status, 404)
    assert.match((await visitor.post(page, path, {})).text, /Your address is changed/)

    // The session goes on, the old address is told, and the link is spent.
    assert.match((await visitor.get('/account/security')).text, new RegExp(`<strong>${after}`))
    await until(() =>
      post.received.some(({ to, source }) => to.includes(before) && /is changed/.test(source)),
    )
    assert.equal((await visitor.post(page, path, {})).status, 404)
    const signIn = async (email: string) => {
      const each = createVisitor(app)
      return (
        await each.post(await each.get('/login'), '/login', { action: 'sign-in', email, password: PASSWORD })
      ).status
    }
    assert.deepEqual([await signIn(before), await signIn(after)], [400, 303])
    assert.ok(!app.logged().includes(path.slice('/new-address/'.length)))
  })

  it('sets a new password once, ends all sessions, and tells nobody who has an account', async () => {
    const { app, post } = world
    const email = 'guest@example.com'
    const signIn = (password: string) =>
      fetch(`${app.url}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password }),
      })
    const { token } = (await (await signIn(PASSWORD)).json()) as { token: string }
    const kept = await app.client(token).keys.create({ name: 'kept' })
    const visitor = createVisitor(app)
    const forgot = await visitor.get('/forgot-password')
    assert.match((await visitor.get('/login')).text, /href="\/forgot-password"/)
    const answers = []
    for (const each of ['nobody@example.com', email])
      answers.push((await visitor.post(forgot, '/forgot-password', { email: each })).text)
    assert.equal(answers[0], answers[1])

    const { link } = await post.letterTo(email, 2)
    const rows = JSON.stringify(await app.database.db.selectFrom('letters').selectAll().execute())
    const path = pathOf(link)
    const secret = path.slice(path.lastIndexOf('/') + 1)
    assert.ok(!rows.includes(secret) && !(await verificationsOf(app)).includes(secret))
    const page = await visitor.get(path)
    const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    assert.equal((await visitor.post(page, path, { password: 'another password' }, elsewhere)).status, 403)
    assert.equal((await visitor.post(page, `${path}x`, { password: 'another password' })).status, 400)
    assert.equal((await visitor.post(page, path, { password: 'short' })).status, 400)
    assert.equal((await visitor.post(page, path, { password: 'another password' })).status, 200)
    assert.equal((await visitor.post(page, path, { password: 'a third password' })).status, 400)
    assert.equal((await signIn('another password')).status, 200)
    assert.equal((await app.call('orgs/list', {}, { token })).status, 401)
    assert.equal((await app.call('orgs/list', {}, { token: kept.secret })).status, 200)
    assert.ok(!app.logged().includes(secret))
    assert.ok(!post.received.some(({ to }) => to.includes('nobody@example.com')))
  })

  it('takes what somebody left in an account that they opened with the address of another', async () => {
    const { app, post } = world
    const email = 'victim@example.com'
    const { id } = await owner().members.invite({ orgSlug: 'owner', email })
    // Whoever has the link may sign up; that it is their address they have not shown.
    const squatter = await fetch(`${app.url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'trellis-invitation': id },
      body: JSON.stringify({ email, name: 'Eve', password: PASSWORD }),
    })
    const { token } = (await squatter.json()) as { token: string }
    const { secret } = await app.client(token).keys.create({ name: 'left', scopes: ['*', 'account'] })
    // As if their browser had made it.
    await app.database.transact((tx) =>
      sql`insert into passkeys (id, user_id, public_key, credential_id, counter, device_type, backed_up)
        select 'psk_1', id, 'x', 'x', 0, 'singleDevice', false from users where email = ${email}`.execute(tx),
    )
    const visitor = createVisitor(app)
    await visitor.post(await visitor.get('/forgot-password'), '/forgot-password', { email })
    const reset = pathOf((await post.letterTo(email, 2)).link)
    const page = await visitor.get(reset)
    assert.equal((await visitor.post(page, reset, { password: 'of the victim alone' })).status, 200)
    for (const left of [token, secret])
      assert.equal((await app.call('orgs/list', {}, { token: left })).status, 401)
    assert.deepEqual(await app.database.db.selectFrom('passkeys').select('id').execute(), [])
  })

  it('says of names what cannot be taken for more', async () => {
    const { post } = world
    const name = 'Win now! https://evil.example <b>x</b>'
    await owner().orgs.create({ slug: 'loud', name })
    await owner().members.invite({ orgSlug: 'loud', email: 'quiet@example.com' })
    const { source, to } = await post.letterTo('quiet@example.com')
    assert.deepEqual(to, ['quiet@example.com'])
    assert.doesNotMatch(unfolded(source), /evil\.example|<b>/)
    assert.match(source, /^Subject: You are invited to join Win now https evil example b x b\r$/m)
  })

  it('never leaves somebody without a link that works, however many others ask for one', async () => {
    const { app, post } = world
    const email = 'asked@example.com'
    const { id } = await owner().members.invite({ orgSlug: 'owner', email })
    const signedUp = await fetch(`${app.url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'trellis-invitation': id },
      body: JSON.stringify({ email, name: 'Asked', password: PASSWORD }),
    })
    assert.equal(signedUp.status, 200)
    const forgotten = () =>
      app.database.db
        .selectFrom('throttles')
        .select('count')
        .where('key', '=', `reset to ${email}`)
        .executeTakeFirst()
    const ask = () =>
      fetch(`${app.url}/api/auth/request-password-reset`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email }),
      })
    for (let n = 1; n <= 12; n++) assert.equal((await ask()).status, 200)
    await until(async () => (await forgotten())?.count === 12)
    // An invitation and a question whether the address is theirs came before.
    const { link } = await post.letterTo(email, 4)
    await until(async () => (await lettersLeft(app)) === 0)
    assert.equal(post.received.filter(({ to }) => to.includes(email)).length, 5)
    const visitor = createVisitor(app)
    const page = await visitor.get(pathOf(link))
    assert.equal((await visitor.post(page, pathOf(link), { password: 'another password' })).status, 200)
    // When the links are over, there are new ones.
    app.pass(3_600_000)
    await ask()
    await post.letterTo(email, 5)
  })

  it('is bounded for each who is written to', async () => {
    const invite = () =>
      world.app.call(
        'members/invite',
        { orgSlug: 'owner', email: 'flooded@example.com' },
        { token: world.app.ownerKey },
      )
    const answers = []
    for (let n = 0; n < 11; n++) answers.push((await invite()).body.mailed)
    // The link is still there to be handed over.
    assert.deepEqual(answers, [...Array(10).fill(true), false])
  })
})

onEachDatabase('mail that cannot be sent', (create) => {
  const letters = (app: TestApp) => app.database.db.selectFrom('letters').selectAll().execute()
  const invite = (app: TestApp, email: string) =>
    app.client(app.ownerKey).members.invite({ orgSlug: 'owner', email })

  it('waits, outlives the process, and is sent when the server for it is back', async () => {
    await using post = await startPostOffice()
    await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-mail-'))
    await using database = await create()
    const start = () => startTestApp(database, { ...post.env, TRELLIS_DATA: data.path })
    post.state.refuse = Object.assign(new Error('Come later'), { responseCode: 451 })
    {
      await using app = await start()
      await invite(app, 'guest@example.com')
      await until(async () => (await letters(app))[0]?.attempts === 1)
    }
    assert.equal(post.received.length, 0)
    post.state.refuse = undefined
    await using next = await start()
    next.pass(60_000)
    await post.letterTo('guest@example.com')
    await until(async () => (await letters(next)).length === 0)
  })

  it('says its password to no server that does not encrypt what it is told', async () => {
    await using post = await startPostOffice({ asksForPassword: true })
    await using database = await create()
    await using app = await startTestApp(database, {
      ...post.env,
      TRELLIS_SMTP_URL: `smtp://trellis:secret%20word@127.0.0.1:${post.port}`,
    })
    await invite(app, 'guest@example.com')
    await until(async () => (await letters(app))[0]?.attempts === 1)
    assert.deepEqual([post.state.passwords, post.received.length], [0, 0])
    assert.doesNotMatch(app.logged(), /secret.{1,3}word/)
    assert.match(app.logged(), /STARTTLS/)
  })

  it('is given up when there is nobody to have it, when it was tried often enough, and when its link is over', async () => {
    await using post = await startPostOffice()
    await using database = await create()
    await using app = await startTestApp(database, post.env)
    post.state.refuse = Object.assign(new Error('No such user'), { responseCode: 550 })
    await invite(app, 'none@example.com')
    await until(async () => post.state.tried === 1 && (await letters(app)).length === 0)

    post.state.refuse = Object.assign(new Error('Come later'), { responseCode: 451 })
    await invite(app, 'later@example.com')
    for (let attempts = 1; attempts <= 6; attempts++) {
      await until(async () => (await letters(app))[0]?.attempts === attempts)
      app.pass(6 * 3600_000 + 1000)
    }
    await until(async () => (await letters(app)).length === 0)
    assert.equal(post.state.tried, 8)

    await invite(app, 'over@example.com')
    await until(async () => (await letters(app))[0]?.attempts === 1)
    app.pass(8 * 86_400_000)
    await until(async () => (await letters(app)).length === 0)
    assert.equal(post.state.tried, 9)
    assert.equal(post.received.length, 0)
  })
})

describe('a name in a letter', () => {
  it('is one line of words', () => {
    const subjectOf = (org: string) =>
      invitationLetter({ to: 'a@example.com', org, inviter: 'Ana', url: '', endsAt: 0 }).subject
    const begin = 'You are invited to join '
    assert.equal(subjectOf('Ana\r\nBcc: eve@evil.example'), `${begin}Ana Bcc eve evil example`)
    assert.equal(subjectOf('Zoë & Søn'), `${begin}Zoë & Søn`)
    assert.equal(subjectOf('😀'), `${begin}somebody`)
    assert.equal(subjectOf('x'.repeat(100)), begin + 'x'.repeat(60))
  })
})

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await isSo()); await sleep(20))
    if (Date.now() > end) throw new Error('It did not come to that')
}

/** better-auth's own table, of which the rest of the server knows nothing. */
async function verificationsOf({ database: { db } }: TestApp): Promise<string> {
  const { rows } = await sql`select * from verifications`.execute(db)
  return JSON.stringify(rows)
}
