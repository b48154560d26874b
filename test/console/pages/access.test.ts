import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Person } from '@trellis/server/testing'
import type { Page } from 'playwright-core'
import { noBrowserHere, spill, useConsole } from '../browser.ts'

const PASSWORD = 'correct horse battery'

describe('people and access in the console', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const { app, visit } = useConsole()
  let ana: Person
  before(async () => {
    ana = await app.signUp('ana')
    const api = app.client(ana.token)
    await api.orgs.create({ slug: 'acme', name: 'Acme' })
    await app.client(ana.token, 'acme').repos.create({ name: 'widgets' })
  })

  /** What is shown once: taken, and put away. */
  async function takeSecret(page: Page, start: RegExp): Promise<string> {
    const dialog = page.getByRole('dialog')
    const secret = (await dialog.locator('code', { hasText: start }).textContent()) ?? ''
    // Nothing closes it before it is stored, and all of it is in sight.
    await dialog.getByRole('button', { name: 'Copy', exact: true }).first().waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Close' }).count(), 0)
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      assert.equal(await dialog.evaluate(spill), 0)
    }
    await dialog.getByLabel('I have stored it').check()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    return secret
  }

  it('invites somebody, who joins by the link and is given a role', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go('/acme/people')
      await page.getByRole('button', { name: 'Invite somebody' }).click()
      await page.getByLabel('Email').fill('ben@example.com')
      await page.getByRole('button', { name: 'Create the link' }).click()
      const link = await takeSecret(page, /\/invitations\//)
      await page.getByRole('row', { name: /ben@example.com/ }).waitFor()

      await visit({}, async ({ page: bens }) => {
        await bens.goto(link)
        await bens.getByLabel('Name').fill('Ben')
        await bens.getByLabel(/Password/).fill(PASSWORD)
        await bens.getByRole('button', { name: 'Create an account and join' }).click()
        await bens.waitForURL(`${app.url}/acme`)
        await bens.getByRole('link', { name: 'widgets' }).waitFor()
      })

      await go('/acme/people')
      const ben = page.getByRole('row', { name: /ben@example.com/ })
      await ben.getByRole('cell', { name: 'member', exact: true }).waitFor()
      const more = ben.getByRole('button', { name: 'What to do with Ben' })
      await more.click()
      await page.getByRole('menuitem', { name: 'Make an admin' }).click()
      await ben.getByRole('cell', { name: 'admin', exact: true }).waitFor()
      await more.click()
      await page.getByRole('menuitem', { name: 'Make an owner…' }).click()
      await page.getByRole('button', { name: 'Make an owner' }).click()
      await ben.getByRole('cell', { name: 'owner', exact: true }).waitFor()
      await more.click()
      await page.getByRole('menuitem', { name: 'Remove…' }).click()
      await page.getByLabel('Type ben@example.com to go on').fill('ben@example.com')
      await page.getByRole('button', { name: 'Remove', exact: true }).click()
      await ben.waitFor({ state: 'detached' })
    }))

  it('withdraws an invitation, and a link made anew ends the one before', () =>
    visit({ as: ana, expects: [404] }, async ({ page, go }) => {
      const first = await app.client(ana.token).members.invite({ orgSlug: 'acme', email: 'cy@example.com' })
      await go('/acme/people')
      await page.getByRole('button', { name: 'New link for cy@example.com' }).click()
      const second = await takeSecret(page, /\/invitations\//)
      assert.notEqual(second, first.url)
      assert.equal((await fetch(first.url)).status, 404)
      assert.equal((await fetch(second)).status, 200)
      await page.getByRole('button', { name: 'Withdraw the invitation for cy@example.com' }).click()
      await page.getByText('Nobody is invited at the moment.').waitFor()
      assert.equal((await fetch(second)).status, 404)
    }))

  it('makes a token bound to some refs, and revokes it', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go('/acme/widgets/access')
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByLabel('What git may do with it').selectOption('write')
      await page.getByLabel('Refs it may move').fill('agents/**\n\nrefs/tags/v*\n')
      await page.getByRole('button', { name: 'Create token' }).click()
      const token = await takeSecret(page, /^trt_/)
      assert.equal((await app.client().tokens.validate({ token })).scope, 'write')
      const row = page.getByRole('row', { name: new RegExp(token.slice(0, 12)) })
      await row.getByText('write').waitFor()
      await row.getByRole('button', { name: /^Revoke/ }).click()
      await page.getByRole('button', { name: 'Revoke the token' }).click()
      await row.getByText('revoked').waitFor()
      assert.equal((await app.client().tokens.validate({ token })).valid, false)
    }))

  it('has a stranger take a clone by an invite, counts it, and ends it', () =>
    visit({ as: ana, expects: [410] }, async ({ page, go }) => {
      await go('/acme/widgets/access')
      await page.getByRole('button', { name: 'New invite' }).click()
      await page.getByLabel('How many clones').fill('3')
      await page.getByRole('button', { name: 'Create the link' }).click()
      const link = await takeSecret(page, /\/invites\//)
      await visit({ expects: [410] }, async ({ page: strangers }) => {
        await strangers.goto(link)
        await strangers.getByRole('button', { name: 'Show me how to clone it' }).click()
        await strangers.getByText('git clone').first().waitFor()
        await go('/acme/widgets/access')
        const row = page.getByRole('row', { name: /1 of 3/ })
        await row.getByRole('button', { name: /^Revoke/ }).click()
        await page.getByRole('button', { name: 'Revoke the invite' }).click()
        await row.getByText('revoked').waitFor()
        await strangers.goto(link)
        await strangers.getByText('Ask whoever sent you this link for a new one.').waitFor()
      })
    }))

  it('makes an organization, renames it, and deletes it by its name', () =>
    visit({ as: ana, expects: [409] }, async ({ page, go }) => {
      await go('/')
      await page.getByRole('button', { name: 'Switch organization' }).click()
      await page.getByRole('menuitem', { name: 'New organization' }).click()
      await page.getByLabel('Short name').fill('login')
      await page.getByRole('button', { name: 'Create organization' }).click()
      await page.getByRole('alert').getByText("login is a word of the server's own addresses").waitFor()
      await page.getByLabel('Short name').fill('lab')
      await page.getByLabel('Name', { exact: true }).fill('The lab')
      await page.getByRole('button', { name: 'Create organization' }).click()
      await page.waitForURL(`${app.url}/lab`)
      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByText('0 of 10,000').waitFor()
      await page.getByLabel('Short name').fill('workshop')
      await page.getByRole('button', { name: 'Change the short name' }).click()
      await page.waitForURL(`${app.url}/workshop/settings`)
      await page.getByRole('button', { name: 'Delete…' }).click()
      await page.getByLabel('Type workshop to go on').fill('workshop')
      await page.getByRole('button', { name: 'Delete this organization' }).click()
      await page.waitForURL(`${app.url}/`)
      await page.getByRole('heading', { name: 'Repositories', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Switch organization' }).click()
      await page.getByRole('menuitem', { name: 'Acme' }).waitFor()
      assert.equal(await page.getByRole('menuitem', { name: 'The lab' }).count(), 0)
    }))

  it('shows a member what they may, and no more', () =>
    visit({ expects: [403] }, async ({ page }) => {
      const { url } = await app
        .client(ana.token)
        .members.invite({ orgSlug: 'acme', email: 'dee@example.com' })
      await page.goto(url)
      await page.getByLabel('Name').fill('Dee')
      await page.getByLabel(/Password/).fill(PASSWORD)
      await page.getByRole('button', { name: 'Create an account and join' }).click()
      await page.waitForURL(`${app.url}/acme`)
      await page.getByRole('link', { name: 'People' }).click()
      const owner = page.getByRole('row', { name: /ana@example.com/ })
      await owner.waitFor()
      assert.equal(await owner.getByRole('button').count(), 0)
      assert.equal(await page.getByRole('button', { name: 'Invite somebody' }).count(), 0)
      // In a browser that knows nothing of them they begin where there is something.
      await page.evaluate('localStorage.clear()')
      await page.goto(app.url)
      await page.getByRole('link', { name: 'widgets' }).waitFor()
      await page.getByText('Invited dee@example.com as member').waitFor()
      await page.goto(`${app.url}/acme/widgets/access`)
      await page.getByText('for admins and owners of acme to see').waitFor()
      const changes = [{ op: 'put' as const, path: 'README.md', content: '# Widgets\n' }]
      const begin = { name: 'widgets', branch: 'main', message: 'Begin', changes }
      await app.client(ana.token, 'acme').git.commits.create(begin)
      await page.goto(`${app.url}/acme/widgets/promote`)
      await page.getByRole('alert').getByText('Ask an owner or admin of the organization.').waitFor()
      assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
      await page.goto(`${app.url}/acme/agents`)
      await page.getByRole('heading', { name: 'You have claimed no agent that works in acme' }).waitFor()
    }))
})
