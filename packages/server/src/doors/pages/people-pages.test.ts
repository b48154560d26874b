import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { before, describe, it } from 'node:test'
import {
  createSqlite,
  createVisitor,
  type Person,
  registerAgent,
  sendRaw,
  sessionCookieOf,
  startTestApp,
  useApp,
} from '../../testing/index.ts'
import { localPath } from './login.ts'

const PASSWORD = 'correct horse battery'

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((ready) => probe.listen(0, '127.0.0.1', ready))
  const { port } = probe.address() as AddressInfo
  await new Promise((closed) => probe.close(closed))
  return port
}

describe('pages for people', () => {
  const app = useApp(createSqlite, {
    TRELLIS_TRUSTED_PROXIES: '127.0.0.1',
    TRELLIS_RATE_PER_SECOND: '1',
    TRELLIS_RATE_BURST: '200',
  })
  let ana: Person

  before(async () => {
    ana = await app.signUp('ana')
  })

  const credentials = { action: 'sign-in', email: 'Ana@Example.com', password: PASSWORD }

  it('cannot be framed, run no scripts but ours, are not kept, and tell no other site where somebody was', async () => {
    const { url } = await app.client().invites.createAnonymous({ name: 'looked-at' })
    for (const path of ['/login', '/claim', url, '/invites/none']) {
      const { headers } = await createVisitor(app).get(path)
      const isPage = headers.get('content-type')?.startsWith('text/html')
      assert.equal(headers.get('x-frame-options'), 'DENY')
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('cache-control'), 'no-store')
      // Under no-referrer browsers send Origin: null with our own forms.
      assert.equal(headers.get('referrer-policy'), isPage ? 'same-origin' : 'no-referrer')
    }
  })

  describe('signing in', () => {
    it('sets cookies that scripts and other sites cannot use, and goes where the person was going', async () => {
      const visitor = createVisitor(app)
      const page = await visitor.get('/login?return_to=%2Fclaim%3Fclaim_attempt_token%3Dx')
      assert.match(
        page.headers.getSetCookie()[0] ?? '',
        /^trellis\.form=[\w-]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Strict$/,
      )
      const { status, location, headers } = await visitor.post(page, '/login', {
        ...credentials,
        return_to: '/claim?claim_attempt_token=x',
      })
      assert.deepEqual([status, location], [303, '/claim?claim_attempt_token=x'])
      const session = headers.getSetCookie().find((line) => line.startsWith('trellis.session_token='))
      assert.match(session ?? '', /HttpOnly/)
      assert.match(session ?? '', /SameSite=Lax/)
      assert.equal((await visitor.get('/login?return_to=%2Freference')).location, '/reference')
    })

    it('marks all cookies secure, and ours as bound to this host, when it is reached over https', async () => {
      await using fresh = await createSqlite()
      const port = await freePort()
      await using secure = await startTestApp(fresh, {
        TRELLIS_BASE_URL: 'https://git.example',
        TRELLIS_LISTEN: `127.0.0.1:${port}`,
      })
      // As a proxy reaches it.
      const behindProxy = { url: `http://127.0.0.1:${port}` }
      const visitor = createVisitor(behindProxy)
      const page = await visitor.get('/login')
      assert.match(page.headers.getSetCookie()[0] ?? '', /^__Host-trellis\.form=.*; Path=\/; .*Secure$/)
      const fields = { action: 'sign-up', name: 'Ana', email: 'ana@example.com', password: PASSWORD }
      const { status, headers } = await visitor.post(page, '/login', fields, { origin: secure.url })
      assert.equal(status, 303)
      const session = headers.getSetCookie().find((line) => line.includes('session_token'))
      assert.match(session ?? '', /^__Secure-.*Secure/)
      assert.equal((await visitor.get('/login?return_to=%2Freference')).location, '/reference')
      const made = await fetch(`${behindProxy.url}/api/v1/invites/createAnonymous`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"sketch"}',
      })
      assert.match(made.headers.getSetCookie()[0] ?? '', /^__Host-trellis\.anonymous=.*Secure$/)
    })

    it('never sends anybody to another site', async () => {
      const elsewhere = [
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        '\\/evil.example',
        '/\t/evil.example',
        '/\n/evil.example',
        '///evil.example',
        'javascript:alert(1)',
        ' /x',
        '/x\r\nset-cookie: a=b',
        '/☃',
        '/\u0000',
        '/\ud800',
        '',
      ]
      const session = await sessionCookieOf(app, ana.email)
      for (const target of elsewhere) {
        const query = `/login?return_to=${encodeURIComponent(target.toWellFormed())}`
        const { status, location, headers } = await createVisitor(app, session).get(query)
        assert.deepEqual([status, location], [303, '/'], JSON.stringify(target))
        assert.equal(headers.get('set-cookie'), null)
      }
      for (const path of ['/', '/claim?a=b&c=%20', "/x'y(z)*!~"]) assert.equal(localPath(path), path)
      assert.equal(localPath(null), '/')
      const visitor = createVisitor(app)
      const page = await visitor.get('/login')
      assert.match(page.text, /Trellis<\/a>[\s\S]*Forgot your password\? Ask whoever runs this server/)
      const fields = { ...credentials, return_to: '//evil.example' }
      assert.equal((await visitor.post(page, '/login', fields)).location, '/')
    })

    it('says the same whether the account exists or the password is wrong', async () => {
      const tries = [
        { email: ana.email, password: 'not the password' },
        { email: 'none@example.com', password: PASSWORD },
      ]
      const answers = []
      for (const fields of tries) {
        const visitor = createVisitor(app)
        const page = await visitor.get('/login')
        const { status, text, headers } = await visitor.post(page, '/login', { action: 'sign-in', ...fields })
        assert.ok(!headers.getSetCookie().some((line) => line.includes('session')))
        // Only what they typed themselves.
        const same = text.replace(/name="form_token" value="[^"]*"/g, '').replaceAll(fields.email, '')
        answers.push({ status, text: same })
      }
      assert.equal(answers[0]?.status, 400)
      assert.deepEqual(answers[0], answers[1])
    })

    it('is refused to a form that does not come from our page', async () => {
      const visitor = createVisitor(app)
      const page = await visitor.get('/login')
      const other = createVisitor(app)
      await other.get('/login')
      const refused = [
        await visitor.post({ text: '' }, '/login', credentials),
        await visitor.post(page, '/login', credentials, { origin: 'https://evil.example' }),
        await visitor.post(page, '/login', credentials, { origin: 'null' }),
        await visitor.post(page, '/login', credentials, { origin: app.url, 'sec-fetch-site': 'cross-site' }),
        await visitor.post(page, '/login', credentials, { 'sec-fetch-site': 'same-site' }),
        // A token of somebody else's page, and one without the cookie it was made from.
        await other.post(page, '/login', credentials),
        await createVisitor(app).post(page, '/login', credentials),
        await visitor.post(page, '/login', { ...credentials, form_token: 'x'.repeat(43) }),
      ]
      for (const { status, text } of refused) {
        assert.equal(status, 403)
        assert.equal(JSON.parse(text).code, 'FORM_REFUSED')
      }
      assert.equal((await visitor.post(page, '/login', credentials, { origin: app.url })).status, 303)
    })

    it('gives a new session, whatever cookie somebody came with', async () => {
      const planted = 'planted-by-somebody-else.signature'
      const visitor = createVisitor(app, `trellis.session_token=${planted}`)
      const page = await visitor.get('/login')
      assert.equal(page.status, 200)
      await visitor.post(page, '/login', credentials)
      assert.notEqual(visitor.jar.get('trellis.session_token'), planted)
    })

    it('shows what was typed as text, never as markup', async () => {
      const visitor = createVisitor(app)
      const returnTo = '/x?"><script>alert(1)</script>'
      const page = await visitor.get(`/login?return_to=${encodeURIComponent(returnTo)}`)
      assert.ok(!page.text.includes('<script>'))
      const fields = { action: 'sign-up', name: '', email: '"><img src=x>', password: PASSWORD }
      const answer = await visitor.post(page, '/login', fields)
      assert.equal(answer.status, 400)
      assert.ok(!answer.text.includes('<img'))
    })

    it('counts tries by address, like every other page', async () => {
      const headers = { 'x-forwarded-for': '203.0.113.9' }
      // Each second gives one more, and a slow machine takes some for this.
      const isRefused = async (path: string, tries: number) => {
        const asked = Array.from({ length: tries }, () => createVisitor(app).get(path, headers))
        return (await Promise.all(asked)).some(({ status }) => status === 429)
      }
      assert.ok(await isRefused('/login', 300))
      assert.ok(await isRefused('/claim', 50))
      for (const path of ['/invites/none', '/login/code', '/account/security'])
        assert.ok(await isRefused(path, 50), path)
      assert.equal((await createVisitor(app).get('/login')).status, 200)
    })
  })

  describe('the claim page', () => {
    it('sends who is not signed in to sign in, also one with a key', async () => {
      const { location, status } = await createVisitor(app).get('/claim?claim_attempt_token=cvt_x')
      assert.deepEqual([status, location], [303, '/login?return_to=%2Fclaim%3Fclaim_attempt_token%3Dcvt_x'])
      const { secret } = await app.client(ana.token).keys.create({ name: 'key' })
      const withKey = await createVisitor(app).get('/claim?claim_attempt_token=cvt_x', {
        authorization: `Bearer ${secret}`,
      })
      assert.equal(withKey.status, 303)
    })

    it('claims with the code alone, and only when its own form is sent', async () => {
      const agent = await registerAgent(app)
      const { attemptToken, ceremony } = await agent.startClaim(ana.email)
      const visitor = createVisitor(app, await sessionCookieOf(app, ana.email))
      const page = await visitor.get(`/claim?claim_attempt_token=${attemptToken}`)
      assert.equal(page.status, 200)
      assert.ok(!page.text.includes(ceremony.user_code))
      const fields = { claim_attempt_token: attemptToken, user_code: ceremony.user_code }
      assert.equal((await visitor.post({ text: '' }, '/claim', fields)).status, 403)
      const wrong = await visitor.post(page, '/claim', { ...fields, user_code: '12345' })
      assert.equal(wrong.status, 422)
      const spaced = await visitor.post(page, '/claim', { ...fields, user_code: ` ${ceremony.user_code} ` })
      assert.equal(spaced.status, 200)
      assert.match(spaced.text, /The agent is yours/)
      assert.equal((await visitor.post(page, '/claim', fields)).status, 410)
    })

    it('tells in words what stands in the way', async () => {
      const visitor = createVisitor(app, await sessionCookieOf(app, ana.email))
      const at = (token: string) => visitor.get(`/claim?claim_attempt_token=${token}`)
      assert.equal((await at('cvt_none')).status, 404)
      assert.equal((await at('%00')).status, 404)
      const agent = await registerAgent(app)
      const others = await agent.startClaim('somebody+else@example.com')
      const wrongAccount = await at(others.attemptToken)
      assert.equal(wrongAccount.status, 403)
      assert.match(wrongAccount.text, /somebody\+else@example\.com/)
      const mine = await agent.startClaim(ana.email)
      app.pass(10 * 60_000)
      assert.match((await at(mine.attemptToken)).text, /The code has expired/)
      app.pass(24 * 60 * 60_000)
      assert.match((await at(mine.attemptToken)).text, /Too late/)
    })
  })

  describe("an invite's address", () => {
    it('shows a page, Markdown or JSON as asked for, and never counts', async () => {
      const invite = await app
        .client()
        .invites.createAnonymous({ name: 'previewed', scope: 'write', maxReveals: 1 })
      const kinds: [string | undefined, string][] = [
        ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
        [undefined, 'text/html'],
        ['text/markdown', 'text/markdown'],
        ['text/markdown, text/html;q=0.5', 'text/markdown'],
        ['application/json', 'application/json'],
      ]
      for (const [accept, type] of kinds)
        for (const method of ['GET', 'HEAD']) {
          const answer = await fetch(invite.url, { method, headers: accept === undefined ? {} : { accept } })
          assert.equal(answer.status, 200)
          assert.ok(answer.headers.get('content-type')?.startsWith(type), `${accept} gives ${type}`)
          assert.equal(answer.headers.get('cache-control'), 'no-store')
          assert.doesNotMatch(await answer.text(), /trt_/)
        }
      const json = await fetch(invite.url, { headers: { accept: 'application/json' } })
      assert.deepEqual(await json.json(), {
        repo: 'previewed',
        scope: 'write',
        expiresAt: invite.expiresAt,
        reveal: { method: 'POST', url: `${app.url}/api/v1/invites/reveal`, body: { id: invite.id } },
      })
      assert.equal((await app.client().invites.reveal({ id: invite.id })).repo, 'previewed')
      const gone = await fetch(invite.url, { headers: { accept: 'application/json' } })
      assert.equal(gone.status, 410)
      assert.equal(((await gone.json()) as { data: { reason: string } }).data.reason, 'exhausted')
      assert.equal((await fetch(invite.url)).status, 410)
    })

    it('is had without an account, and the repository is kept by whoever signs in then', async () => {
      const visitor = createVisitor(app)
      assert.match((await visitor.get('/login')).text, /href="\/invites">Try it without an account/)
      const page = await visitor.get('/invites')
      const make = (name: string) => visitor.post(page, '/invites', { name })
      assert.equal((await createVisitor(app).post(page, '/invites', { name: 'sketch' })).status, 403)
      const wrong = await make('<Sketch>')
      assert.deepEqual([wrong.status, wrong.text.includes('<Sketch>')], [400, false])
      assert.match(wrong.text, /Use lowercase letters[\s\S]*value="[^"]*Sketch/)
      const { status, location } = await make('sketch')
      assert.equal(status, 303)
      const invite = location ?? ''
      assert.match((await visitor.get(invite)).text, /<strong>sketch<\/strong> is there until/)
      const taken = await visitor.post(page, invite.replace(/\?.*/, ''), {})
      assert.match(taken.text, /git clone .*\/sketch\.git/)

      const keeper = await app.signUp('keeper')
      await visitor.post(await visitor.get('/login'), '/login', { ...credentials, email: keeper.email })
      assert.equal((await visitor.get('/invites')).status, 303)
      const { items } = await app.client(keeper.token).orgs.list({})
      const kept = items.find(({ slug }) => slug !== keeper.slug)?.slug ?? ''
      assert.equal((await app.client(keeper.token, kept).repos.get({ name: 'sketch' })).name, 'sketch')
    })

    it('answers every address that leads nowhere alike', async () => {
      for (const path of [
        '/invites/none',
        `/invites/${'x'.repeat(36)}`,
        '/invites/%00',
        '/invites/a/b',
        '/invites/',
      ])
        for (const accept of ['text/html', 'application/json']) {
          const answer = await fetch(`${app.url}${path}`, { headers: { accept } })
          assert.equal(answer.status, 404, path)
        }
    })

    it('takes no header from what it is asked for', async () => {
      const answer = await sendRaw(
        app.url,
        'GET /invites/x%0d%0aset-cookie:a=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      )
      assert.doesNotMatch(answer, /^set-cookie:/im)
    })
  })
})
