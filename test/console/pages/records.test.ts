import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import type { TrellisClient } from '@trellis/contract/client'
import { type Person, worldOf } from '@trellis/server/testing'
import type { Page } from 'playwright-core'
import { noBrowserHere, useConsole } from '../browser.ts'

const name = 'widgets'
const record = 'task'
const declared = {
  record: {
    name: record,
    fields: {
      title: { type: 'string', required: true, maxLength: 80 },
      status: {
        type: 'enum',
        values: ['open', 'doing', 'done'],
        default: 'open',
        transitions: { open: ['doing', 'done'], doing: ['open', 'done'], done: [] },
      },
      priority: { type: 'integer', min: 1, max: 5, default: 3 },
      slug: { type: 'string', unique: true },
      due: { type: 'timestamp' },
      parent: { type: 'ref', record: 'task' },
      meta: { type: 'json' },
    },
    indexes: ['status,priority'],
    hooks: {},
  },
}

describe('records in the console', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const { app, visit } = useConsole()
  let ana: Person
  let api: TrellisClient
  let base: string
  const rows = async (where?: Record<string, unknown>) =>
    (await api.records.list({ name, record, limit: 1000, ...(where && { where }) })).rows
  const only = async (title: string) => {
    const [row] = await rows({ title })
    assert.ok(row, title)
    return row
  }
  before(async () => {
    ana = await app.signUp('ana')
    api = app.client(ana.token)
    base = `/${ana.slug}/${name}/records`
    const world = worldOf(app, ana.token)
    await world.repo('empty', { idle: { does: '' } })
    await world.repo(name, { tasks: { declares: declared, does: '' } })
    const all = [
      {
        title: 'Write the docs',
        priority: 2,
        slug: 'docs',
        meta: { by: 'ana', tags: ['a'], hours: 3, x: 1 },
      },
      { title: 'Ship it', status: 'doing', priority: 1, due: Date.UTC(2026, 10, 1, 9, 30) },
      { title: 'Rest', status: 'done', priority: 5 },
      { title: 'Think', priority: 1 },
    ]
    for (const data of all) await api.records.create({ name, record, data })
  })

  const grid = (page: Page) => page.getByRole('grid', { name: 'Rows of task' })
  const cell = (page: Page, title: string, column: number) =>
    grid(page).getByRole('row', { name: title }).getByRole('gridcell').nth(column)
  const titles = (page: Page) => grid(page).locator('tbody tr td:nth-child(2)').allTextContents()
  /** Asks again and again, as pages under the policy cannot be given code to do that themselves. */
  async function until(page: Page, isSo: () => Promise<boolean>): Promise<void> {
    for (const late = Date.now() + 60_000; !(await isSo()); ) {
      assert.ok(Date.now() < late, 'it never comes to that')
      await page.evaluate('new Promise(requestAnimationFrame)')
    }
  }
  const waitForTitles = (page: Page, expected: string[]) =>
    until(page, async () => JSON.stringify(await titles(page)) === JSON.stringify(expected))
  const waitForFocus = (page: Page, text: string) =>
    grid(page).locator('td:focus', { hasText: text }).waitFor()

  it('lists what is in force, and teaches where nothing is', () =>
    visit({ as: ana, expects: [404] }, async ({ page, go }) => {
      await go(`/${ana.slug}/empty/records`)
      await page.getByRole('heading', { name: 'No record is in force yet' }).waitFor()
      await go(base)
      await page.getByRole('row', { name: /task 4 / }).waitFor()
      await page.getByText('status,priority').waitFor()
      await page.getByRole('link', { name: record, exact: true }).click()
      await grid(page).waitFor()
      await go(`${base}/nothing`)
      await page.getByRole('heading', { name: 'No record called nothing is in force' }).waitFor()
      await go(`${base}/${record}/rec_nothing`)
      await page.getByRole('heading', { name: 'There is no such row' }).waitFor()
    }))

  it('filters and sorts by what the address says, and says why some fields have no order', () =>
    visit({ as: ana, expects: [400] }, async ({ page, go }) => {
      await go(`${base}/${record}`)
      await waitForTitles(page, ['Write the docs', 'Ship it', 'Rest', 'Think'])
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByLabel('Field').selectOption('priority')
      await page.getByLabel('Compared by').selectOption('at most')
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByRole('alert').getByText('Give a value').waitFor()
      await page.getByLabel('Value').fill('2')
      await page.getByRole('button', { name: 'Apply' }).click()
      await waitForTitles(page, ['Write the docs', 'Ship it', 'Think'])
      assert.deepEqual(JSON.parse(new URL(page.url()).searchParams.get('where') ?? ''), {
        priority: { lte: 2 },
      })
      await page.getByRole('button', { name: /^status/ }).click()
      await page.getByRole('menuitem', { name: 'Sort by status, then priority', exact: true }).click()
      await waitForTitles(page, ['Ship it', 'Think', 'Write the docs'])
      await page.reload()
      await waitForTitles(page, ['Ship it', 'Think', 'Write the docs'])
      await page.getByRole('button', { name: /^due/ }).click()
      await page.getByText('No index begins with due').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Remove the filter priority at most 2' }).click()
      await page.getByRole('button', { name: 'In the order they were made' }).click()
      await waitForTitles(page, ['Write the docs', 'Ship it', 'Rest', 'Think'])
      await go(`${base}/${record}?where=${encodeURIComponent('{"nothing":1}')}`)
      await page.getByRole('alert').getByText('is not a field of this record').waitFor()
      await page.getByRole('button', { name: 'Remove the filter nothing is 1' }).click()
      await waitForTitles(page, ['Write the docs', 'Ship it', 'Rest', 'Think'])
    }))

  it('is written in, cell by cell, with the keyboard, and shows what others write', () =>
    visit({ as: ana, expects: [400] }, async ({ page, go }) => {
      await go(`${base}/${record}`)
      await cell(page, 'Think', 3).dblclick()
      await page.getByLabel('priority').fill('9')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').getByText('5').waitFor()
      await page.getByLabel('priority').fill('4')
      await page.keyboard.press('Enter')
      await cell(page, 'Think', 3).getByText('4', { exact: true }).waitFor()
      assert.equal((await only('Think')).data.priority, 4)
      await waitForFocus(page, '4')
      await page.keyboard.press('ArrowLeft')
      await waitForFocus(page, 'open')
      await page.keyboard.press('Enter')
      // Done cannot be left, doing can.
      await page.getByLabel('status').selectOption('doing')
      await page.getByRole('button', { name: 'Save' }).click()
      await cell(page, 'Think', 2).getByText('doing').waitFor()
      const { id, revision } = await only('Rest')
      await api.records.update({ name, record, id, revision, data: { priority: 2 } })
      await cell(page, 'Rest', 3).getByText('2', { exact: true }).waitFor()
      await api.records.create({ name, record, data: { title: 'From elsewhere' } })
      await page.getByText('1 row was added').waitFor()
      await page.getByRole('button', { name: 'Show' }).click()
      await cell(page, 'From elsewhere', 1).waitFor()
    }))

  it('shows mine and theirs when somebody was faster, and lets one choose', () =>
    visit({ as: ana, expects: [409] }, async ({ page, go, checkAxe }) => {
      const row = await api.records.create({ name, record, data: { title: 'Contested', priority: 1 } })
      const { id } = row
      await go(`${base}/${record}/${id}`)
      await page.getByLabel('title').fill('Mine')
      await page.getByLabel('priority').fill('2')
      const theirs = { title: 'Theirs', priority: 3, slug: 'contested' }
      await api.records.update({ name, record, id, revision: 1, data: theirs })
      await page.getByRole('button', { name: 'Save' }).click()
      const dialog = page.getByRole('dialog', { name: 'Somebody changed this row meanwhile' })
      await dialog.getByText('not touched').waitFor()
      await checkAxe('record-conflict')
      await dialog.getByLabel('priority: theirs').check()
      await dialog.getByRole('button', { name: 'Save what is chosen' }).click()
      await dialog.waitFor({ state: 'detached' })
      const { data, revision } = await api.records.get({ name, record, id })
      assert.deepEqual([data.title, data.priority, data.slug, revision], ['Mine', 3, 'contested', 3])
    }))

  it('has a page for a row, with a control for each type', () =>
    visit({ as: ana, expects: [400] }, async ({ page, go, checkAxe }) => {
      await go(`${base}/${record}/new`)
      await page.getByLabel('title').fill('Made here')
      await page.getByLabel('slug').fill('docs')
      await page.getByLabel('due').fill('2026-12-24T18:00')
      await page.getByLabel('meta').fill('{\n  "a": nope\n}')
      await page.getByText('Line 2, column 8').waitFor()
      await checkAxe('record-new')
      await page.getByLabel('meta').fill('{ "a": [1, 2] }')
      await page.getByRole('button', { name: 'Look up' }).click()
      await page.getByLabel('Rows of task whose title contains').fill('Ship')
      await page.getByRole('button', { name: /^Ship it/ }).click()
      await page.getByRole('button', { name: 'Add task' }).click()
      await page.getByRole('alert').first().waitFor()
      await page.getByLabel('slug').fill('made')
      await page.getByRole('button', { name: 'Add task' }).click()
      await page.getByRole('heading', { name: 'Made here', level: 1 }).waitFor()
      const { data } = await only('Made here')
      const due = (await page.evaluate(`new Date('2026-12-24T18:00').getTime()`)) as number
      const { id: parent } = await only('Ship it')
      assert.deepEqual([data.due, data.meta, data.parent, data.status], [due, { a: [1, 2] }, parent, 'open'])
      await page.getByRole('link', { name: 'Open', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Delete the row' }).click()
      await grid(page).waitFor()
      assert.equal((await rows({ title: 'Made here' })).length, 0)
    }))

  it('takes a file in, says what is wrong line by line, and gives one out', () =>
    visit({ as: ana, expects: [400] }, async ({ page, go, checkAxe }) => {
      const line = (data: object) => JSON.stringify({ data })
      const file = (lines: string[]) => ({
        name: 'tasks.ndjson',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.from(lines.join('\n')),
      })
      await go(`${base}/${record}`)
      const open = async (what: string) => {
        await page.getByRole('button', { name: 'Import, export' }).click()
        await page.getByRole('menuitem', { name: what }).click()
      }
      await open('Import rows')
      const dialog = page.getByRole('dialog')
      await dialog
        .getByLabel('File')
        .setInputFiles(file([line({ title: 'a' }), 'oops', line({ title: 'b', no: 1 }), line({ slug: 'c' })]))
      const wrong = dialog.getByRole('list', { name: 'Lines that are wrong' })
      await wrong.getByText('Line 4').waitFor()
      assert.deepEqual(await wrong.getByRole('listitem').allTextContents(), [
        'Line 2 is not valid JSON',
        'Line 3 has no, which is no field of this record',
        'Line 4 has no title, which is required',
      ])
      await checkAxe('record-import')
      // What only the server can know: the value is taken.
      await dialog
        .getByLabel('File')
        .setInputFiles(file([line({ title: 'a' }), line({ title: 'b', slug: 'docs' })]))
      await dialog.getByRole('button', { name: 'Import' }).click()
      await wrong.getByText('Line 2').waitFor()
      await dialog.getByText('0 rows were added before').waitFor()
      const many = Array.from({ length: 500 }, (_, i) => line({ title: `Many ${i}`, priority: 5 }))
      await dialog.getByLabel('File').setInputFiles(file(many))
      await dialog.getByText('500 rows to import.').waitFor()
      await dialog.getByRole('button', { name: 'Import' }).click()
      await page.getByText('500 rows imported').waitFor()
      await go(`${base}/${record}?where=${encodeURIComponent('{"title":{"startsWith":"Many"}}')}`)
      await cell(page, 'Many 0', 1).waitFor()
      // As many as can be seen are there, and more come while one goes on.
      await until(page, async () => {
        await page.evaluate(`document.querySelector('[role=grid]').parentElement.scrollTop = 1e9`)
        return (await titles(page)).includes('Many 499')
      })
      assert.ok((await titles(page)).length < 120)
      await page.getByText('500 rows', { exact: true }).waitFor()
      await open('Export rows')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Export' }).click(),
      ])
      await dialog.getByText('500 rows').waitFor()
      assert.equal(download.suggestedFilename(), 'task.ndjson')
      const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n')
      assert.deepEqual([lines.length, JSON.parse(lines[0] ?? '').data.title], [500, 'Many 0'])
    }))
})
