import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { codeFor, createSqlite, startTestApp, type TestApp, useInSuite } from '@trellis/server/testing'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, noBrowserHere } from './browser.ts'
import { type FakeGitHub, startGitHub } from './github.ts'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'

const TIMEOUT_MS = 30_000
const CLIENT = { id: 'trellis', secret: 'a secret of both' }

describe('signing in with a provider', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const world: { app: TestApp; openId: OpenIdProvider; gitHub: FakeGitHub } = useInSuite(async (made) => {
    const openId = made.use(await startOpenIdProvider(CLIENT))
    const gitHub = made.use(await startGitHub(CLIENT))
    const app = made.use(
      await startTestApp(made.use(await createSqlite()), {
        TRELLIS_LISTEN: 'localhost:0',
        TRELLIS_OIDC_ISSUER: openId.issuer,
        TRELLIS_OIDC_NAME: 'Elsewhere',
        TRELLIS_OIDC_CLIENT_ID: CLIENT.id,
        TRELLIS_OIDC_CLIENT_SECRET: CLIENT.secret,
        TRELLIS_GITHUB_URL: gitHub.url,
        TRELLIS_GITHUB_CLIENT_ID: CLIENT.id,
        TRELLIS_GITHUB_CLIENT_SECRET: CLIENT.secret,
      }),
    )
    openId.register(`${app.url}/api/auth/callback/oidc`)
    return { app, openId, gitHub }
  })
  let browser: Browser
  before(async () => {
    browser = await launchBrowser()
  })
  after(() => browser?.close())

  async function open(path: string): Promise<Page> {
    const context = await browser.newContext()
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    await page.goto(world.app.url + path)
    return page
  }

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()
  const people = () => world.app.database.db.selectFrom('users').selectAll().execute()
  const personAt = async (email: string) => (await people()).find((person) => person.email === email)

  /** From a page of ours to the provider, and back. */
  async function comeFromElsewhere(page: Page, address: string): Promise<void> {
    await page.getByRole('link', { name: 'Sign in with Elsewhere' }).click()
    await page.getByLabel('Address').fill(address)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.waitForURL(`${world.app.url}/**`)
  }

  async function comeFromGitHub(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Sign in with GitHub' }).click()
    await page.getByRole('link', { name: /^Authorize/ }).click()
    await page.waitForURL(`${world.app.url}/**`)
  }

  /** On the page of somebody who has no password, and is asked for none. */
  async function turnOnSecondFactor(page: Page): Promise<() => string> {
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
    const key = (await page.locator('code.key').textContent()) ?? ''
    const code = () => codeFor(`otpauth://totp/x?secret=${key}`)
    await page.getByLabel('The six digits your app shows').fill(code())
    await page.getByRole('button', { name: 'Turn on two-factor sign-in' }).click()
    await page.getByRole('button', { name: 'Turn off two-factor sign-in' }).waitFor()
    return code
  }

  async function passSecondFactor(page: Page, code: string): Promise<void> {
    assert.equal(await heading(page), 'Your second factor')
    const cookies = await page.context().cookies(world.app.url)
    assert.ok(!cookies.some(({ name, value }) => name.endsWith('session_token') && value !== ''))
    await page.getByLabel(/authenticator app/).fill(code)
    await page.getByRole('button', { name: 'Go on' }).click()
  }

  it('of OpenID makes an account, and knows its person again', async () => {
    const address = 'ana@elsewhere.example'
    for (let visit = 0; visit < 2; visit++) {
      const page = await open('/account/sessions')
      assert.equal(await heading(page), 'Sign in')
      await comeFromElsewhere(page, address)
      assert.equal(await heading(page), 'Where you are signed in')
      assert.equal(new URL(page.url()).pathname, '/account/sessions')
      await page.context().close()
    }
    const found = (await people()).filter(({ email }) => email === address)
    assert.deepEqual(
      [found.length, found[0]?.name, Boolean(found[0]?.email_verified)],
      [1, 'Somebody from elsewhere', true],
    )
    const accounts = await world.app.database.db
      .selectFrom('accounts')
      .select(['provider_id', 'account_id'])
      .where('user_id', '=', found[0]?.id ?? '')
      .execute()
    assert.deepEqual(accounts, [{ provider_id: 'oidc', account_id: address }])
  })

  it('of OpenID is no way around the second factor', async () => {
    const address = 'bob@elsewhere.example'
    const page = await open('/account/security')
    await comeFromElsewhere(page, address)
    const code = await turnOnSecondFactor(page)
    await page.context().clearCookies()
    await page.goto(`${world.app.url}/account/sessions`)
    await comeFromElsewhere(page, address)
    await passSecondFactor(page, code())
    assert.equal(await heading(page), 'Where you are signed in')
  })

  it('of OpenID gives nobody the account of another, and says so', async () => {
    const { email } = await world.app.signUp('unverified-cleo')
    const page = await open('/login')
    await comeFromElsewhere(page, email)
    assert.match((await page.getByRole('alert').textContent()) ?? '', /account with this address already/)
    await page.goto(`${world.app.url}/account/sessions`)
    assert.equal(await heading(page), 'Sign in')
  })

  it('becomes another way into the account somebody has, until it is unlinked', async () => {
    const { email } = await world.app.signUp('emma')
    const page = await open('/login?return_to=%2Faccount%2Fsecurity')
    const form = page.locator('form', { has: page.locator('input[value="sign-in"]') })
    await form.getByLabel('Email').fill(email)
    await form.getByLabel('Password').fill('correct horse battery')
    await form.getByRole('button').click()
    await page.getByRole('link', { name: 'Link Elsewhere' }).click()
    await page.getByLabel('Address').fill(email)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('button', { name: 'Unlink Elsewhere' }).click()
    await page.getByRole('link', { name: 'Link Elsewhere' }).waitFor()
  })

  it('can be refused there', async () => {
    const page = await open('/login')
    await page.getByRole('link', { name: 'Sign in with Elsewhere' }).click()
    await page.getByRole('button', { name: 'Refuse' }).click()
    assert.match((await page.getByRole('alert').textContent()) ?? '', /did not allow/)
    world.gitHub.user = undefined
    await comeFromGitHub(page)
    assert.match((await page.getByRole('alert').textContent()) ?? '', /did not allow/)
  })

  it('is begun by no other site', async () => {
    const page = await open('/login')
    const href = await page.getByRole('link', { name: 'Sign in with GitHub' }).getAttribute('href')
    await page.goto('about:blank')
    const answer = await fetch(new URL(href ?? '', world.app.url), {
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    assert.match(answer.headers.get('location') ?? '', /^\/login\?/)
  })

  it('such as GitHub tells the primary address, and is asked for the second factor too', async () => {
    const primary = { email: 'dan@example.org', primary: true, verified: true, visibility: 'private' }
    const other = { email: 'dan@users.example', primary: false, verified: true, visibility: null }
    world.gitHub.user = { id: 4711, login: 'dan', name: null, emails: [other, primary] }
    const page = await open('/account/security')
    await comeFromGitHub(page)
    assert.equal(await heading(page), 'Sign-in and security')
    assert.equal((await personAt('dan@example.org'))?.name, 'dan')
    assert.equal(await personAt('dan@users.example'), undefined)
    const code = await turnOnSecondFactor(page)
    await page.context().clearCookies()
    // By its number there, whatever the person is called now.
    world.gitHub.user = {
      id: 4711,
      login: 'danny',
      name: 'Danny',
      emails: [{ ...primary, email: 'danny@example.org' }],
    }
    await page.goto(`${world.app.url}/account/sessions`)
    await comeFromGitHub(page)
    await passSecondFactor(page, code())
    assert.equal(await heading(page), 'Where you are signed in')
    assert.equal(await personAt('danny@example.org'), undefined)
  })
})
