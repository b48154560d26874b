// Extensions, runs, promotions and daemons in the console, with modules that workerd runs.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { filesOf, type Person, type RunsWorld, worldOf } from '@trellis/server/testing'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { noBrowserHere, useConsole } from '../browser.ts'

const LINES = 50_000
/** Generous: machines that test have other things to do. */
const LONGEST_TASK_MS = 2_000

const INPUT = {
  type: 'object',
  required: ['title', 'count'],
  properties: {
    title: { type: 'string', description: 'What to say', minLength: 3, maxLength: 80 },
    count: { type: 'integer', minimum: 1, maximum: 5, default: 2 },
    mood: { enum: ['glad', 'grave'], default: 'glad' },
    loud: { type: 'boolean', default: false },
    tags: { type: 'array', items: { type: 'string' } },
    to: { type: 'object', properties: { email: { type: 'string', format: 'email' } }, required: ['email'] },
    more: {},
  },
}
const note = (fields: object = {}) => ({ name: 'note', fields: { text: { type: 'string' }, ...fields } })
const NOTES = { record: note() }
const descriptor = (name: string, declares: object) =>
  JSON.stringify({ version: 1, name, dispatch: true, ...declares })

const EXTENSIONS = {
  greet: {
    declares: {
      description: 'Says what it is told',
      capabilities: ['repo:read', 'secret:API_TOKEN'],
      inputSchema: INPUT,
      outputSchema: { type: 'object' },
    },
    does: `ctx.log('greeting', { mood: input.mood }); return { said: Array(input.count).fill(input.title), ...input }`,
  },
  slow: {
    declares: { capabilities: ['repo:read'] },
    does: `
      for (let line = 1; line <= 3; line++) ctx.log('line ' + line)
      while (!ctx.signal.aborted && !(await ctx.repo.branches()).some(({ name }) => name === 'go'))
        await new Promise((resolve) => setTimeout(resolve, 200))
      ctx.log('gone on')`,
  },
  first: {
    declares: { capabilities: ['events:emit'] },
    does: `await ctx.events.emit('task.escalated', { subject: 'task/7' })`,
  },
  second: { declares: { on: { event: { types: ['task.escalated'] } } }, does: `return input.subject` },
  flow: {
    declares: { runtime: 'workflow' },
    does: `
      await ctx.step.do('prepare', async () => ({ ready: true }))
      await ctx.step.do('flaky', { retries: 1 }, async () => { throw new Error('not today') }).catch(() => {})
      await ctx.step.sleep('a nap', 1)
      await ctx.step.waitForEvent('approval', { type: 'flow.approved', subject: 'flow/*' })`,
  },
  boxed: { declares: { runtime: 'sandbox' }, does: `return 1` },
  tired: {
    declares: { dispatch: false, daemon: { scheduleIntervalMinutes: 60, onEventTypes: ['note.read'] } },
    does: `throw new Error('the coffee is out')`,
  },
  notes: { declares: NOTES, does: `return input` },
} satisfies Parameters<RunsWorld['repo']>[1]

const BREAKS = `import { deep } from './deep.ts'

export default async function (input: { title: string }) {
  return deep(input)
}
`
const DEEP = `// Something goes wrong here.
export const deep = (input: { title?: string }) => {
  if (!input.title) throw new TypeError('no title')
  return input.title
}
`

