// Every page of the console, in both themes and on a phone, with what opens on it.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { createInProcessRuntime, useReceiver } from '@trellis/server/testing'
import type { Page } from 'playwright-core'
import { noBrowserHere, settled, useConsole } from '../browser.ts'
import { DESK, findFaults, type Look, SIZES } from '../looks.ts'
import { type FullWorld, LONG_REPO, ORG, populate, REPO, RIVAL, TOPIC } from './every-page-world.ts'

interface Place {
  path: string
  /** What is there when everything is. */
  shows: string | RegExp
  /** Buttons that open something, beside those that say so themselves. In a menu: first its button, then the item. */
  opens?: (string | [menu: string, item: string])[]
}

const POPUP = '[role=dialog], [role=alertdialog], [role=menu]'

/** By the address of the route, as the table of routes has it. */
function places({ commit, runs, row, deliveries, event }: FullWorld): Record<string, Place[]> {
  const at = (path: string) => `/${ORG}/${REPO}${path}`
  const repo = '/o/$org/$repo'
  return {
    '/new': [
      { path: `/new?org=${ORG}`, shows: 'Create repository' },
      { path: `/new?org=${ORG}&way=import`, shows: 'Import repository' },
    ],
    '/organizations/new': [{ path: '/organizations/new', shows: 'Create organization' }],
    '/admin': [{ path: '/admin', shows: 'Nothing stands in the way' }],
    '/account/': [{ path: '/account', shows: 'Invitations for you' }],
    '/account/keys': [{ path: `/account/keys?org=${ORG}`, shows: /^Laptop/, opens: ['New key'] }],
    '/account/agents': [{ path: '/account/agents', shows: '“scribe”', opens: ['Revoke…'] }],
    '/o/$org/': [
      { path: `/${ORG}`, shows: LONG_REPO },
      { path: '/lab', shows: 'lab has no repository yet' },
    ],
    '/o/$org/~/activity': [{ path: `/${ORG}/activity`, shows: /^Created organization/ }],
    '/o/$org/~/people': [{ path: `/${ORG}/people`, shows: 'linus@example.com', opens: ['Invite somebody'] }],
    '/o/$org/~/agents': [{ path: `/${ORG}/agents`, shows: 'No agent came with' }],
    '/o/$org/~/settings': [
      { path: `/${ORG}/settings`, shows: /of 10,000/ },
      { path: '/lab/settings', shows: /of 10,000/, opens: ['Delete…'] },
    ],
    [`${repo}/`]: [
      { path: at(''), shows: 'Somebody said so.', opens: ['Find file'] },
      { path: `/${ORG}/empty`, shows: 'Nothing has been pushed yet' },
      { path: `/${ORG}/${LONG_REPO}`, shows: 'Nobody can push while it is.' },
    ],
    [`${repo}/branches`]: [
      { path: at('/branches'), shows: TOPIC, opens: ['New branch', `Delete ${TOPIC}`] },
      { path: `/${ORG}/empty/branches`, shows: 'There is no branch yet' },
    ],
    [`${repo}/tags`]: [
      { path: at('/tags'), shows: 'v1.0', opens: ['New tag', 'Delete light'] },
      { path: `/${ORG}/empty/tags`, shows: 'There is no tag yet' },
    ],
    [`${repo}/commit/$oid`]: [{ path: at(`/commit/${commit}`), shows: 'Renamed without changes.' }],
    [`${repo}/compare/$`]: [
      { path: at('/compare/'), shows: 'Choose what to compare' },
      { path: at(`/compare/main...${TOPIC}`), shows: /^Can be merged/, opens: ['Merge…'] },
      { path: at(`/compare/${TOPIC}...${RIVAL}`), shows: 'both changed the same lines' },
    ],
    [`${repo}/tree/$`]: [{ path: at('/tree/main/docs'), shows: 'guide.md' }],
    [`${repo}/blob/$`]: [
      { path: at('/blob/main/src/code.ts#L3-L5'), shows: 'value12' },
      { path: at('/blob/main/README.md'), shows: 'Somebody said so.' },
      { path: at('/blob/main/img/logo.png'), shows: 'logo.png' },
      { path: at('/blob/main/src/data.bin'), shows: 'This is no text' },
    ],
    [`${repo}/blame/$`]: [{ path: at('/blame/main/src/code.ts'), shows: 'value12' }],
    [`${repo}/commits/$`]: [{ path: at('/commits/main'), shows: 'Tell everybody' }],
    [`${repo}/search`]: [
      { path: at('/search?q=value1'), shows: 'value12' },
      { path: at('/search?q=nowhere'), shows: /^Nothing in main has/ },
    ],
    [`${repo}/extensions`]: [
      { path: at('/extensions'), shows: 'API_TOKEN', opens: ['New secret', 'Delete API_TOKEN'] },
      { path: at('/extensions?ref=blocked'), shows: '1 thing is broken' },
      { path: `/${ORG}/empty/extensions`, shows: 'Nothing has been pushed yet' },
    ],
    [`${repo}/extensions/$name`]: [
      { path: at('/extensions/greet'), shows: 'What to say' },
      { path: at(`/extensions/tasks?ref=${TOPIC}`), shows: 'New power.' },
    ],
    [`${repo}/promote`]: [
      { path: at(`/promote?ref=${TOPIC}`), shows: '1 new power would be given.' },
      { path: at('/promote?ref=blocked'), shows: /1 broken/ },
    ],
    [`${repo}/runs`]: [
      { path: at('/runs'), shows: 'breaks' },
      { path: `/${ORG}/empty/runs`, shows: 'Nothing has run yet' },
    ],
    [`${repo}/runs/$id`]: [
      { path: at(`/runs/${runs.succeeded}`), shows: /^line 9/ },
      { path: at(`/runs/${runs.failed}`), shows: /^TypeError: no title/ },
      { path: at(`/runs/${runs.workflow}`), shows: /waits for/ },
      { path: at(`/runs/${runs.caused}`), shows: 'task.escalated' },
    ],
    [`${repo}/daemons`]: [
      { path: at('/daemons'), shows: '3 wakes in a row failed.' },
      { path: `/${ORG}/empty/daemons`, shows: 'Nothing is woken by the clock here' },
    ],
    [`${repo}/records`]: [
      { path: at('/records'), shows: 'status,priority' },
      { path: `/${ORG}/empty/records`, shows: 'No record is in force yet' },
    ],
    [`${repo}/records/$record`]: [
      {
        path: at('/records/task'),
        shows: 'Write the guide',
        opens: [
          ['Import, export', 'Import rows'],
          ['Import, export', 'Export rows'],
        ],
      },
      { path: at('/records/task?where=%7B%22priority%22%3A5%7D'), shows: 'No row meets all of these' },
    ],
    [`${repo}/records/$record/new`]: [{ path: at('/records/task/new'), shows: 'Add task' }],
    [`${repo}/records/$record/$id`]: [
      { path: at(`/records/task/${row}`), shows: 'Write the guide', opens: ['Delete'] },
    ],
    [`${repo}/webhooks`]: [
      { path: at('/webhooks'), shows: 'Its receiver answered 410' },
      { path: `/${ORG}/empty/webhooks`, shows: 'No webhook yet' },
    ],
    [`${repo}/webhooks/-/new`]: [{ path: at('/webhooks/-/new'), shows: 'Create webhook' }],
    [`${repo}/webhooks/$webhook`]: [
      {
        path: at('/webhooks/ci'),
        shows: 'answered 200',
        opens: ['Edit', ['More', 'Rotate the secret'], ['More', 'Delete']],
      },
      { path: at('/webhooks/gone'), shows: 'answered 410' },
    ],
    [`${repo}/webhooks/$webhook/deliveries/$delivery`]: [
      { path: at(`/webhooks/ci/deliveries/${deliveries.delivered}`), shows: '"thanks": true' },
      { path: at(`/webhooks/gone/deliveries/${deliveries.failed}`), shows: 'Deliver again' },
    ],
    [`${repo}/activity`]: [
      { path: at('/activity'), shows: 'run.succeeded' },
      { path: at(`/activity?event=${event}`), shows: 'refs/heads/main' },
    ],
    [`${repo}/access`]: [{ path: at('/access'), shows: '0 of 5', opens: ['New token', 'New invite'] }],
    [`${repo}/fork`]: [{ path: at('/fork'), shows: 'Fork repository' }],
    [`${repo}/settings`]: [{ path: at('/settings'), shows: 'release/*', opens: ['New rule', 'Delete…'] }],
    // The last, when the browser knows in which organization somebody works.
    '/': [{ path: '/', shows: LONG_REPO, opens: ['Switch organization', 'Your account', 'Search'] }],
  }
}

