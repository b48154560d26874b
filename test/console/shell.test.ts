import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import type { Person } from '@trellis/server/testing'
import { noBrowserHere, spill, useConsole } from './browser.ts'

const DIST = resolve(import.meta.dirname, '../../packages/console/dist')
/** Of compressed JavaScript, to see the first page. */
const MOST_BYTES = 180 * 1024

describe('the console', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const { app, visit } = useConsole()
  let ana: Person
  before(async () => {
    ana = await app.signUp('ana')
    const api = app.client(ana.token)
    for (const name of ['widgets', 'gadgets']) await api.repos.create({ name })
  })

  it('sends whoever is not signed in to do that, and back', () =>
    visit({}, async ({ page }) => {
      await page.goto(`${app.url}/${ana.slug}/widgets?a=b`)
      const form = page.locator('form', { has: page.locator('input[value="sign-in"]') })
      await form.getByLabel('Email').fill(ana.email)
      await form.getByLabel('Password').fill('correct horse battery')
      await form.getByRole('button').click()
      await page.getByRole('heading', { name: 'Nothing has been pushed yet' }).waitFor()
      assert.equal(page.url(), `${app.url}/${ana.slug}/widgets?a=b`)
    }))

  it('begins with the repositories, finds one, and tells what happened', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go('/')
      const list = page.getByRole('list', { name: 'Repositories' })
      await list.getByRole('link', { name: 'widgets' }).waitFor()
      await page.getByText('Created organization ana').waitFor()
      await page.setViewportSize({ width: 390, height: 844 })
      const make = page.getByRole('link', { name: 'New repository' })
      assert.equal(await make.evaluate(spill), 0)
      await page.getByLabel('Find a repository').fill('GADG')
      await list.getByRole('link', { name: 'widgets' }).waitFor({ state: 'detached' })
      await page.getByLabel('Find a repository').fill('nothing')
      await page.getByText('No repository is called like “nothing”').waitFor()
      await page.getByLabel('Find a repository').fill('')
      await list.getByRole('link', { name: 'gadgets' }).click()
      await page.waitForURL(`${app.url}/${ana.slug}/gadgets`)
    }))

  it('shows how to push to an empty repository, and what was pushed as soon as it is there', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`/o/${ana.slug}/widgets`)
      await page.getByText(`git remote add origin ${app.url}/git/${ana.slug}/widgets.git`).waitFor()
      assert.equal(await page.title(), `${ana.slug}/widgets · Trellis`)
      await page.getByRole('link', { name: 'Code', exact: true }).waitFor()
      await page.getByRole('link', { name: 'a key of yours' }).waitFor()
      await app.client(ana.token).git.commits.create({
        ...{ name: 'widgets', branch: 'main', message: 'Say what this is' },
        changes: [{ op: 'put', path: 'README.md', content: '# Widgets\n' }],
      })
      await page.getByRole('heading', { name: 'Widgets', exact: true }).waitFor()
      await go('/')
      await page.getByText('Pushed main for the first time in widgets').waitFor()
    }))

  it('says the same of what is not there and of what one may not see', () =>
    visit({ as: ana, expects: [404, 403] }, async ({ page, go, checkAxe }) => {
      await go(`/${ana.slug}/nothing`)
      await page
        .getByRole('heading', { name: 'There is no such repository, or you may not see it' })
        .waitFor()
      await checkAxe('no-such-repository')
      await go('/nobody')
      await page
        .getByRole('heading', { name: 'There is no such organization, or you may not see it' })
        .waitFor()
    }))

  it('keeps the theme that was chosen', () =>
    visit({ as: ana, colorScheme: 'light' }, async ({ page, go }) => {
      const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
      await go('/')
      const light = await ground()
      await page.getByRole('button', { name: 'Your account' }).click()
      await page.getByRole('menuitemradio', { name: 'Dark' }).click()
      const dark = await ground()
      assert.notEqual(dark, light)
      await page.reload()
      await page.getByRole('heading').first().waitFor()
      assert.equal(await ground(), dark)
    }))

  it('is gone through with the keyboard alone', () =>
    visit({ as: ana }, async ({ page, go, checkAxe }) => {
      await go('/')
      await page.keyboard.press('Tab')
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content')
      await page.keyboard.press('ControlOrMeta+k')
      const palette = page.getByRole('dialog', { name: 'Search and go anywhere' })
      await palette.getByRole('combobox').fill('wid')
      await palette.getByRole('option', { name: 'widgets' }).waitFor()
      await checkAxe('palette')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${app.url}/${ana.slug}/widgets`)
      await palette.waitFor({ state: 'detached' })
      // Whoever is quicker than the answer goes where it leads, and not where the one before did.
      await page.keyboard.press('ControlOrMeta+k')
      await palette.getByRole('combobox').fill('wid')
      await palette.getByRole('option', { name: /^widgets/ }).waitFor()
      const { promise: isEntered, resolve: enter } = Promise.withResolvers<void>()
      await page.route('**/repos/search', (route) => isEntered.then(() => route.continue()))
      await palette.getByRole('combobox').fill('gad')
      await page.keyboard.press('Enter')
      await palette.getByRole('option', { name: /^widgets/ }).waitFor()
      enter()
      await page.waitForURL(`${app.url}/${ana.slug}/gadgets`)
      await palette.waitFor({ state: 'detached' })
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Code').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      // What nothing is called may stand in a file.
      await page.keyboard.press('ControlOrMeta+k')
      await palette.getByRole('combobox').fill('what no name has')
      await palette.getByRole('option', { name: 'Search the code for “what no name has”' }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/gadgets\/search\?q=what/)
    }))

  it('goes on by itself when a server that was away is back', () =>
    visit({ as: ana }, async ({ page, go, troubles }) => {
      await go('/')
      const all = /\/(api\/v1\/|healthz)/
      await page.route(all, (route) => route.abort())
      await page.getByRole('list', { name: 'Repositories' }).getByRole('link', { name: 'widgets' }).click()
      await page.getByText('The server cannot be reached').waitFor()
      await page.unroute(all)
      await page.getByRole('heading', { name: 'Widgets', exact: true }).waitFor()
      // The browser tells of each request that did not get there.
      const others = troubles.filter((trouble) => !trouble.includes('net::ERR_FAILED'))
      troubles.splice(0, troubles.length, ...others)
    }))

  it('has an organization make its first repository', () =>
    visit({ as: ana, expects: [400] }, async ({ page, go }) => {
      await app.client(ana.token).orgs.create({ slug: 'acme', name: 'Acme' })
      await go('/acme')
      await page.getByRole('heading', { name: 'acme has no repository yet' }).waitFor()
      await page.getByLabel('Name').fill('Wrong Name')
      await page.getByRole('button', { name: 'Create repository' }).click()
      await page.getByRole('alert').getByText('Use lowercase letters').waitFor()
      assert.equal(await page.getByLabel('Name').getAttribute('aria-invalid'), 'true')
      assert.equal(await page.getByRole('alert').count(), 1)
      await page.getByLabel('Name').fill('first')
      await page.getByRole('button', { name: 'Create repository' }).click()
      await page.waitForURL(`${app.url}/acme/first`)
    }))

  it('is loaded with less than 180 KB of JavaScript', () => {
    const manifest = JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8')) as Record<string, Chunk>
    const needed = new Set<string>()
    const need = (key: string): void => {
      const chunk = manifest[key]
      if (!chunk || needed.has(chunk.file)) return
      needed.add(chunk.file)
      chunk.imports?.forEach(need)
    }
    need('index.html')
    need('src/pages/home/HomePage.tsx')
    const bytes = [...needed].map(
      (file) => statSync(join(DIST, `${file}.gz`), { throwIfNoEntry: false })?.size ?? 1024,
    )
    assert.ok(needed.size > 2)
    const sum = bytes.reduce((sum, size) => sum + size, 0)
    assert.ok(sum < MOST_BYTES, `${sum} bytes`)
  })
})

interface Chunk {
  file: string
  imports?: string[]
}
