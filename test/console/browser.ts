// A browser that a test drives through the console, and that takes offence: at errors in its console, at anything the
// content security policy had to stop, at requests to anywhere else.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { createSqlite, type Person, type TestApp, useApp } from '@trellis/server/testing'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { launchBrowser } from '../access/browser.ts'
import { until } from '../git/harness.ts'
import { DESK, findFaults, LOOKS } from './looks.ts'

export { noBrowserHere } from '../access/browser.ts'

const TIMEOUT_MS = 60_000

export interface Visit {
  page: Page
  context: BrowserContext
  /** Goes to a path, and waits until the page is there: it has a heading, and nothing is loading. */
  go(path: string): Promise<void>
  /** axe finds nothing, light on a desk and dark on a phone. `name` is that of the pictures. */
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
export function useConsole(
  env: Record<string, string> = {},
  replaced: Parameters<typeof useApp>[2] = {},
): {
  app: TestApp
  visit<T>(options: VisitOptions, act: (visit: Visit) => Promise<T>): Promise<T>
} {
  const app = useApp(createSqlite, env, replaced)
  let browser: Browser
  before(async () => {
    browser = await launchBrowser()
  })
  after(() => browser?.close())

  /** Of people who are not on a visit: a browser that has read the console once need not do so again. */
  const known = new Map<string, BrowserContext>()
  async function open({ as, ...options }: Omit<VisitOptions, 'expects'>): Promise<BrowserContext> {
    const context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce', ...options })
    context.setDefaultTimeout(TIMEOUT_MS)
    if (as) await signIn(app, context, as)
    return context
  }

  return {
    app,
    async visit({ expects = [], ...options }, act) {
      const who = JSON.stringify(options)
      const context = known.get(who) ?? (await open(options))
      known.delete(who)
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
        if (options.as) {
          // What somebody chose is not known to the next visit.
          await page.evaluate('localStorage.clear()')
          known.set(who, context)
        }
        return done
      } finally {
        await (known.get(who) === context ? page.close() : context.close())
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

/** How far what is in an element reaches beyond it: `locator.evaluate(spill)`. */
export const spill = (element: { scrollWidth: number; clientWidth: number }): number =>
  element.scrollWidth - element.clientWidth

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

/** Each theme and each size once: every page is looked at in all of them by one test, and looking takes long. */
async function checkAxe(page: Page, name: string): Promise<void> {
  await settled(page)
  assert.deepEqual(await findFaults(page, name, LOOKS), [])
  await page.setViewportSize(DESK)
}