describe('every page of the console', { skip: noBrowserHere, timeout: 600_000 }, () => {
  const receiver = useReceiver()
  const runtime = createInProcessRuntime()
  const { app, visit } = useConsole(
    { TRELLIS_EGRESS_ALLOW: '127.0.0.1' },
    { runtimes: { worker: runtime, workflow: runtime } },
  )
  let world: FullWorld
  before(async () => {
    world = await populate(app, receiver)
  })

  it('is sound in both themes, on a desk and on a phone, and so is what opens on it', () =>
    visit({ as: world.owner }, async ({ page, go, troubles }) => {
      const faults: string[] = []
      const opened = new Set<string>()
      const all = places(world)
      await go('/account')
      assert.deepEqual((await routesOf(page)).toSorted(), Object.keys(all).toSorted())
      for (const place of Object.values(all).flat()) {
        try {
          await goTo(page, place)
          for (const looks of SIZES) faults.push(...(await look(page, place, looks, opened)))
        } catch (error) {
          faults.push(`${place.path}: ${error}`)
        }
        faults.push(...troubles.splice(0).map((trouble) => `${place.path}: ${trouble}`))
      }
      assert.deepEqual(faults, [])
    }))
})

/** What can be gone to, as the console's own router knows it: no page can be left out here unnoticed. */
const routesOf = (page: Page): Promise<string[]> =>
  page.evaluate(
    `Object.values(__TSR_ROUTER__.routesById).filter(({ children }) => !children).map(({ fullPath }) => fullPath)`,
  )

