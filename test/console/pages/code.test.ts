import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Person } from '@trellis/server/testing'
import type { Locator, Page } from 'playwright-core'
import { noBrowserHere, press, useConsole } from '../browser.ts'
import { pushForest, pushWidgets } from './code-fixture.ts'

/** Of work in one piece. Alone it takes a tenth of this: the machine has other work, and the clock goes on. */
const LONGEST_TASK_MS = 3_000

describe('code in the console', { skip: noBrowserHere, timeout: 480_000 }, () => {
  const { app, visit } = useConsole()
  let ana: Person
  let at: string
  let head: string
  before(async () => {
    ana = await app.signUp('ana')
    at = `/${ana.slug}/widgets`
    await app.client(ana.token).repos.create({ name: 'widgets' })
    ;({ head } = await pushWidgets(app, ana))
  })

  it('shows a repository: files with their last change, README, what runs, how to clone', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(at)
      const files = page.getByRole('list', { name: 'Files' })
      const names = await files.getByRole('listitem').allInnerTexts()
      assert.deepEqual(
        names.map((text) => text.split('\n')[0]),
        ['docs', 'img', 'many', 'src', 'vendor', 'README.md', 'latest', 'run.sh'],
      )
      const row = (name: string) => files.getByRole('listitem').filter({ hasText: name })
      await row('src').getByText('Say hello louder').waitFor()
      await row('many').getByText('Add many files').waitFor()
      await row('vendor').getByText('submodule at ccccccc').waitFor()
      await row('latest').getByText('symlink', { exact: true }).waitFor()
      await page.getByRole('complementary').getByText('Nothing is promoted yet.').waitFor()
      await page.getByRole('complementary').getByText('2 branches · 1 tag').waitFor()
      await page.getByRole('heading', { name: 'Tables and tasks' }).waitFor()
      await page.getByRole('button', { name: 'Clone' }).click()
      await page.getByText(`git clone ${app.url}/git/${ana.slug}/widgets.git`).waitFor()
      await checkDownload(page.getByRole('link', { name: 'tar.gz' }), /\.tar\.gz$/)
    }))

  it('renders a README without trusting it', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(at)
      const readme = page.getByRole('article')
      await readme.getByText('Small things').waitFor()
      assert.equal(await page.evaluate('window.broken'), undefined)
      const hidden =
        'script, style, template, iframe, svg a, math, form, button:not([aria-label]), [style], [onclick], #root'
      assert.equal(await readme.locator(hidden).count(), 0)
      const hrefs = await readme
        .locator('a')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
      for (const href of hrefs) assert.match(href, /^(\/ana\/widgets\/|#doc-|https:\/\/example\.com\/)/)
      await readme.getByText('a script', { exact: true }).waitFor()
      // Nobody elsewhere learns who reads it.
      assert.equal(
        await readme.getByRole('link', { name: 'Elsewhere' }).getAttribute('href'),
        'https://example.com/badge.svg',
      )
      await readme.getByRole('checkbox', { name: 'Done' }).waitFor()
      await readme.getByRole('cell', { name: '1' }).waitFor()
      await readme.locator('pre [class*=keyword]').first().waitFor()
      await readme.getByRole('link', { name: 'this part' }).click()
      await page.waitForURL(`${app.url}${at}#doc-tables-and-tasks`)
      await readme.getByRole('link', { name: 'the guide' }).click()
      await page.waitForURL(`${app.url}${at}/blob/main/docs/guide.md#how-to-begin`)
      await page.getByRole('heading', { name: 'How to begin' }).waitFor()
      await until(async () => Number(await page.evaluate('scrollY')) > 500)
      await go(at)
      await readme.getByRole('link', { name: 'the directory' }).click()
      await page.waitForURL(`${app.url}${at}/tree/main/docs`)
    }))

  it('finds where the ref ends in an address, and goes to the same path of another', () =>
    visit({ as: ana, expects: [404] }, async ({ page, go }) => {
      await go(`${at}/blob/feature/deep/work/src/hello.ts#L2`)
      await page.locator('[data-marked] [class*=keyword]').first().waitFor()
      await page.getByText('`HELLO').waitFor()
      await page.getByRole('button', { name: 'feature/deep/work' }).click()
      await page.getByRole('button', { name: 'Tags', exact: true }).click()
      await page.getByRole('combobox', { name: 'Find a tag' }).fill('REL')
      await page.getByRole('option', { name: 'release/1.0' }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`${app.url}${at}/blob/release/1.0/src/hello.ts`)
      await page.getByText('`hello').waitFor()
      await go(`${at}/tree/release/1.0/src`)
      await page.getByRole('link', { name: 'odd #1 100%?.txt' }).click()
      await page.getByRole('region', { name: 'Text of' }).getByText('odd').waitFor()
      await page.reload()
      await page.getByRole('region', { name: 'Text of' }).getByText('odd').waitFor()
      await go(`${at}/tree/main/none/such`)
      await page.getByRole('heading', { name: 'Nothing is at none/such in main' }).waitFor()
      await go(`${at}/tree/gone/src`)
      await page.getByRole('heading', { name: 'There is no such branch, tag or commit' }).waitFor()
    }))

  it('finds one of many branches by what it is called', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await app.client(ana.token).repos.create({ name: 'forest' })
      await pushForest(app, ana)
      await go(`/${ana.slug}/forest/tree/main`)
      await page.getByRole('button', { name: 'main' }).click()
      await page.getByText('There are more: write what the branch is called.').waitFor()
      assert.equal(await page.getByRole('option').count(), 100)
      // Enter goes to what is written, however soon it comes.
      await page.getByRole('combobox', { name: 'Find a branch' }).fill('TREE-2345')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${app.url}/${ana.slug}/forest/tree/wood/tree-2345`)
      await page.getByRole('button', { name: 'wood/tree-2345' }).click()
      await page.getByRole('combobox', { name: 'Find a branch' }).fill('stone')
      await page.getByText('There is no such branch.').waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('combobox', { name: 'Search pages' }).fill('tree-2222')
      await page.getByRole('option', { name: 'wood/tree-2222' }).click()
      await page.waitForURL(`${app.url}/${ana.slug}/forest/tree/wood/tree-2222`)
      await go(`/${ana.slug}/forest/compare/main...wood/tree-0001`)
      await page.getByLabel('Head', { exact: true }).fill('tree-1999')
      await page.getByRole('option', { name: 'wood/tree-1999' }).click()
      await page.waitForURL(/wood\/tree-1999/)
    }))

  it('shows a file with colours, and lines that can be linked to', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`${at}/blob/main/src/hello.ts#L2`)
      const text = page.getByRole('region', { name: 'Text of src/hello.ts' })
      await text.locator('[data-marked][data-line="2"]').waitFor()
      await text.locator('[class*=keyword]').first().waitFor()
      await text.getByText('1', { exact: true }).click()
      await page.waitForURL(/#L1$/)
      await text.getByText('3', { exact: true }).click({ modifiers: ['Shift'] })
      await page.waitForURL(/#L1-L3$/)
      assert.equal(await text.locator('[data-marked]').count(), 3)
      const raw = await page.request.get(
        app.url + (await page.getByRole('link', { name: 'Raw' }).getAttribute('href')),
      )
      assert.match(await raw.text(), /^export function hello/)
      await until(async () => {
        await page.keyboard.press('y')
        return page.url() === `${app.url}${at}/blob/${head}/src/hello.ts#L1-L3`
      })
      await go(`${at}/blob/main/src/data.bin`)
      await page.getByText('This is no text').waitFor()
      await checkDownload(page.getByRole('link', { name: 'Download' }), /^data\.bin$/)
      await go(`${at}/blob/main/src/large.txt`)
      await page.getByText('This file is too large to be shown: 2.7 MB.').waitFor()
      await go(`${at}/blob/main/img/logo.png`)
      const image = page.getByRole('img', { name: 'logo.png' })
      await until(
        async () => (await image.evaluate((img: { naturalWidth: number }) => img.naturalWidth)) === 1,
      )
      await go(`${at}/blob/main/latest`)
      await page.getByRole('link', { name: 'docs/guide.md' }).click()
      await page.getByRole('heading', { name: 'Guide', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Source' }).click()
      await page.getByText('title: Guide').waitFor()
    }))

  it('stays smooth with a file of 20,000 lines', () =>
    visit({ as: ana }, async ({ page, go }) => {
      const tasks = await watchTasks(page)
      await go(`${at}/blob/main/src/long.ts#L15000-L15002`)
      await page.locator('[data-marked][data-line="15000"]').waitFor()
      for (const line of ['19990', '450']) {
        const wanted = page.getByRole('textbox', { name: 'Line' })
        await press(page, 'l', wanted)
        await wanted.fill(line)
        await page.keyboard.press('Enter')
        await wanted.waitFor({ state: 'hidden' })
        await page.locator(`[data-marked][data-line="${line}"]`).waitFor()
      }
      // Colours go on from one piece of the text to the next.
      await page.locator('[data-line="450"] [class*=keyword]').first().waitFor()
      assert.ok((await page.locator('[data-line]').count()) < 500)
      await tasks.check('a file of 20,000 lines')
    }))

  it('stays smooth in a directory of 10,000 files', () =>
    visit({ as: ana }, async ({ page, go }) => {
      const tasks = await watchTasks(page)
      await go(`${at}/tree/main/many`)
      await page.getByRole('link', { name: 'file-00003.txt' }).waitFor()
      await page.getByText('Add many files').first().waitFor()
      // Down to where ten pages have been read.
      const shown = page.getByRole('link', { name: /^file-\d+\.txt$/ })
      await until(async () => {
        await page.mouse.wheel(0, 3_000)
        return (await shown.allInnerTexts()).some((name) => name > 'file-01000.txt')
      })
      assert.ok((await page.getByRole('listitem').count()) < 200)
      await tasks.check('a directory of 10,000 files')
    }))

  it('finds files by parts of their names, from the page and from the palette', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`${at}/tree/feature/deep/work/src`)
      const finder = page.getByRole('dialog', { name: 'Find a file' })
      await press(page, 't', finder)
      await finder.getByRole('combobox').fill('gui')
      // Before it has been found.
      await page.keyboard.press('Enter')
      await page.waitForURL(`${app.url}${at}/blob/feature/deep/work/docs/guide.md`)
      await finder.waitFor({ state: 'detached' })
      await page.keyboard.press('ControlOrMeta+k')
      const palette = page.getByRole('dialog', { name: 'Search and go anywhere' })
      await palette.getByRole('combobox').fill('release')
      await palette.getByRole('option', { name: 'release/1.0' }).click()
      await page.waitForURL(`${app.url}${at}/tree/release/1.0`)
      await page.getByRole('link', { name: 'img' }).waitFor()
      await until(async () => {
        await page.keyboard.press('j')
        return (await page.evaluate('document.activeElement.textContent')) === 'img'
      })
      const tab = page.getByRole('navigation', { name: 'Repository' }).getByRole('link', { name: 'Code' })
      assert.equal(await tab.getAttribute('aria-current'), 'page')
    }))

  it('finds words in files, with the question in the address', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`${at}/tree/feature/deep/work`)
      await press(page, '/', page.getByRole('searchbox'))
      await page.getByRole('searchbox').fill('RETURN `hello')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'return `HELLO' }).waitFor()
      await page.getByLabel('Match case').check()
      await page.getByRole('button', { name: 'Search', exact: true }).last().click()
      await page.getByText('Nothing in feature/deep/work has').waitFor()
      await go(`${at}/search?q=value19999&ref=${head}`)
      await page.getByRole('link', { name: 'value19999' }).click()
      await page.locator('[data-marked][data-line="19999"]').waitFor()
    }))

  it('tells who wrote which line', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`${at}/blob/main/src/hello.ts`)
      await page.getByRole('link', { name: 'Blame' }).click()
      const text = page.getByRole('region', { name: 'with who wrote it' })
      const line = (number: number) => text.locator(`[data-line="${number}"]`)
      await line(1).getByRole('link', { name: 'Begin' }).waitFor()
      await line(2).getByRole('link', { name: 'Say hello louder' }).waitFor()
      await line(3).getByRole('link', { name: 'Begin' }).waitFor()
      await line(2).getByRole('link', { name: 'Say hello louder' }).click()
      await page.waitForURL(`${app.url}${at}/commit/${head}`)
    }))

  it('tells the history of a branch and of a file', () =>
    visit({ as: ana, timezoneId: 'UTC' }, async ({ page, go }) => {
      await go(`${at}/commits/feature/deep/work`)
      const list = page.getByRole('list', { name: 'Commits' })
      await list.getByText('Say hello louder').waitFor()
      await list.getByText('pushed by ana').first().waitFor()
      await page.getByRole('heading', { name: 'Friday, January 2, 2026' }).waitFor()
      await list.getByRole('button', { name: 'The whole message' }).click()
      await list.getByText('With everything there is.').waitFor()
      await go(`${at}/commits/main/src/hello.ts`)
      await list.getByText('Begin').waitFor()
      assert.equal(await list.getByText('Add many files').count(), 0)
      await list.getByRole('link', { name: 'Browse the files at this point' }).last().click()
      await page.getByText('`hello').waitFor()
    }))
})

async function checkDownload(link: Locator, name: RegExp): Promise<void> {
  const [download] = await Promise.all([link.page().waitForEvent('download'), link.click()])
  assert.match(download.suggestedFilename(), name)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await setTimeout(50))
    assert.ok(Date.now() < end, `${holds} never held`)
}

/** Notes how long the page is busy in one piece. */
async function watchTasks(page: Page): Promise<{ check(what: string): Promise<void> }> {
  await page.addInitScript(`
    window.longTasks = []
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => entry.duration)))
      .observe({ type: 'longtask', buffered: true })
  `)
  return {
    async check(what) {
      const longest = Number(await page.evaluate('Math.max(0, ...longTasks)'))
      console.log(`${what}: the longest task took ${Math.round(longest)} ms`)
      assert.ok(longest < LONGEST_TASK_MS, `${longest} ms`)
    },
  }
}
