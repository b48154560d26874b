import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { TrellisClient } from '@trellis/contract/client'
import { type Person, worldOf } from '@trellis/server/testing'
import { noBrowserHere, useConsole } from '../browser.ts'

const name = 'widgets'
const declares = {
  capabilities: ['records:write', 'events:emit'],
  record: { name: 'task', fields: { title: { type: 'string' } } },
}

describe('activity in the console', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const { app, visit } = useConsole()
  let ana: Person
  let api: TrellisClient
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
    const world = worldOf(app, ana.token)
    await world.repo(name, {
      tasks: {
        declares,
        does: `await ctx.records.create('task', { title: 'From a run' }); await ctx.events.emit('task.escalated', { payload: { why: 'late' } })`,
      },
    })
    await api.records.create({ name, record: 'task', data: { title: 'By hand' } })
    await world.run(name, 'tasks')
  })

  it('tells events in words, links what they are about, and shows why they happened', () =>
    visit({ as: ana }, async ({ page, go, checkAxe }) => {
      await go(`/${ana.slug}/${name}/activity`)
      const log = page.getByRole('list', { name: 'Events' })
      const event = (words: string | RegExp) => log.getByRole('article', { name: words })
      await event('Added a task “By hand”').waitFor()
      await event('A run of tasks succeeded').waitFor()
      await event(/^Promoted [0-9a-f]{7}/).waitFor()
      assert.ok((await event('Added a task “By hand”').getByRole('button', { name: 'ana' }).count()) === 1)
      const pushes = page.getByRole('figure', { name: 'Pushes a day, the last 30 days' })
      await pushes.getByRole('cell', { name: '1 pushes' }).waitFor({ state: 'attached' })
      await page.getByRole('figure', { name: 'Runs a day' }).waitFor()
      const caused = event('Added a task “From a run”')
      await caused.getByRole('button', { name: /^Details of/ }).click()
      await caused.getByRole('list', { name: 'What led to it' }).getByText(/^run_/).first().waitFor()
      await caused.getByText('From a run', { exact: true }).waitFor()
      const push = event('Pushed main for the first time')
      await push.getByRole('button', { name: /^Details of/ }).click()
      await push.getByText('extensions/tasks/index.ts').waitFor()
      await checkAxe('activity-details')
      await caused.getByRole('list', { name: 'What led to it' }).getByRole('link', { name: /^run_/ }).click()
      await page.waitForURL(`${app.url}/${ana.slug}/${name}/runs/run_*`)
      await page.goBack()
      await event('Pushed main for the first time').getByRole('link', { name: 'Pushed' }).click()
      await page.waitForURL(`${app.url}/${ana.slug}/${name}/commit/*`)
      await page.goBack()
      await event('Added a task “By hand”').getByRole('link').click()
      await page.getByRole('heading', { name: 'By hand' }).waitFor()
      const { items } = await api.events.list({ name, types: ['git.push'], limit: 1 })
      await go(`/${ana.slug}/${name}/activity?event=${items[0]?.id}`)
      await page
        .getByRole('region', { name: 'The event', exact: true })
        .getByText('refs/heads/main')
        .first()
        .waitFor()
    }))

  it('says how many are new instead of jumping, and keeps filters in the address', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`/${ana.slug}/${name}/activity?types=git,task.escalated`)
      const log = page.getByRole('list', { name: 'Events' })
      await log.getByRole('article', { name: 'task.escalated' }).waitFor()
      assert.equal(await log.getByRole('article', { name: /^Added/ }).count(), 0)
      // The tail is open when it has told of something.
      const fresh = page.getByRole('button', { name: /^\d+ new$/ })
      await commit('a.txt')
      await fresh.waitFor()
      assert.equal(await log.getByRole('article', { name: 'Pushed 1 commit to main' }).count(), 0)
      await fresh.click()
      await log.getByRole('article', { name: 'Pushed 1 commit to main' }).waitFor()
      await page.getByRole('button', { name: 'Remove the filter task.escalated' }).click()
      await log.getByRole('article', { name: 'task.escalated' }).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'record', exact: true }).click()
      await log.getByRole('article', { name: 'Added a task “By hand”' }).waitFor()
      assert.equal(new URL(page.url()).searchParams.get('types'), 'git,record')
      await log
        .getByRole('article', { name: 'Added a task “By hand”' })
        .getByRole('button', { name: 'ana' })
        .click()
      await page.getByRole('button', { name: 'Remove the filter by ana' }).waitFor()
      assert.equal(new URL(page.url()).searchParams.get('actor'), `user:${ana.userId}`)
      await page.reload()
      await log.getByRole('article', { name: 'Added a task “By hand”' }).waitFor()
    }))

  it('has the log of the organization, too', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`/${ana.slug}/activity`)
      const log = page.getByRole('list', { name: 'Events' })
      await log.getByRole('article', { name: `Created organization ${ana.slug}` }).waitFor()
      await api.keys.create({ name: 'Build server', scopes: ['repo:read'] })
      await page.getByRole('button', { name: '1 new' }).click()
      await log.getByRole('article', { name: 'Made the key Build server' }).waitFor()
    }))
})