describe('programs in the console', { skip: noBrowserHere, timeout: 600_000 }, () => {
  // Runs that wait for the browser wait for as long as it takes.
  const { app, visit } = useConsole({ TRELLIS_RUN_TIMEOUT_SECONDS: '300' })
  let ana: Person
  let world: RunsWorld
  let at: (path: string) => string
  const as = () => ({ as: ana })

  before(async () => {
    ana = await app.signUp('ana')
    world = worldOf(app, ana.token)
    at = (path) => `/${ana.slug}/tools${path}`
    await world.ok('repos/create', { name: 'tools' })
    await world.ok('repos/create', { name: 'bare' })
    await world.commit('bare', { 'README.md': '# Bare\n' })
    await world.commit('tools', {
      ...filesOf(EXTENSIONS),
      'extensions/breaks/extension.json': descriptor('breaks', {}),
      'extensions/breaks/index.ts': BREAKS,
      'extensions/breaks/deep.ts': DEEP,
    })
    await world.ok('extensions/promote', { name: 'tools' })
  })

  it('teaches how to write the first extension and the first daemon', () =>
    visit(as(), async ({ page, go }) => {
      await go(`/${ana.slug}/bare/extensions`)
      await page.getByRole('heading', { name: 'No extensions here yet' }).waitFor()
      await page.getByText(`git clone ${app.url}/git/${ana.slug}/bare.git`).waitFor()
      await page.getByRole('link', { name: 'Runs', exact: true }).click()
      await page.getByRole('heading', { name: 'Nothing has run yet' }).waitFor()
      await page.getByRole('link', { name: 'Daemons', exact: true }).click()
      await page.getByRole('heading', { name: 'Nothing is woken by the clock here' }).waitFor()
      // What would wake it is said before it is promoted.
      const declares = { dispatch: false, daemon: { scheduleIntervalMinutes: 60 } }
      await world.commit('bare', filesOf({ sleepy: { declares, does: 'return 1' } }))
      await go(`/${ana.slug}/bare/extensions`)
      await page
        .getByRole('row', { name: /sleepy/ })
        .getByText('every hour')
        .waitFor()
    }))

  it('lists extensions with what they may do, what is off, and keeps secrets', () =>
    visit(as(), async ({ page, go, checkAxe }) => {
      await go(at('/extensions'))
      const table = page.getByRole('region', { name: 'Extensions' })
      const row = table.getByRole('row', { name: /greet/ })
      await row.getByText('secret:API_TOKEN').waitFor()
      await row.getByText('canonical').waitFor()
      await table
        .getByRole('row', { name: /second/ })
        .getByText('task.escalated')
        .waitFor()
      await page.getByText('The sandbox runtime is off.').waitFor()
      await page.getByText('To turn it on: TRELLIS_SANDBOX=on').waitFor()
      const secrets = page.getByRole('region', { name: 'Secrets' })
      await secrets.getByRole('row', { name: /API_TOKEN greet not set/ }).waitFor()
      await checkAxe('programs-extensions')
      await secrets.getByRole('button', { name: 'Set API_TOKEN' }).click()
      await page.getByLabel('Value').fill('a secret value')
      await page.getByRole('button', { name: 'Keep secret' }).click()
      await secrets.getByRole('button', { name: 'Delete API_TOKEN' }).waitFor()
      assert.deepEqual(
        (await world.ok('secrets/list', { name: 'tools' })).items.map(
          ({ secret }: { secret: string }) => secret,
        ),
        ['API_TOKEN'],
      )
      await secrets.getByRole('button', { name: 'Delete API_TOKEN' }).click()
      await page.getByLabel('Type API_TOKEN to go on').fill('API_TOKEN')
      await page.getByRole('button', { name: 'Delete this secret' }).click()
      await secrets.getByText('not set').waitFor()
    }))

  it('says how extensions are turned on where they are off, and what is not there', () =>
    visit({ ...as(), expects: [404] }, async ({ page, go }) => {
      await go(at('/runs/run_none'))
      await page.getByRole('heading', { name: 'There is no such run' }).waitFor()
      await go(at('/extensions/none'))
      await page.getByRole('heading', { name: 'There is no extension none' }).waitFor()
      const off = {
        defined: true,
        code: 'FEATURE_UNAVAILABLE',
        status: 404,
        message: 'Feature is not available',
      }
      await page.route('**/api/v1/daemons/list', (route) =>
        route.fulfill({ status: 404, json: { ...off, data: { feature: 'extensions' } } }),
      )
      await page.route('**/readyz', (route) =>
        route.fulfill({ json: { runtimesOff: ['worker: off. To turn it on: TRELLIS_EXTENSIONS=on'] } }),
      )
      await go(at('/daemons'))
      await page.getByRole('heading', { name: 'Extensions are off' }).waitFor()
      await page.getByText('To turn it on: TRELLIS_EXTENSIONS=on').waitFor()
    }))

  it('runs one from a form made of its schema, and says at the field what is wrong', () =>
    visit({ ...as(), expects: [422] }, async ({ page, go, checkAxe }) => {
      await go(at('/extensions/greet'))
      const form = page.getByRole('form', { name: 'Run greet' })
      await form.getByRole('button', { name: 'Run' }).click()
      await form.getByText('Fill this in.').waitFor()
      await form.getByLabel('title').fill('Hi')
      await form.getByLabel('mood').selectOption('grave')
      await form.getByLabel('loud').check()
      await form.getByRole('button', { name: 'Add to tags' }).click()
      await form.getByLabel('tags 1', { exact: true }).fill('one')
      await form.getByRole('button', { name: 'Give to' }).click()
      await form.getByLabel('email').fill('ana@example.com')
      await form.getByLabel('more (optional)').fill('{"a": ')
      await form.getByText('This is no JSON yet').waitFor()
      await form.getByLabel('more (optional)').fill('{"a": 1}')
      await checkAxe('programs-extension')
      await form.getByRole('button', { name: 'Run' }).click()
      const field = form.locator('div', { has: page.getByLabel('title') })
      await field.getByText('Must NOT have fewer than 3 characters.').first().waitFor()
      assert.equal(await form.getByLabel('title').getAttribute('aria-invalid'), 'true')
      await form.getByLabel('title').fill('Hello')
      await form.getByRole('button', { name: 'Run' }).click()
      await page.waitForURL('**/runs/run_*')
      const output = page.getByRole('region', { name: 'Output' })
      await output.getByText('Hello').first().waitFor()
      const [run] = (await world.ok('runs/list', { name: 'tools', extension: 'greet' })).items
      assert.deepEqual(run.input, {
        ...{ title: 'Hello', count: 2, mood: 'grave', loud: true, tags: ['one'] },
        ...{ to: { email: 'ana@example.com' }, more: { a: 1 } },
      })
      await page.getByRole('log').getByText('greeting').waitFor()
      await page.getByRole('link', { name: 'Change the input' }).click()
      assert.equal(await form.getByLabel('title').inputValue(), 'Hello')
      await form.getByRole('button', { name: 'JSON' }).click()
      assert.deepEqual(JSON.parse(await form.getByLabel('Input').inputValue()), run.input)
    }))

  it('shows the log as it grows, and cancels', () =>
    visit(as(), async ({ page, go }) => {
      const { run } = await world.ok('runs/dispatch', { name: 'tools', extension: 'slow' })
      await go(at(`/runs/${run.id}`))
      await page.getByRole('log').getByText('line 3').waitFor()
      await page.getByRole('heading', { name: /slow running/ }).waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('heading', { name: /slow cancelled/ }).waitFor()
      await page.getByRole('button', { name: 'Run again' }).click()
      await page.waitForURL((url) => url.pathname.includes('/runs/') && !url.pathname.endsWith(run.id))
      await page.getByRole('log').getByText('line 3').waitFor()
      await world.ok('git/branches/create', { name: 'tools', branch: 'go', from: 'main' })
      await page.getByRole('log').getByText('gone on').waitFor()
      await page.getByRole('heading', { name: /slow succeeded/ }).waitFor()
      await world.ok('git/branches/delete', { name: 'tools', branch: 'go' })
    }))

  it('leads from an error to the line', () =>
    visit(as(), async ({ page, go }) => {
      const run = await world.run('tools', 'breaks')
      await go(at(`/runs/${run.id}`))
      const error = page.getByRole('region', { name: 'Error' })
      await error.getByText('TypeError: no title').first().waitFor()
      const link = error.getByRole('link', { name: /extensions\/breaks\/deep\.ts:3/ })
      assert.equal(
        await link.first().getAttribute('href'),
        at(`/blob/${run.commitSha}/extensions/breaks/deep.ts#L3`),
      )
      await page
        .getByRole('log')
        .getByRole('link', { name: /deep\.ts:3/ })
        .waitFor()
      await page.getByLabel('Level').selectOption('error')
      await page.getByRole('log').getByText('queued').waitFor({ state: 'visible' })
      await link.first().click()
      await page.waitForURL(`**/blob/${run.commitSha}/extensions/breaks/deep.ts#L3`)
      await page.getByText("throw new TypeError('no title')").first().waitFor()
    }))

  it('draws what caused a run', () =>
    visit(as(), async ({ page, go }) => {
      const first = await world.run('tools', 'first')
      const find = async () => (await world.ok('runs/list', { name: 'tools', extension: 'second' })).items[0]
      while (!(await find())?.endedAt) await new Promise((resolve) => setTimeout(resolve, 20))
      const second = await find()
      await go(at(`/runs/${second.id}`))
      const chain = page.getByRole('navigation', { name: 'Cause' })
      await chain.getByRole('link', { name: 'first' }).waitFor()
      const words = (await chain.getByRole('listitem').allInnerTexts()).map((text) =>
        text.replace(/\s+/g, ' '),
      )
      assert.deepEqual(
        words.map((text) => text.replace(/^(succeeded|failed) /, '')),
        ['you', 'first', 'task.escalated task/7', 'second'],
      )
      await chain.getByRole('link', { name: 'first' }).click()
      await page.waitForURL(`**/runs/${first.id}`)
      await page.getByRole('heading', { name: /first succeeded/ }).waitFor()
      await page.goBack()
      await chain.getByRole('link', { name: 'task.escalated' }).click()
      await page.waitForURL(`**/activity?event=${second.causeEventId}`)
    }))

  it('puts the steps of a workflow on a time line', () =>
    visit(as(), async ({ page, go }) => {
      const { run } = await world.ok('runs/dispatch', { name: 'tools', extension: 'flow' })
      await go(at(`/runs/${run.id}`))
      const steps = page.getByRole('table', { name: 'Steps' })
      await steps.getByRole('row', { name: /approval waits for flow\.approved flow\/\*/ }).waitFor()
      await steps.getByRole('row', { name: /flaky step, attempt 2 Error: not today/ }).waitFor()
      await steps.getByRole('row', { name: /a nap sleeps/ }).waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('heading', { name: /flow cancelled/ }).waitFor()
    }))

  it('lists runs, by what is in the address, and says that there are new ones', () =>
    visit(as(), async ({ page, go }) => {
      await go(at('/runs?status=failed'))
      const table = page.getByRole('region', { name: 'Runs' })
      await table.getByRole('link', { name: 'breaks' }).waitFor()
      assert.equal(await table.getByRole('link', { name: 'greet' }).count(), 0)
      await page.getByLabel('Status').selectOption('')
      await table.getByRole('link', { name: 'greet' }).waitFor()
      await page.getByRole('heading', { name: 'Runs' }).click()
      for (const key of ['j', 'j', 'k', 'j']) await page.keyboard.press(key)
      const second = await table.getByRole('row').nth(2).getByRole('link').first().getAttribute('aria-label')
      assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), second)
      await page.getByLabel('Extension').fill('second')
      await page.getByLabel('Extension').press('Enter')
      await table.getByRole('link', { name: 'greet' }).waitFor({ state: 'detached' })
      assert.equal(new URL(page.url()).search, '?extension=second')
      await page.getByText('live', { exact: true }).waitFor()
      const before = await table.getByRole('row').count()
      await world.run('tools', 'second')
      await page.getByRole('button', { name: '1 new' }).waitFor()
      assert.equal(await table.getByRole('row').count(), before)
      await page.getByRole('button', { name: '1 new' }).click()
      await table.getByRole('row').nth(before).waitFor()
    }))

  it('shows what a promotion would change, why it is blocked, and promotes', () =>
    visit({ ...as(), expects: [422] }, async ({ page, go }) => {
      await world.ok('records/create', { name: 'tools', record: 'note', data: { text: 'hello' } })
      await branch(world, 'blocked', {
        'extensions/notes/extension.json': descriptor('notes', {
          record: note({ due: { type: 'timestamp', required: true } }),
        }),
      })
      await go(at('/promote?ref=blocked'))
      await page.getByText('due is new and required, has no default').waitFor()
      assert.equal(await page.getByRole('button', { name: 'Promote' }).isDisabled(), true)
      await page.getByText('1 blocked: rows of note do not fit.').waitFor()

      await branch(world, 'broken', { 'extensions/notes/extension.json': '{"version": 1, "name": "nodes"}' })
      await go(at('/promote?ref=broken'))
      await page
        .getByRole('list', { name: 'What is broken' })
        .getByText('extensions/notes/extension.json')
        .waitFor()
      await page.getByText('1 broken').waitFor()
      await go(at('/extensions?ref=broken'))
      await page.getByRole('heading', { name: '1 thing is broken' }).waitFor()
      await page.getByRole('row', { name: /notes .*in force, not here/ }).waitFor()
      await go(at('/extensions/notes?ref=broken'))
      await page.getByRole('heading', { name: 'Extension is invalid' }).waitFor()

      await branch(world, 'next', {
        'extensions/notes/extension.json': descriptor('notes', {
          record: note({ priority: { type: 'integer', default: 3 } }),
          capabilities: ['net:api.example.com'],
          daemon: { scheduleIntervalMinutes: 60 },
        }),
      })
      await go(at('/extensions/notes?ref=next'))
      await page.getByText('New power.').waitFor()
      await go(at('/promote?ref=next'))
      await page.getByText('1 new power would be given.').waitFor()
      const list = (name: string) => page.getByRole('list', { name })
      await list('Grants').getByText('net:api.example.com', { exact: true }).waitFor()
      await list('Records').getByText('add field priority · backfill priority = 3 · 1 row').waitFor()
      await list('Daemons').getByText('every hour').waitFor()
      await page.getByRole('button', { name: 'Promote' }).click()
      await page.getByRole('heading', { name: 'Promoted', exact: true }).waitFor()
      const { canonicalCommitSha } = await world.ok('extensions/list', { name: 'tools' })
      assert.equal(
        canonicalCommitSha,
        (await world.ok('extensions/list', { name: 'tools', ref: 'next' })).commitSha,
      )
    }))

  it('tells why a daemon is left alone, and resumes it', () =>
    visit(as(), async ({ page, go }) => {
      for (let wake = 0; wake < 3; wake++)
        await world.ended((await world.ok('daemons/wake', { name: 'tools', daemon: 'tired' })).run.id)
      await go(at('/daemons'))
      const daemon = page.getByRole('article', { name: 'tired' })
      await daemon.getByText('3 wakes in a row failed.').waitFor()
      await daemon.getByText('note.read').waitFor()
      await daemon.getByRole('button', { name: 'Resume' }).click()
      await daemon.getByRole('button', { name: 'Wake now' }).click()
      await daemon.getByText('failed', { exact: true }).waitFor()
      await daemon.getByRole('link', { name: 'See its last run' }).click()
      await page.getByRole('region', { name: 'Error' }).getByText('the coffee is out').first().waitFor()
    }))

  it(`stays smooth over a log of ${LINES} lines`, (t) =>
    visit(as(), async ({ page, go }) => {
      const run = await world.run('tools', 'greet', { title: 'Much', count: 1 })
      await lengthen(run.id)
      await page.addInitScript(WATCH_TASKS)
      await go(at(`/runs/${run.id}`))
      const log = page.getByRole('log')
      await page.getByText(`${(LINES + 4).toLocaleString('en')} lines`).waitFor()
      const longest = await longestTask(page)
      for (let step = 1; step <= 20; step++)
        await log.evaluate((frame: { scrollTop: number; scrollHeight: number }, part) => {
          frame.scrollTop = frame.scrollHeight * part
          return new Promise((resolve) => setTimeout(resolve, 16))
        }, step / 20)
      await page.getByRole('button', { name: 'Follow the end' }).click()
      await log.getByText(`line ${LINES} of many`).waitFor()
      assert.ok((await log.locator('[data-index]').count()) < 200, 'only what can be seen is drawn')
      const scrolling = await longestTask(page)
      await page.getByLabel('Search in the log').fill('line 31416 of')
      await log.getByText('line 31416 of many').waitFor()
      await page.getByText(`1 of ${(LINES + 4).toLocaleString('en')} lines`).waitFor()
      const searching = await longestTask(page)
      t.diagnostic(
        `longest tasks: reading ${longest} ms, scrolling ${scrolling} ms, searching ${searching} ms`,
      )
      assert.ok(Math.max(longest, scrolling, searching) < LONGEST_TASK_MS)
    }))

  /** As if the run had said so much. */
  async function lengthen(id: string): Promise<void> {
    const { db } = app.database
    const scope = `run:${id}`
    await sql`update events set seq = seq + ${LINES} where scope = ${scope} and type = 'run.succeeded'`.execute(
      db,
    )
    await sql`update event_counters set last_seq = last_seq + ${LINES} where scope = ${scope}`.execute(db)
    await sql`
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${LINES})
      insert into events (scope, seq, id, type, ts, actor_kind, actor_id, subject, payload)
      select ${scope}, 3 + n, 'evt_line_' || n, 'run.log', ts, actor_kind, actor_id, subject,
        '{"level":"' || case n % 10 when 0 then 'warn' else 'info' end || '","message":"line ' || n || ' of many"}'
      from numbers, (select * from events where scope = ${scope} and type = 'run.started')`.execute(db)
  }
})

const WATCH_TASKS = `
  window.longest = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration)
  }).observe({ type: 'longtask', buffered: true })`

/** Since it was asked the last time. */
const longestTask = async (page: Page): Promise<number> =>
  Math.round(
    Number(await page.evaluate('(() => { const ms = window.longest; window.longest = 0; return ms })()')),
  )

/** A branch that differs from main by these files. */
async function branch(world: RunsWorld, name: string, files: Record<string, string>): Promise<void> {
  await world.ok('git/branches/create', { name: 'tools', branch: name, from: 'main' })
  await world.commit('tools', files, name)
}
