import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSqlite, type Person, registerAgent, useApp, wrongCode } from '@trellis/server/testing'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, noBrowserHere } from './browser.ts'

const PASSWORD = 'correct horse battery'
const TIMEOUT_MS = 60_000
/** Set it to look at the pages afterwards. */
const screenshots = process.env.TEST_SCREENSHOTS

describe('in a browser', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const app = useApp(createSqlite)
  let browser: Browser
  let ana: Person
  let bob: Person
  /** Another site, with one page that a test fills. */
  let elsewhere: Server
  let hostilePage = ''

  before(async () => {
    ;[ana, bob] = [await app.signUp('ana'), await app.signUp('bob')]
    browser = await launchBrowser()
    elsewhere = createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(hostilePage),
    )
    await new Promise<void>((ready) => elsewhere.listen(0, ready))
  })
  after(async () => {
    await browser?.close()
    elsewhere.close()
  })

  async function open(javaScriptEnabled = true): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled })
    context.setDefaultTimeout(TIMEOUT_MS)
    return context.newPage()
  }

  async function signIn(page: Page, { email }: { email: string }): Promise<void> {
    const form = page.locator('form', { has: page.locator('input[value="sign-in"]') })
    await form.getByLabel('Email').fill(email)
    await form.getByLabel('Password').fill(PASSWORD)
    await form.getByRole('button').click()
  }

  async function typeCode(page: Page, code: string): Promise<void> {
    await page.getByLabel(/six-digit code/).fill(code)
    await page.getByRole('button', { name: 'Claim this agent' }).click()
  }

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()
  const keep = async (page: Page, name: string) => {
    if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
  }

  for (const javaScript of [false, true])
    it(`a person signs in and claims an agent ${javaScript ? 'with' : 'without'} JavaScript`, async () => {
      const agent = await registerAgent(app)
      const { ceremony } = await agent.startClaim(ana.email)
      const page = await open(javaScript)
      await page.goto(ceremony.verification_uri)
      assert.equal(await heading(page), 'Sign in')
      await keep(page, 'login')
      await signIn(page, ana)
      assert.equal(await heading(page), 'An agent asks you to claim it')
      assert.ok(await page.getByText('Only go on if you started this agent').isVisible())
      await keep(page, 'claim')
      await typeCode(page, wrongCode(ceremony.user_code))
      assert.match((await page.getByRole('alert').textContent()) ?? '', /does not match/)
      await keep(page, 'wrong-code')
      await typeCode(page, ceremony.user_code)
      assert.equal(await heading(page), 'Claimed')
      await keep(page, 'claimed')
      assert.ok((await agent.poll()).body.access_token)
      await page.goto(ceremony.verification_uri)
      assert.equal(await heading(page), 'Already claimed')
    })

  it('somebody new signs up on the way to the claim', async () => {
    const agent = await registerAgent(app)
    const { ceremony } = await agent.startClaim('new@example.com')
    const page = await open(false)
    await page.goto(ceremony.verification_uri)
    const form = page.locator('form', { has: page.locator('input[value="sign-up"]') })
    await form.getByLabel('Name').fill('New <b>person</b>')
    await form.getByLabel('Email').fill('New@Example.com')
    await form.getByLabel('Password').fill(PASSWORD)
    await form.getByRole('button').click()
    await typeCode(page, ceremony.user_code)
    assert.equal(await heading(page), 'Claimed')
  })

  it('somebody signed in with another account is told whom the agent asked for, and can change', async () => {
    const agent = await registerAgent(app)
    const { ceremony } = await agent.startClaim(bob.email)
    const page = await open(false)
    await page.goto(`${app.url}/login`)
    await signIn(page, ana)
    await page.goto(ceremony.verification_uri)
    assert.ok(await page.getByText(`It asked for ${bob.email}`).isVisible())
    await page.getByRole('link', { name: 'sign in with that account' }).click()
    await signIn(page, bob)
    await typeCode(page, ceremony.user_code)
    assert.equal(await heading(page), 'Claimed')
  })

  it('an invite shows a button first, and the command to clone after it', async () => {
    const invite = await app
      .client()
      .invites.createAnonymous({ name: 'sketch', scope: 'write', maxReveals: 1 })
    const page = await open(false)
    await page.goto(invite.url)
    await page.reload()
    assert.equal(await heading(page), 'Take a clone of sketch')
    await keep(page, 'invite')
    await page.getByRole('button').click()
    assert.match((await page.locator('pre').first().textContent()) ?? '', /^git clone http.* sketch$/)
    await keep(page, 'revealed')
    await page.goto(invite.url)
    assert.equal(await heading(page), 'Invite is no longer available')
  })

  it('no other site can show our pages in a frame', async () => {
    const invite = await app.client().invites.createAnonymous({ name: 'framed' })
    const page = await open()
    for (const url of [`${app.url}/login`, `${app.url}/claim?claim_attempt_token=x`, invite.url]) {
      hostilePage = `<iframe src="${url}"></iframe>`
      await page.goto(hostileUrl(), { waitUntil: 'load' })
      const frame = page.frames()[1]
      assert.ok(!(await frame?.content())?.includes('Trellis'), url)
    }
  })

  it('no other site can send our forms, neither to sign somebody in nor to claim for them', async () => {
    const agent = await registerAgent(app)
    const { ceremony, attemptToken } = await agent.startClaim(ana.email)
    const page = await open()
    await page.goto(`${app.url}/login`)
    const token = await page.locator('input[name=form_token]').first().inputValue()
    const posted = async (action: string, fields: Record<string, string>) => {
      const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`)
      hostilePage = `<form method="post" action="${app.url}${action}">${inputs.join('')}</form>
        <script>document.forms[0].submit()</script>`
      const answer = page.waitForResponse((response) => response.request().method() === 'POST')
      await page.goto(hostileUrl()).catch(() => {})
      return (await answer).status()
    }
    const account = { action: 'sign-in', email: bob.email, password: PASSWORD, form_token: token }
    assert.equal(await posted('/login', account), 403)
    assert.ok(!(await page.context().cookies()).some(({ name }) => name.includes('session')))

    await page.goto(`${app.url}/login`)
    await signIn(page, ana)
    const claim = { claim_attempt_token: attemptToken, user_code: ceremony.user_code, form_token: token }
    assert.equal(await posted('/claim', claim), 403)
    assert.equal((await agent.poll()).body.error, 'authorization_pending')
    // Nor can a script of theirs use the session.
    hostilePage = ''
    await page.goto(hostileUrl())
    const outcome = await page.evaluate(
      (url) =>
        fetch(url, {
          method: 'POST',
          credentials: 'include',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        }).then(
          (response) => response.status,
          () => 'refused',
        ),
      `${app.url}/api/v1/keys/list`,
    )
    assert.equal(outcome, 'refused')
  })

  const hostileUrl = () => `http://localhost:${(elsewhere.address() as AddressInfo).port}/`
})
