import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { TrellisClient } from '@trellis/contract/client'
import { answerWith, type Person, useReceiver } from '@trellis/server/testing'
import type { Page } from 'playwright-core'
import { noBrowserHere, useConsole } from '../browser.ts'

const name = 'widgets'

describe('webhooks in the console', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const receiver = useReceiver()
  const { app, visit } = useConsole({ TRELLIS_EGRESS_ALLOW: '127.0.0.1' })
  let ana: Person
  let api: TrellisClient
  let base: string
  const commit = (path: string) =>
    api.git.commits.create({
      name,
      branch: 'main',
      message: 'Change',
      changes: [{ op: 'put', path, content: 'x' }],
    })
  before(async () => {
    ana = await app.signUp('ana')
    api = app.client(ana.token)
    base = `/${ana.slug}/${name}/webhooks`
    await api.repos.create({ name })
  })
  const facts = (page: Page) => page.locator('dl').first()

  it('are made with a picker of events and a secret that is shown once', () =>
    visit({ as: ana, expects: [400, 404] }, async ({ page, go, checkAxe }) => {
      await go(`${base}/nothing`)
      await page.getByRole('heading', { name: 'There is no such webhook' }).waitFor()
      await page.getByRole('link', { name: 'All webhooks' }).click()
      await page.getByRole('heading', { name: 'No webhook yet' }).waitFor()
      await page.getByRole('link', { name: 'New webhook' }).click()
      await page.getByLabel('Name').fill('ci')
      await page.getByLabel('URL').fill('ftp://nowhere')
      await page.getByLabel('Pushes').check()
      await page.getByLabel('Branches').fill('main, release/*')
      await page.getByLabel('Events of some types').check()
      await page.getByLabel('git.branch.created').check()
      await page.getByLabel('webhook.*').check()
      await page.getByLabel('Other types').fill('task.escalated')
      await checkAxe('webhook-new')
      await page.getByRole('button', { name: 'Create webhook' }).click()
      await page.getByRole('alert').getByText('http or https').waitFor()
      await page.getByLabel('URL').fill(`${receiver.url}/hook`)
      await page.getByRole('button', { name: 'Create webhook' }).click()
      const secret = await page
        .getByRole('region', { name: 'The signing secret' })
        .locator('code')
        .textContent()
      assert.match(secret ?? '', /^webhsec_/)
      await checkAxe('webhook-secret')
      await page.getByLabel('I have stored it').check()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('heading', { name: 'ci', level: 1 }).waitFor()
      const { on } = await api.webhooks.get({ name, webhook: 'ci' })
      assert.deepEqual(on, {
        push: { branches: ['main', 'release/*'] },
        event: { types: ['git.branch.created', 'webhook.*', 'task.escalated'] },
      })
      await facts(page).getByText('Pushes to main, release/*; git.branch.created, webhook.*').waitFor()
    }))

  it('show deliveries as they happen, what was sent and answered, and deliver again', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`${base}/ci`)
      const list = page.getByRole('region', { name: 'Deliveries' })
      receiver.answer = answerWith(200, '{"thanks":true}')
      await commit('a.txt')
      const row = list.getByRole('row', { name: /git\.push/ }).first()
      await row.getByText('answered 200').waitFor()
      await row.getByRole('link', { name: 'git.push' }).click()
      await page
        .getByRole('region', { name: 'The body of the request' })
        .getByText('"refs/heads/main"')
        .first()
        .waitFor()
      await page.getByRole('region', { name: 'The body of the answer' }).getByText('"thanks": true').waitFor()
      await facts(page).getByText('delivered', { exact: true }).waitFor()
      const first = page.url()
      const before = receiver.received.length
      await page.getByRole('button', { name: 'Deliver again' }).click()
      await page.waitForURL((url) => url.href !== first && url.href.includes('/deliveries/'))
      await receiver.until((received) => received.length > before)
      await facts(page).getByText('delivered', { exact: true }).waitFor()
      const again = receiver.received.at(before)
      const sent = receiver.received.slice(0, before).find(({ body }) => body === again?.body)
      assert.ok(sent, 'it was sent before')
      assert.notEqual(again?.headers['webhook-id'], sent.headers['webhook-id'])
      await page.getByRole('link', { name: 'All deliveries of ci' }).click()
      await list
        .getByRole('row', { name: /git\.push/ })
        .nth(1)
        .waitFor()
      await page.getByRole('button', { name: 'Dropped' }).click()
      await page.getByText('No delivery is dropped.').waitFor()
      assert.equal(new URL(page.url()).searchParams.get('status'), 'dropped')
    }))

  it('are edited, rotated, disabled by their receiver, enabled and deleted', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`${base}/ci`)
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByLabel('Branches').fill('main')
      await page.getByLabel('Events of some types').uncheck()
      await page.getByRole('button', { name: 'Save' }).click()
      await facts(page).getByText('Pushes to main', { exact: true }).waitFor()
      const menu = async (item: string) => {
        await page.getByRole('button', { name: 'More' }).click()
        await page.getByRole('menuitem', { name: item }).click()
      }
      await menu('Rotate the secret')
      await page.getByRole('button', { name: 'Make a new secret' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('The old one retires').waitFor()
      await dialog.getByText(/tomorrow|in 24 hours/).waitFor()
      await dialog.getByLabel('I have stored it').check()
      await dialog.getByRole('button', { name: 'Done' }).click()
      // Both sign for a day; and 410 says that nobody is there any more.
      receiver.answer = answerWith(410)
      const before = receiver.received.length
      await commit('b.txt')
      await receiver.until((received) => received.length > before)
      assert.equal(String(receiver.received.at(-1)?.headers['webhook-signature']).split(' ').length, 2)
      await page
        .getByRole('row', { name: /failed/ })
        .getByText('answered 410')
        .waitFor()
      await page.reload()
      await facts(page).getByText('Its receiver answered 410').waitFor()
      await go(base)
      await page.getByText('Its receiver answered 410').waitFor()
      await page.getByRole('link', { name: 'ci' }).click()
      await page.getByRole('button', { name: 'Enable' }).click()
      await facts(page).getByText('active', { exact: true }).waitFor()
      await menu('Disable')
      await page.getByRole('button', { name: 'Disable it' }).click()
      await facts(page).getByText('Somebody disabled it.').waitFor()
      await menu('Delete')
      await page.getByLabel('Type ci to go on').fill('ci')
      await page.getByRole('button', { name: 'Delete this webhook' }).click()
      await page.getByRole('heading', { name: 'No webhook yet' }).waitFor()
    }))
})
