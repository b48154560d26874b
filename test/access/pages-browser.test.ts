import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { codeFor, createSqlite, registerAgent, useApp, wrongCode } from '@trellis/server/testing'
import axe from 'axe-core'
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, noBrowserHere } from './browser.ts'

const PASSWORD = 'correct horse battery'
const TIMEOUT_MS = 60_000
/** Set it to look at the pages afterwards. */
const screenshots = process.env.TEST_SCREENSHOTS
const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } }

describe('pages as people see them', { skip: noBrowserHere, timeout: 600_000 }, () => {
  const app = useApp(createSqlite, { TRELLIS_LISTEN: 'localhost:0', TRELLIS_SMTP_URL: 'smtp://localhost:9' })
  let browser: Browser
  let pictures = 0

  before(async () => {
    browser = await launchBrowser()
  })
  after(() => browser?.close())

  async function open(path: string): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    await page.goto(new URL(path, app.url).href)
    return page
  }

  /** Everything axe knows, in light and dark, on a phone and on a desk; and nothing that has to be scrolled sideways. */
  async function assertSound(page: Page): Promise<void> {
    const at = new URL(page.url()).pathname
    await page.evaluate(axe.source)
    for (const colorScheme of ['light', 'dark'] as const)
      for (const [name, size] of Object.entries(SIZES)) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize(size)
        if (screenshots)
          await page.screenshot({ path: join(screenshots, `${++pictures}-${colorScheme}-${name}.png`) })
        const { findings, passed } = (await page.evaluate(LOOK)) as { findings: string[]; passed: number }
        assert.deepEqual(findings, [], `${at} in ${colorScheme} on a ${name}`)
        assert.ok(passed > 10, `${passed} rules were held against ${at}`)
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        assert.ok(Number(overflow) <= 0, `${at} is ${overflow} too wide on a ${name}`)
      }
  }

  const LOOK = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({
    passed: passes.length,
    findings: violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => [id, html.slice(0, 200), failureSummary].join(' '))),
  }))`

  async function signIn(page: Page, email: string): Promise<void> {
    const form = page.locator('form', { has: page.locator('input[value="sign-in"]') })
    await form.getByLabel('Email').fill(email)
    await form.getByLabel('Password').fill(PASSWORD)
    await form.getByRole('button').click()
  }

  it('signing in, with all that can come of it', async () => {
    const { email } = await app.signUp('ana')
    const page = await open('/login?return_to=%2Faccount%2Fsecurity')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
    await assertSound(page)
    await signIn(page, 'nobody@example.com')
    await page.getByRole('alert').waitFor()
    await assertSound(page)
    await signIn(page, email)
    await assertSound(page)
    await page.getByLabel('Your password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
    await page.locator('code.key').waitFor()
    await assertSound(page)
    const key = (await page.locator('code.key').textContent()) ?? ''
    await page.getByLabel('The six digits your app shows').fill(codeFor(`otpauth://totp/x?secret=${key}`))
    await page.getByRole('button', { name: 'Turn on two-factor sign-in' }).click()
    await page.getByRole('button', { name: 'Make new backup codes' }).waitFor()
    await assertSound(page)
    await page.goto(`${app.url}/account/sessions`)
    await assertSound(page)
    await page.goto(`${app.url}/login?switch=1`)
    await signIn(page, email)
    await page.getByLabel(/authenticator app/).waitFor()
    await assertSound(page)
  })

  it('claiming an agent', async () => {
    const { email } = await app.signUp('bob')
    const agent = await registerAgent(app)
    const { ceremony } = await agent.startClaim(email)
    const page = await open(ceremony.verification_uri)
    await signIn(page, email)
    await page.getByLabel(/six-digit code/).fill(wrongCode(ceremony.user_code))
    await page.getByRole('button', { name: 'Claim this agent' }).click()
    await page.getByRole('alert').waitFor()
    await assertSound(page)
    await page.getByLabel(/six-digit code/).fill(ceremony.user_code)
    await page.getByRole('button', { name: 'Claim this agent' }).click()
    await assertSound(page)
  })

  it('taking an invite', async () => {
    const { url } = await app.client().invites.createAnonymous({ name: 'sketch', maxReveals: 1 })
    const page = await open(url)
    await assertSound(page)
    await page.getByRole('button').click()
    await page.locator('pre').first().waitFor()
    await assertSound(page)
    await page.goto(url)
    await assertSound(page)
  })

  it('coming in with a link, or joining with one', async () => {
    const page = await open(app.ownerLink ?? '')
    await assertSound(page)
    const { url } = await app
      .client(app.ownerKey)
      .members.invite({ orgSlug: 'owner', email: 'guest@example.com' })
    await page.goto(url)
    await assertSound(page)
    await page.goto(`${app.url}/forgot-password`)
    await assertSound(page)
    await assertSound(await open('/confirm-address/x'))
  })

  it('what goes wrong', async () => {
    const page = await open('/assets/nowhere')
    await assertSound(page)
    await sql`alter table invites rename to invites_elsewhere`.execute(app.database.db)
    try {
      await page.goto(`${app.url}/invites/${'a'.repeat(36)}`)
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Something went wrong')
      await assertSound(page)
    } finally {
      await sql`alter table invites_elsewhere rename to invites`.execute(app.database.db)
    }
  })

  it('the reference, which is searched and walked with the keyboard', async () => {
    const page = await open('/reference')
    await page.locator('#find').waitFor()
    await page.setViewportSize(SIZES.desktop)
    const visible = () => page.locator('main section:visible').count()
    const all = await visible()
    assert.ok(all > 50)
    await page.keyboard.press('/')
    await page.keyboard.type('create tag')
    assert.ok((await visible()) < all)
    assert.match((await page.locator('#found').textContent()) ?? '', /^\d+ operations?$/)
    await page.keyboard.press('Enter')
    assert.equal(new URL(page.url()).hash, '#git/tags/create')
    assert.ok(await page.locator('[id="git/tags/create"]').isVisible())
    await page.keyboard.press('/')
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.evaluate('document.activeElement.localName'), 'a')
    await page.keyboard.press('ArrowUp')
    assert.equal(await page.evaluate('document.activeElement.id'), 'find')
    await page.keyboard.press('Escape')
    assert.equal(await visible(), all)
    await page.reload()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    assert.equal(new URL(page.url()).hash, '#operations')
    // All are alike, and axe takes a minute for all of them. What is folded is not looked at.
    await page.evaluate(`for (const part of ['article', 'nav > div'])
      for (const each of [...document.querySelectorAll(part)].slice(2)) each.remove()
      for (const each of document.querySelectorAll('details')) each.open = true`)
    await assertSound(page)
  })
})
