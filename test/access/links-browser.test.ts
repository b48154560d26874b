import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSqlite, useApp } from '@trellis/server/testing'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, noBrowserHere } from './browser.ts'

const PASSWORD = 'correct horse battery'
const TIMEOUT_MS = 60_000
/** Set it to look at the pages afterwards. */
const screenshots = process.env.TEST_SCREENSHOTS

describe('links in a browser', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const app = useApp(createSqlite, { TRELLIS_SIGN_UP: 'invited' })
  let browser: Browser

  before(async () => {
    browser = await launchBrowser()
  })
  after(() => browser?.close())

  /** On a phone, in the dark, without JavaScript: the pages have to do with little. */
  async function open(): Promise<Page> {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 360, height: 640 },
      colorScheme: 'dark',
    })
    context.setDefaultTimeout(TIMEOUT_MS)
    return context.newPage()
  }

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()
  const keep = async (page: Page, name: string) => {
    if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
  }

  it('the owner opens the link of the first start, and is signed in with an address of their own', async () => {
    const page = await open()
    await page.goto(app.ownerLink ?? '')
    assert.equal(await heading(page), 'Welcome to your Trellis')
    await keep(page, 'enter')
    await page.getByLabel('Email').fill('ana@example.com')
    await page.getByLabel(/Password/).fill(PASSWORD)
    await page.getByRole('button').click()
    assert.equal(page.url(), `${app.url}/`)
    // Who is signed in is sent on.
    await page.goto(`${app.url}/login?return_to=%2Flimits`)
    assert.equal(new URL(page.url()).pathname, '/limits')
    await page.goto(app.ownerLink ?? '')
    assert.equal(await heading(page), 'This link is over')
  })

  it('a guest signs up and joins in one step; another who is signed in is told whose it is', async () => {
    const { url } = await app
      .client(app.ownerKey)
      .members.invite({ orgSlug: 'owner', email: 'bob@example.com' })
    const page = await open()
    await page.goto(url)
    await keep(page, 'invitation')
    await page.getByLabel('Name').fill('Bob')
    await page.getByLabel(/Password/).fill(PASSWORD)
    await page.getByRole('button', { name: 'Create an account and join' }).click()
    assert.equal(page.url(), `${app.url}/owner`)

    const other = await app
      .client(app.ownerKey)
      .members.invite({ orgSlug: 'owner', email: 'eve@example.com' })
    await page.goto(other.url)
    assert.ok(await page.getByText('You are signed in as bob@example.com').isVisible())
    await keep(page, 'other-account')
  })
})