/** As a link does it, without loading everything anew. */
async function goTo(page: Page, { path, shows }: Place): Promise<void> {
  await page.setViewportSize(DESK)
  await page.evaluate(`new Promise((resolve) => {
    const end = __TSR_ROUTER__.subscribe('onResolved', () => resolve(end()))
    __TSR_ROUTER__.history.push(${JSON.stringify(path)})
  })`)
  await page.getByText(shows).locator('visible=true').first().waitFor()
  await settled(page)
}

const nameOf = (path: string): string => path.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '') || 'home'

/** At one size: the page, and what its buttons open, one after the other. */
async function look(
  page: Page,
  { path, opens = [] }: Place,
  looks: readonly Look[],
  opened: Set<string>,
): Promise<string[]> {
  const name = nameOf(path)
  const faults = await findFaults(page, name, looks)
  // What many pages have is opened on the first of them.
  const isNew = (button: string) => opened.size < opened.add(`${looks[0]?.size} ${button}`).size
  const own = ((await page.evaluate(BUTTONS)) as string[]).filter(isNew)
  for (const wanted of [...own, ...opens]) {
    const [button = '', item] = typeof wanted === 'string' ? [wanted] : wanted
    await page.getByRole('button', { name: button, exact: true }).first().click()
    if (item) await page.getByRole('menuitem', { name: item }).click()
    const popup = page.locator(POPUP).locator('visible=true').first()
    await popup.waitFor()
    await settled(page)
    faults.push(...(await findFaults(page, `${name}-${nameOf(item ?? button)}`, looks, POPUP)))
    await page.keyboard.press('Escape')
    await popup.waitFor({ state: 'detached' })
  }
  return faults
}

/** The names of what says of itself that it opens something; of cells that are alike one will do. */
const BUTTONS = `[...new Map(
  [...document.querySelectorAll('main button[aria-haspopup]')]
    .filter((button) => button.checkVisibility() && !button.disabled)
    .map((button) => [button.closest('th, td, li')?.tagName ?? button, button.ariaLabel ?? button.innerText]),
).values()]`
