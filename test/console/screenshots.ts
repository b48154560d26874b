// Takes the pictures of the console that the documents show: `npm run screenshots`.

import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createSqlite, startTestApp } from '@trellis/server/testing'
import { launchBrowser } from '../access/browser.ts'
import { settled, signIn } from './browser.ts'
import { ORG, populate, REPO } from './example-world.ts'

const IMAGES = resolve(import.meta.dirname, '../../docs/images')
const VIEWPORT = { width: 1280, height: 800 }
const BRANCH = 'agents/estimates'

await using database = await createSqlite()
await using app = await startTestApp(database, {
  // As it is said in the documents.
  TRELLIS_LISTEN: process.env.TRELLIS_LISTEN ?? '127.0.0.1:8787',
  TRELLIS_SANDBOX: 'on',
  TRELLIS_EGRESS_ALLOW: '127.0.0.1',
})
await using world = await populate(app)
await using browser = await launchBrowser()

const repo = `/${ORG}/${REPO}`
/** What a page shows last, where that is not its frame. */
const LATE: Record<string, string> = { file: '[class*=keyword]' }
const pictures: Record<string, string> = {
  repository: repo,
  file: `${repo}/blob/main/extensions/tasks/index.ts`,
  compare: `${repo}/compare/main...${BRANCH}`,
  promotion: `${repo}/promote?ref=${encodeURIComponent(BRANCH)}`,
  run: `${repo}/runs/${world.runId}`,
  records: `${repo}/records/task`,
  activity: `${repo}/activity`,
  access: `${repo}/access`,
  // The last, when the browser knows in which organization somebody works.
  home: '/',
}

await mkdir(IMAGES, { recursive: true })
await using context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: 'reduce' })
await signIn(app, context, world.ana)
const page = await context.newPage()
for (const [name, path] of Object.entries(pictures)) {
  await page.goto(app.url + path)
  await page.getByRole('heading').first().waitFor()
  if (LATE[name]) await page.locator(LATE[name]).first().waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await settled(page)
    await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => {})
    await page.screenshot({ path: join(IMAGES, `${name}-${colorScheme}.png`) })
  }
  process.stdout.write(`${name}\n`)
}
