// A browser that a test drives through the console, and that takes offence: at errors in its console, at anything the
// content security policy had to stop, at requests to anywhere else.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { createSqlite, type Person, type TestApp, useApp } from '@trellis/server/testing'
import axe from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { launchBrowser } from '../access/browser.ts'
import { until } from '../git/harness.ts'

export { noBrowserHere } from '../access/browser.ts'

const TIMEOUT_MS = 60_000
const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
/** Set it to look at the pages afterwards. */
const screenshots = process.env.TEST_SCREENSHOTS

export interface Visit {
  page: Page
  context: BrowserContext
  /** Goes to a path, and waits until the page is there: it has a heading, and nothing is loading. */
  go(path: string): Promise<void>
  /** axe finds nothing, light and dark, on a desk and on a phone. `name` is that of the pictures. */
  checkAxe(name: string): Promise<void>
  /** What went wrong so far. The suite looks at it at the end of every visit. */
  troubles: string[]
}

interface VisitOptions extends BrowserContextOptions {
  /** Who is signed in; nobody when left out. */
  as?: Person
  /** Answers with these statuses are what the test is about: browsers note each that is no success. */
  expects?: number[]
}

/** One server and one browser for the tests of a suite. Call it in `describe`. */
export function useConsole(env: Record<string, string> = {}): {
  app: TestApp
  visit<T>(options: VisitOptions, act: (visit: Visit) => Promise<T>): Promise<T>
} {
  const app = useApp(createSqlite, env)
  let browser: Browser
  before(async () => {
    browser = await launchBrowser()
  })
  after(() => browser?.close())

  return {
    app,
    async visit({ as, expects = [], ...options }, act) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      context.setDefaultTimeout(TIMEOUT_MS)
      if (as) await signIn(app, context, as)
      const page = await context.newPage()
      const troubles = watch(page, { origin: app.url, expects })
      try {
        const done = await act({
          page,
          context,
          troubles,
          go: (path) => go(page, app.url + path),
          checkAxe: (name) => checkAxe(page, name),
        })
        assert.deepEqual(troubles, [])
        return done
      } finally {
        await context.close()
      }
    },
  }
}

/** Presses a key until it shows something: a page may be drawn a moment before it listens. */
export const press = (page: Page, key: string, shown: Locator): Promise<void> =>
  until(`${key} shows something`, async () => {
    await page.keyboard.press(key)
    return shown.isVisible()
  })

async function go(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('heading').first().waitFor()
  await settled(page)
}

/** Nothing is on its way any more: neither a page nor a part of one. */
export const settled = (page: Page) =>
  page.locator('[aria-label="Loading the page"], [data-loading]').first().waitFor({ state: 'detached' })

/** A browser gets the session as a cookie, which only the server can sign: it signs in as people do. */
export async function signIn(app: TestApp, context: BrowserContext, { email }: Person): Promise<void> {
  const answer = await fetch(`${app.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'correct horse battery' }),
  })
  assert.equal(answer.status, 200, await answer.text())
  const cookies = answer.headers.getSetCookie().map((line) => {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    return { name, value, url: app.url }
  })
  await context.addCookies(cookies)
}

function watch(page: Page, { origin, expects }: { origin: string; expects: number[] }): string[] {
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    const isExpected = expects.some((status) => text.includes(`status of ${status}`))
    if (['error', 'warning'].includes(message.type()) && !isExpected)
      troubles.push(`${message.type()}: ${text}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (/^(https?|wss?):/.test(url) && !url.startsWith(`${origin}/`))
      troubles.push(`request to elsewhere: ${url}`)
  })
  return troubles
}

/** Light on a desk, dark on a phone: each theme and each size once, because looking takes longer than most of what tests do. */
const LOOKS = [
  { size: 'desk', colorScheme: 'light' },
  { size: 'phone', colorScheme: 'dark' },
] as const

/** Everything axe knows, in both themes and sizes; and nothing has to be scrolled sideways. */
async function checkAxe(page: Page, name: string): Promise<void> {
  await settled(page)
  // By the browser's own hand, which no policy of the page binds.
  await page.evaluate(axe.source)
  for (const { size, colorScheme } of LOOKS) {
    await page.setViewportSize(SIZES[size])
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    if (screenshots) await page.screenshot({ path: join(screenshots, `${name}-${size}-${colorScheme}.png`) })
    const { findings, passed } = (await page.evaluate(LOOK)) as { findings: string[]; passed: number }
    assert.deepEqual(findings, [], `${name} in ${colorScheme} on a ${size}`)
    assert.ok(passed > 10, `${passed} rules were held against ${name}`)
    const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    assert.ok(overflow <= 0, `${name} is ${overflow} too wide on a ${size}`)
  }
  await page.setViewportSize(SIZES.desk)
}

const LOOK = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({
  passed: passes.length,
  findings: violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => [id, html.slice(0, 200), failureSummary].join(' '))),
}))`
