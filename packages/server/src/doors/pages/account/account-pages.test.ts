import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  codeFor,
  createSqlite,
  createVisitor,
  sessionCookieOf,
  useApp,
  wrongCodeFor,
} from '../../../testing/index.ts'

const password = 'correct horse battery'

const unescaped = (text: string) =>
  text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))

describe('pages of an account', () => {
  const app = useApp(createSqlite)

  async function visit(name: string) {
    const { email } = await app.signUp(name)
    return { email, visitor: createVisitor(app, await sessionCookieOf(app, email)) }
  }

  it('are for those who sign in, who come back to them', async () => {
    for (const path of ['/account/security', '/account/sessions']) {
      const { status, location } = await createVisitor(app).get(path)
      assert.deepEqual([status, location], [303, `/login?return_to=${encodeURIComponent(path)}`])
      const withKey = await createVisitor(app).get(path, { authorization: `Bearer ${app.ownerKey}` })
      assert.equal(withKey.status, 303)
    }
  })

  it('set up two-factor sign-in without JavaScript, and signing in asks for it', async () => {
    const { email, visitor } = await visit('ana')
    const path = '/account/security'
    const start = await visitor.get(path)
    const refused = await visitor.post(start, path, { action: 'begin', password: 'wrong password' })
    assert.match(refused.text, /role="alert">Invalid password/)
    const begun = await visitor.post(start, path, { action: 'begin', password })
    const secret = /class="key">([A-Z2-7]+)/.exec(begun.text)?.[1] ?? ''
    const uri = `otpauth://totp/x?secret=${secret}`
    assert.match(begun.text, /<svg class="qr" role="img"/)
    const codes = /<pre>([^<]+)/.exec(begun.text)?.[1]?.split('\n') ?? []
    assert.equal(codes.length, 10)

    const hidden = (name: string) =>
      unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(begun.text)?.[1] ?? '')
    const kept = { action: 'confirm', key: hidden('key'), backup: hidden('backup') }
    const wrong = await visitor.post(begun, path, { ...kept, code: wrongCodeFor(uri) })
    assert.match(wrong.text, /role="alert">Invalid code/)
    for (const shown of [/<svg class="qr".*<\/svg>/s, /<pre>[^<]+/, /class="key">[A-Z2-7]+/])
      assert.equal(shown.exec(wrong.text)?.[0], shown.exec(begun.text)?.[0])
    for (const key of ['', 'https://evil.example/', `otpauth://totp/${'x'.repeat(2000)}`]) {
      const odd = await visitor.post(begun, path, { action: 'confirm', key, code: wrongCodeFor(uri) })
      assert.deepEqual([odd.status, odd.text.includes('class="qr"')], [400, false])
    }
    const code = codeFor(uri)
    const confirmed = await visitor.post(wrong, path, {
      action: 'confirm',
      code: `${code.slice(0, 3)} ${code.slice(3)}`,
    })
    assert.deepEqual([confirmed.status, confirmed.location], [303, path])
    assert.match((await visitor.get(path)).text, /Turn off two-factor sign-in/)

    const other = createVisitor(app)
    const login = await other.get('/login?return_to=%2Faccount%2Fsessions')
    const credentials = { action: 'sign-in', email, password, return_to: '/account/sessions' }
    const mistyped = await other.post(login, '/login', { ...credentials, password: 'wrong password' })
    assert.match(mistyped.text, new RegExp(`name="email" value="${email}" autocomplete`))
    assert.doesNotMatch(mistyped.text, /wrong password/)
    const asked = await other.post(login, '/login', credentials)
    assert.equal(asked.location, '/login/code?return_to=%2Faccount%2Fsessions')
    assert.equal((await other.get('/account/sessions')).status, 303)
    const page = await other.get(asked.location ?? '')
    const fields = { return_to: '/account/sessions' }
    const again = await other.post(page, '/login/code', { ...fields, code: wrongCodeFor(uri) })
    assert.match(again.text, /role="alert"/)
    const passed = await other.post(again, '/login/code', { ...fields, code: codes[0] ?? '' })
    assert.deepEqual([passed.status, passed.location], [303, '/account/sessions'])
    assert.equal((await other.get('/account/sessions')).status, 200)
  })

  it('give new backup codes, and turn two-factor sign-in off', async () => {
    const { visitor } = await visit('bob')
    const path = '/account/security'
    const begun = await visitor.post(await visitor.get(path), path, { action: 'begin', password })
    const uri = `otpauth://totp/x?secret=${/class="key">([A-Z2-7]+)/.exec(begun.text)?.[1]}`
    await visitor.post(begun, path, { action: 'confirm', code: codeFor(uri) })
    const page = await visitor.get(path)
    const renewed = await visitor.post(page, path, { action: 'codes', password })
    assert.equal(/<pre>([^<]+)/.exec(renewed.text)?.[1]?.split('\n').length, 10)
    const off = await visitor.post(page, path, { action: 'off', password })
    assert.equal(off.status, 303)
    assert.match((await visitor.get(path)).text, /Set up an authenticator app/)
  })

  it('say that a sign-in is over that waited too long', async () => {
    const stranger = createVisitor(app)
    const page = await stranger.get('/login/code')
    const over = await stranger.post(page, '/login/code', { code: '123456' })
    assert.equal(over.status, 401)
    assert.match(over.text, /Sign in again/)
  })

  it('list sessions with what a person knows them by, and end them', async () => {
    const { email, visitor } = await visit('cleo')
    const path = '/account/sessions'
    const phone = createVisitor(app)
    const login = await phone.get('/login')
    const agent = { 'user-agent': 'A phone <b>of mine</b>' }
    await phone.post(login, '/login', { action: 'sign-in', email, password }, agent)
    assert.equal((await phone.get(path)).status, 200)

    const page = await visitor.get(path)
    assert.match(unescaped(page.text), /A phone <b>of mine<\/b>/)
    assert.doesNotMatch(page.text, /<b>/)
    assert.match(page.text, /from 127\.0\.0\.1, this one/)
    const id = /A phone.*?name="id" value="(ses_\w+)"/s.exec(page.text)?.[1] ?? ''
    const stranger = await visit('dan')
    await stranger.visitor.post(await stranger.visitor.get(path), path, { id })
    assert.equal((await phone.get(path)).status, 200)
    assert.equal((await visitor.post(page, path, { id })).location, path)
    assert.equal((await phone.get(path)).status, 303)

    const firefox = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0' }
    const desk = createVisitor(app)
    await desk.post(await desk.get('/login'), '/login', { action: 'sign-in', email, password }, firefox)
    assert.match((await visitor.get(path)).text, /<strong>Firefox on Linux<\/strong>/)

    const token = await sessionCookieOf(app, email)
    await visitor.post(page, path, { all: '1' })
    assert.equal((await createVisitor(app, token).get(path)).status, 303)
    assert.equal((await visitor.get(path)).status, 200)
  })

  it('take no form of another site', async () => {
    const { visitor } = await visit('eve')
    for (const path of ['/account/security', '/account/sessions', '/login/code']) {
      const page = await visitor.get(path)
      assert.equal((await visitor.post({ text: '' }, path, { all: '1' })).status, 403)
      const elsewhere = { origin: 'https://elsewhere.example' }
      assert.equal((await visitor.post(page, path, { all: '1' }, elsewhere)).status, 403)
    }
  })
})
