import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { join, type Person, registerAgent } from '@trellis/server/testing'
import type { Page } from 'playwright-core'
import { noBrowserHere, useConsole } from '../browser.ts'

const PASSWORD = 'correct horse battery'

describe('arriving, and one’s own account', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const { app, visit } = useConsole()
  let ana: Person
  before(async () => {
    ana = await app.signUp('ana')
  })

  async function fillLogin(page: Page, email: string): Promise<void> {
    const form = page.locator('form', { has: page.locator('input[value="sign-in"]') })
    await form.getByLabel('Email').fill(email)
    await form.getByLabel('Password').fill(PASSWORD)
    await form.getByRole('button').click()
  }

  it('begins at the sign-in page and ends in the console', () =>
    visit({}, async ({ page, checkAxe }) => {
      await page.goto(`${app.url}/login`)
      await page.getByRole('link', { name: 'Try it without an account' }).click()
      await checkAxe('without-account')
      await page.getByLabel('Name of the repository').fill('sketch')
      await page.getByRole('button', { name: 'Make the repository' }).click()
      await page.getByText('Keep the address of this page').waitFor()
      await page.goto(`${app.url}/login`)
      await fillLogin(page, ana.email)
      await page.waitForURL(`${app.url}/`)
      await page.getByRole('heading', { name: 'Repositories' }).waitFor()
      // What was made before is theirs.
      await page.getByRole('button', { name: 'Switch organization' }).click()
      await page.getByRole('menuitem', { name: /^anon-/ }).click()
      await page.getByRole('link', { name: 'sketch' }).waitFor()
    }))

  it('lets the owner of the server in by the link of the first start', () =>
    visit({}, async ({ page }) => {
      await page.goto(app.ownerLink ?? '')
      await page.getByRole('heading', { name: 'Welcome to your Trellis' }).waitFor()
      await page.getByLabel('Email').fill('olga@example.com')
      await page.getByLabel(/Password/).fill(PASSWORD)
      await page.getByRole('button').click()
      await page.waitForURL(`${app.url}/`)
      await page.getByRole('heading', { name: 'Repositories', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Your account' }).click()
      await page.getByText('olga@example.com').waitFor()
      await page.getByRole('menuitem', { name: 'This server' }).click()
      await page.getByText('Nothing stands in the way of its work').waitFor()
      await page.getByRole('row', { name: /ana@example.com/ }).waitFor()
      await page.getByText(/^SQLite, /).waitFor()
    }))

  it('shows how the server is to nobody but its owner', () =>
    visit({ as: ana, expects: [403] }, async ({ page, go }) => {
      await go('/admin')
      await page.getByRole('heading', { name: 'This is not yours to see' }).waitFor()
      assert.equal(await page.getByRole('table').count(), 0)
      await page.getByRole('button', { name: 'Your account' }).click()
      await page.getByRole('menuitem', { name: 'Keys' }).waitFor()
      assert.equal(await page.getByRole('menuitem', { name: 'This server' }).count(), 0)
    }))

  it('shows who one is, takes another name, and keeps a theme across the border to the server’s pages', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go('/account')
      assert.equal(await page.getByLabel('Address').inputValue(), ana.email)
      await page.getByLabel('Name').fill('Ana Lovelace')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Your name is changed').waitFor()
      await page.getByRole('button', { name: 'Your account' }).click()
      await page.getByRole('menu').getByText('Ana Lovelace').waitFor()
      await page.keyboard.press('Escape')
      const scheme = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme')
      assert.equal(await scheme(), 'light dark')
      await page.getByRole('button', { name: 'Dark' }).click()
      assert.equal(await scheme(), 'dark')
      await page.getByRole('link', { name: 'Security' }).click()
      await page.getByRole('heading', { name: 'Sign-in and security' }).waitFor()
      assert.equal(await scheme(), 'dark')
      await page.getByRole('link', { name: 'Profile' }).click()
      await page.getByRole('button', { name: 'As the system' }).click()
      assert.equal(await scheme(), 'light dark')
    }))

  it('has sessions and security in the same clothes, and changes the password', () =>
    visit({ expects: [400] }, async ({ page }) => {
      const bob = await app.signUp('bob')
      await page.goto(`${app.url}/login?return_to=%2Faccount%2Fsessions`)
      await fillLogin(page, bob.email)
      await page.getByRole('heading', { name: 'Where you are signed in' }).waitFor()
      const font = "document.fonts.check('14px Inter Variable') && getComputedStyle(document.body).fontFamily"
      assert.match(String(await page.evaluate(font)), /^"Inter Variable"/)
      const rows = page.getByRole('listitem')
      const before = await rows.count()
      await page.getByRole('button', { name: 'End all others' }).click()
      await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
      assert.ok((await rows.count()) < before)
      await page.getByRole('link', { name: 'Security' }).click()
      const form = page.locator('form', { has: page.locator('input[value="change-password"]') })
      await form.getByLabel('Current password').fill('not the password')
      await form.getByLabel(/New password/).fill('another horse battery')
      await form.getByRole('button').click()
      await page.getByRole('alert').getByText('Invalid password').waitFor()
      await form.getByLabel('Current password').fill(PASSWORD)
      await form.getByLabel(/New password/).fill('another horse battery')
      await form.getByRole('button').click()
      await page.getByText('Your password is changed').waitFor()
      await page.getByRole('link', { name: 'Keys' }).click()
      await page.getByRole('heading', { name: 'You have no key in bob' }).waitFor()
    }))

  it('makes a key, whose secret is shown once and works until it is revoked', () =>
    visit({ as: ana }, async ({ page, go, checkAxe }) => {
      await go('/account/keys')
      await page.getByRole('button', { name: 'New key' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill('Laptop')
      await dialog.getByLabel('Organization', { exact: true }).selectOption('See members')
      await dialog.getByRole('button', { name: 'Create key' }).click()
      const secret = (await dialog.locator('code', { hasText: /^trk_/ }).textContent()) ?? ''
      await checkAxe('key-once')
      assert.equal(await dialog.getByRole('button', { name: 'Done' }).isDisabled(), true)
      await dialog.getByLabel('I have stored it').check()
      await dialog.getByRole('button', { name: 'Done' }).click()
      const self = await app.client(secret).credentials.self({})
      assert.deepEqual(self.scopes.toSorted(), ['org:read', 'repo:write'])
      assert.ok((self.expiresAt ?? 0) > app.now() + 89 * 86_400_000)
      const row = page.getByRole('row', { name: /Laptop/ })
      await row.waitFor()
      assert.ok(!(await page.content()).includes(secret))
      await row.getByRole('button', { name: 'What to do with Laptop' }).click()
      await page.getByRole('menuitem', { name: 'Disable' }).click()
      await row.getByText('disabled').waitFor()
      await row.getByRole('button', { name: 'What to do with Laptop' }).click()
      await page.getByRole('menuitem', { name: 'Revoke…' }).click()
      await page.getByRole('button', { name: 'Revoke the key' }).click()
      await page.getByRole('heading', { name: /^You have no key in / }).waitFor()
      const { status } = await app.call('credentials/self', {}, { token: secret })
      assert.equal(status, 401)
    }))

  /** Others who look after where it works see it, and whose it is. */
  async function sharedWithAdmin(registrationId: string): Promise<void> {
    const { items } = await app.client(ana.token).agents.list({})
    const slug = items.find((item) => item.registrationId === registrationId)?.orgSlug ?? ''
    const bea = await app.signUp('bea')
    await join(app, { slug, owner: ana }, bea, 'admin')
    await visit({ as: bea }, async ({ page, go, checkAxe }) => {
      await go(`/${slug}/agents`)
      const one = page.getByRole('listitem').filter({ hasText: registrationId })
      await one.getByText('by ana').waitFor()
      assert.equal(await one.getByRole('button', { name: 'Revoke…' }).count(), 0)
      await one.getByRole('button', { name: 'What it did' }).click()
      await one.getByText('Created repository notes').waitFor()
      await checkAxe('agents-of-organization')
      await app.client(ana.token).members.makeOwner({ orgSlug: slug, userId: bea.userId })
      await go(`/${slug}/agents`)
      await one.getByRole('button', { name: 'Revoke…' }).waitFor()
    })
  }

  it('has an agent claimed, looked after and revoked', () =>
    visit({}, async ({ page, checkAxe }) => {
      const agent = await registerAgent(app, { type: 'anonymous', agent_name: 'scribe' })
      await app.client(agent.token).repos.create({ name: 'notes' })
      const { ceremony } = await agent.startClaim(ana.email)
      await page.goto(ceremony.verification_uri)
      await fillLogin(page, ana.email)
      await page.getByText('“scribe”').waitFor()
      await page.getByLabel(/six-digit code/).fill(ceremony.user_code)
      await page.getByRole('button', { name: 'Claim this agent' }).click()
      await page.getByRole('link', { name: 'Your agents' }).click()
      const one = page.getByRole('listitem').filter({ hasText: agent.registrationId })
      await one.getByRole('heading', { name: '“scribe”' }).waitFor()
      await one.getByText('its own words').waitFor()
      await one.getByRole('button', { name: 'What it did' }).click()
      await one.getByText('Created repository notes').waitFor()
      await checkAxe('agents')
      await sharedWithAdmin(agent.registrationId)
      const { body } = await agent.poll()
      assert.equal((await app.call('repos/list', {}, { token: body.access_token })).status, 200)
      await one.getByRole('button', { name: 'Revoke…' }).click()
      await page.getByLabel('Type scribe to go on').fill('scribe')
      await page.getByRole('button', { name: 'Revoke the agent' }).click()
      await one.getByText('ended', { exact: true }).waitFor()
      assert.equal((await app.call('repos/list', {}, { token: body.access_token })).status, 401)
    }))
})
