import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Person } from '@trellis/server/testing'
import { until } from '../../git/harness.ts'
import { noBrowserHere, press, useConsole } from '../browser.ts'

describe('branches, tags and settings in the console', { skip: noBrowserHere, timeout: 300_000 }, () => {
  // It imports from itself.
  const { app, visit } = useConsole({ TRELLIS_EGRESS_ALLOW: '127.0.0.1' })
  let ana: Person
  let bo: Person

  before(async () => {
    ana = await app.signUp('ana')
    bo = await app.signUp('bo')
    const api = app.client(ana.token)
    await api.orgs.create({ slug: 'acme', name: 'Acme' })
    const name = 'widgets'
    await api.repos.create({ name })
    const commit = (branch: string, message: string, parent?: string) =>
      api.git.commits.create({
        ...{ name, branch, message, changes: [{ op: 'put', path: `${message}.txt`, content: message }] },
        ...(parent && { parent }),
      })
    const { oid: first } = await commit('main', 'One')
    await commit('main', 'Two')
    await commit('agents/topic', 'Three', first)
    await commit('agents/topic', 'Four')
    await api.git.branches.create({ name, branch: 'kept', from: first })
    await api.rules.set({ name, pattern: 'kept', refuse: { delete: { except: [] } } })
  })

  it('lists branches with how far they are, makes one and deletes one, unless a rule refuses', () =>
    visit({ as: ana, expects: [403, 404] }, async ({ page, go }) => {
      await go(`/${ana.slug}/widgets/branches`)
      const row = (name: string) => page.getByRole('row', { name })
      assert.match(await row('agents/topic').innerText(), /Four.*1\s+behind.*2\s+ahead/s)
      await row('main').getByText('default').waitFor()
      await page.getByRole('button', { name: 'New branch' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill('fresh')
      await dialog.getByLabel('From').fill('nowhere')
      await dialog.getByRole('button', { name: 'Create branch' }).click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByLabel('From').fill('agents/')
      await page.getByRole('option', { name: 'agents/topic' }).click()
      await dialog.getByRole('button', { name: 'Create branch' }).click()
      await row('fresh').waitFor()
      await page.getByRole('button', { name: 'Delete fresh' }).click()
      await dialog.getByText('It has 2 commits that main does not have.').waitFor()
      await dialog.getByRole('button', { name: 'Delete branch' }).click()
      await row('fresh').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Delete kept' }).click()
      await dialog.getByRole('button', { name: 'Delete branch' }).click()
      await dialog.getByText('deleting this ref is refused by the rule for kept').waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('link', { name: 'Compare agents/topic' }).click()
      await page.waitForURL(`${app.url}/${ana.slug}/widgets/compare/main...agents/topic`)
    }))

  it('makes tags, with and without a message, and deletes them', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`/${ana.slug}/widgets/tags`)
      await page.getByRole('heading', { name: 'There is no tag yet' }).waitFor()
      const dialog = page.getByRole('dialog')
      for (const [tag, message] of [
        ['v1.0', 'The first release'],
        ['light', ''],
      ] as const) {
        await page.getByRole('button', { name: 'New tag' }).click()
        await dialog.getByLabel('Name').fill(tag)
        await dialog.getByLabel('Message').fill(message)
        await dialog.getByRole('button', { name: 'Create tag' }).click()
        await page.getByRole('button', { name: `Delete ${tag}` }).waitFor()
      }
      await page.getByRole('link', { name: 'Two' }).first().waitFor()
      const { items } = await app.client(ana.token).git.tags.list({ name: 'widgets' })
      const main = await app.client(ana.token).git.commits.get({ name: 'widgets', ref: 'main' })
      assert.deepEqual(
        items.map(({ name, oid }) => [name, oid === main.oid]),
        [
          ['light', true],
          ['v1.0', false],
        ],
      )
      await page.getByRole('button', { name: 'Delete light' }).click()
      await dialog.getByRole('button', { name: 'Delete tag' }).click()
      await page.getByRole('button', { name: 'Delete light' }).waitFor({ state: 'detached' })
    }))

  it('makes a repository, and forks one into another organization', () =>
    visit({ as: ana, expects: [409] }, async ({ page, go }) => {
      await go(`/new?org=acme`)
      await page.getByLabel('Name').fill('gears')
      await page.getByLabel('Default branch').fill('trunk')
      await page.getByRole('button', { name: 'Create repository' }).click()
      await page.waitForURL(`${app.url}/acme/gears`)
      const made = await app.client(ana.token, 'acme').repos.get({ name: 'gears' })
      assert.equal(made.defaultBranch, 'trunk')
      await go(`/${ana.slug}/widgets/fork`)
      await page.getByLabel('Name').fill('gears')
      await page.getByRole('button', { name: 'Fork repository' }).click()
      await page.getByRole('alert').getByText('Repo already exists').waitFor()
      await page.getByLabel('Name').fill('copy')
      await page.getByRole('button', { name: 'Fork repository' }).click()
      await page.waitForURL(`${app.url}/acme/copy`)
    }))

  it('imports a repository and says how far it has got, or why it did not', () =>
    visit({ as: ana, expects: [400, 422, 502] }, async ({ page, go }) => {
      const { secret } = await app.client(ana.token).tokens.create({ name: 'widgets', scope: 'read' })
      await go(`/new?org=acme&way=import`)
      await page.getByLabel('Address').fill(`${app.url}/git/${ana.slug}/widgets.git`)
      assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'widgets')
      await page.getByLabel('Name', { exact: true }).fill('brought')
      await page.getByRole('button', { name: 'Import repository' }).click()
      await page.getByRole('alert').getByText('Repo import failed').waitFor()
      await page.getByLabel('It asks for a password or token').check()
      await page.getByLabel('User name there').fill('x')
      await page.getByLabel('Password or token there').fill(secret)
      await page.getByRole('button', { name: 'Import repository' }).click()
      await page.waitForURL(`${app.url}/acme/brought`)
      const { items } = await app.client(ana.token, 'acme').git.branches.list({ name: 'brought' })
      assert.ok(items.some(({ name }) => name === 'agents/topic'))
    }))

  it('has an address for a repository that is called like a page of its organization', () =>
    visit({ as: ana }, async ({ page, go, checkAxe }) => {
      await app.client(ana.token, 'acme').repos.create({ name: 'people' })
      await go('/acme')
      const isRepository = () => page.getByRole('heading', { name: 'Nothing has been pushed yet' }).waitFor()
      await page.getByRole('list', { name: 'Repositories' }).getByRole('link', { name: 'people' }).click()
      await isRepository()
      assert.equal(page.url(), `${app.url}/acme/-/people`)
      await page.reload()
      await isRepository()
      await page
        .getByRole('navigation', { name: 'Repository' })
        .getByRole('link', { name: 'Branches' })
        .click()
      await page.waitForURL(`${app.url}/acme/-/people/branches`)
      await page
        .getByRole('navigation', { name: 'Where you are' })
        .getByRole('link', { name: 'people' })
        .click()
      await page.waitForURL(`${app.url}/acme/-/people`)
      await checkAxe('repository-called-like-a-page')
      // What git clones from leads there, and every repository may be written so.
      await page.goto(`${app.url}/git/acme/people.git`)
      await isRepository()
      assert.equal(page.url(), `${app.url}/acme/-/people`)
      await go(`/${ana.slug}/-/widgets`)
      await page.getByRole('list', { name: 'Files' }).waitFor()
      // The addresses there were before are what they were.
      await go('/acme/people/branches')
      await page.getByRole('heading', { name: 'Branches' }).waitFor()
      for (const path of ['/acme/people', '/acme/people/', '/o/acme/people']) {
        await go(path)
        await page.getByRole('heading', { name: 'People' }).waitFor()
      }
      await page.getByRole('link', { name: 'Agents' }).click()
      await page.waitForURL(`${app.url}/acme/agents`)
    }))

  it('shows the tab of a page where there is no room for all', () =>
    visit({ as: ana, viewport: { width: 390, height: 844 } }, async ({ page, go }) => {
      const tabs = page.getByRole('navigation', { name: 'Repository' })
      const isSeen = async (name: string) => {
        const box = await tabs.getByRole('link', { name, exact: true }).boundingBox()
        return box !== null && box.x >= 0 && box.x + box.width <= 390
      }
      await go(`/${ana.slug}/widgets/settings`)
      await until('the last tab is seen', () => isSeen('Settings'))
      assert.equal(await isSeen('Code'), false)
      await press(page, 'g', page.getByRole('heading', { name: 'Settings' }))
      await page.keyboard.press('c')
      await page.waitForURL(`${app.url}/${ana.slug}/widgets`)
      await until('the first tab is seen', () => isSeen('Code'))
    }))

  it('changes settings and rules, and deletes a repository by its name', () =>
    visit({ as: ana, expects: [404] }, async ({ page, go }) => {
      const api = app.client(ana.token)
      await go(`/${ana.slug}/widgets/settings`)
      await page.getByRole('row', { name: 'HEAD' }).getByText('Force pushes, but for admins').waitFor()
      await page.getByRole('button', { name: 'New rule' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('For', { exact: true }).fill('release/*')
      await dialog.getByLabel('Creating', { exact: false }).first().check()
      await dialog.getByLabel('Who may all the same: Creating').selectOption('owner')
      await dialog.getByRole('button', { name: 'Save rule' }).click()
      await page.getByRole('row', { name: 'release/*' }).getByText('Creating, but for owners').waitFor()
      const { items } = await api.rules.list({ name: 'widgets' })
      assert.deepEqual(items.find(({ pattern }) => pattern === 'release/*')?.refuse, {
        force: { except: ['admin'] },
        create: { except: ['owner'] },
      })
      await page.getByRole('button', { name: 'Remove the rule for kept' }).click()
      await page.getByRole('row', { name: 'kept' }).waitFor({ state: 'detached' })

      await page.getByLabel('Default branch').fill('agents/')
      await page.getByRole('option', { name: 'agents/topic' }).click()
      await page.getByRole('button', { name: 'Change', exact: true }).click()
      await page.getByText('The default branch is agents/topic').waitFor()
      await page.getByLabel('Read-only').click()
      await page.getByText('Nobody can push while it is.').waitFor()
      await page.getByRole('button', { name: 'Purge' }).click()
      await page.getByText('There was nothing to remove').waitFor()
      await page.getByLabel('Name', { exact: true }).fill('gizmos')
      await page.getByRole('button', { name: 'Rename' }).click()
      await page.waitForURL(`${app.url}/${ana.slug}/gizmos/settings`)
      const renamed = await api.repos.get({ name: 'gizmos' })
      assert.deepEqual([renamed.defaultBranch, renamed.readOnly], ['agents/topic', true])

      await page.getByRole('button', { name: 'Delete…' }).click()
      await dialog.getByText(/3 branches, 1 tag, .*go with it/).waitFor()
      assert.ok(await dialog.getByRole('button', { name: 'Delete this repository' }).isDisabled())
      await dialog.getByLabel('Type gizmos to go on').fill('gizmos')
      await dialog.getByRole('button', { name: 'Delete this repository' }).click()
      await page.waitForURL(`${app.url}/${ana.slug}`)
      await page.getByRole('heading', { name: `${ana.slug} has no repository yet` }).waitFor()
    }))

  it('lets others look, and nothing more', () =>
    visit({ as: bo, expects: [403] }, async ({ page, go }) => {
      const invited = await app
        .client(ana.token)
        .members.invite({ orgSlug: 'acme', email: bo.email, role: 'member' })
      await app.client(bo.token).invitations.accept({ invitationId: invited.id })
      await go('/acme/brought/settings')
      await page.getByRole('heading', { name: 'Only admins change this repository' }).waitFor()
    }))
})
