import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { codeFor, createSqlite, useApp } from '@trellis/server/testing'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchBrowser, noBrowserHere } from './browser.ts'

const PASSWORD = 'correct horse battery'
const TIMEOUT_MS = 30_000

describe('signing in with a browser', { skip: noBrowserHere, timeout: 300_000 }, () => {
  // Browsers make passkeys for names, and this one needs no certificate.
  const app = useApp(createSqlite, { TRELLIS_LISTEN: 'localhost:0' })
  let browser: Browser

  before(async () => {
    browser = await launchBrowser()
  })
  after(() => browser?.close())

  async function open(): Promise<Page> {
    const context = await browser.newContext()
    context.setDefaultTimeout(TIMEOUT_MS)
    return context.newPage()
  }

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()

  /** A device that holds passkeys; with a finger on it, or without. */
  async function plugIn(page: Page, { verifies = true } = {}) {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: verifies,
        isUserVerified: verifies,
        automaticPresenceSimulation: true,
      },
    })
    return {
      keys: async () =>
        (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
      /** From now on it does not make sure who is there. */
      forgetPerson: () =>
        devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false }),
    }
  }

  async function signIn(page: Page, email: string, returnTo: string): Promise<void> {
    await page.goto(`${app.url}/login?return_to=${encodeURIComponent(returnTo)}`)
    const form = page.locator('form', { has: page.locator('input[value="sign-in"]') })
    await form.getByLabel('Email').fill(email)
    await form.getByLabel('Password').fill(PASSWORD)
    await form.getByRole('button').click()
  }

  const signedIn = async (context: BrowserContext) =>
    (await context.cookies()).some(({ name, value }) => name.endsWith('session_token') && value !== '')

  it('a passkey is added, signs in by itself, also where two factors are asked for, and is removed', async () => {
    const { email } = await app.signUp('ana')
    const page = await open()
    const device = await plugIn(page)
    await signIn(page, email, '/account/security')
    await page.getByLabel('What to call it').fill('My <b>laptop</b>')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('My <b>laptop</b>').waitFor()
    assert.equal(await device.keys(), 1)

    await page.getByLabel('Your password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
    const key = (await page.locator('code.key').textContent()) ?? ''
    assert.ok(await page.getByRole('img', { name: 'QR code of the key' }).isVisible())
    await page.getByLabel('The six digits your app shows').fill(codeFor(`otpauth://totp/x?secret=${key}`))
    await page.getByRole('button', { name: 'Turn on two-factor sign-in' }).click()
    await page.getByRole('button', { name: 'Turn off two-factor sign-in' }).waitFor()

    await page.context().clearCookies()
    await signIn(page, email, '/account/sessions')
    assert.equal(await heading(page), 'Your second factor')
    assert.equal(await signedIn(page.context()), false)
    await page.getByRole('link', { name: 'Sign in in another way' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL('**/account/sessions')
    assert.equal(await heading(page), 'Where you are signed in')

    await page.goto(`${app.url}/account/security`)
    await page.getByRole('button', { name: 'Remove: My <b>laptop</b>' }).click()
    await page.getByText('My <b>laptop</b>').waitFor({ state: 'detached' })
    await page.context().clearCookies()
    await page.goto(`${app.url}/login`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('alert').waitFor()
    assert.equal(await signedIn(page.context()), false)
  })

  it('a device that does not make sure who is there lets nobody in', async () => {
    const { email } = await app.signUp('bob')
    const page = await open()
    const device = await plugIn(page)
    await signIn(page, email, '/account/security')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: /^Remove/ }).waitFor()
    await page.context().clearCookies()
    await device.forgetPerson()
    // As a script would that asks the device for less than our page does.
    await page.goto(`${app.url}/login`)
    const status = await page.evaluate(`(async () => {
      const options = await (await fetch('/api/auth/passkey/generate-authenticate-options')).json()
      const given = { ...options, userVerification: 'discouraged' }
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(given)
      const credential = await navigator.credentials.get({ publicKey })
      const answer = await fetch('/api/auth/passkey/verify-authentication', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ response: credential.toJSON() }),
      })
      return answer.status + ' ' + (await answer.json()).code
    })()`)
    assert.equal(status, '400 USER_NOT_VERIFIED')
    assert.equal(await signedIn(page.context()), false)
  })
})
