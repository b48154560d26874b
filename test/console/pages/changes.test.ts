import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Person } from '@trellis/server/testing'
import { type Client, createClient, createSandbox } from '../../git/harness.ts'
import { noBrowserHere, useConsole } from '../browser.ts'

/**
 * No task of the page may hold the browser longer while somebody reads a large diff. It takes far less where the machine
 * has nothing else to do, but tests run beside many others.
 */
const LONGEST_TASK_MS = 8_000
const LARGE = 20_000

const lines = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => `export const ${word}${i + 1} = ${i + 1} // one of many`)

/** Pictures of 8 × 8 and of 16 × 8. */
const SQUARE =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGPQqAjAihiGlgQAaCE8AVBq/cYAAAAASUVORK5CYII='
const OBLONG =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAICAIAAAB/FOjAAAAAE0lEQVR4nGM4EaBBEmIY1UALDQDYrqAB6mhJqwAAAABJRU5ErkJggg=='

describe('changes in the console', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const { app, visit } = useConsole()
  let ana: Person
  let first: string
  let topic: string
  let large: string

  before(async () => {
    ana = await app.signUp('ana')
    const api = app.client(ana.token)
    const name = 'widgets'
    await api.repos.create({ name })
    const code = lines(60, 'old')
    const put = (path: string, content: string) => ({ op: 'put' as const, path, content })
    const commit = async (branch: string, message: string, changes: object[], parent?: string) =>
      (
        await api.git.commits.create({
          ...{ name, branch, message, changes: changes as never },
          ...(parent && { parent }),
        })
      ).oid
    first = await commit('main', 'Begin', [
      put('src/code.ts', `${code.join('\n')}\n`),
      put('docs/note.md', '# Note\n\nSomething.\n'),
      put('src/gone.ts', 'export {}\n'),
      { op: 'put', path: 'logo.png', content: SQUARE, encoding: 'base64' },
    ])
    const changed = code.with(29, 'export const renamed30 = 31 // one of many')
    topic = await commit(
      'agents/fix-typo',
      'Fix a typo\n\nIt was wrong since the beginning.',
      [
        put('src/code.ts', `${changed.join('\n')}\n`),
        { op: 'move', from: 'docs/note.md', to: 'docs/notes.md' },
        { op: 'delete', path: 'src/gone.ts' },
        { op: 'put', path: 'data.bin', content: 'AAECAwAA/w==', encoding: 'base64' },
        put('empty.txt', ''),
        { op: 'put', path: 'logo.png', content: OBLONG, encoding: 'base64' },
      ],
      'main',
    )
    const other = code.with(29, 'export const other = 30')
    await commit('conflicting', 'Change the same line', [put('src/code.ts', `${other.join('\n')}\n`)], first)
    const rival = code.with(29, 'export const rival = 30')
    await commit('rival', 'Change it otherwise', [put('src/code.ts', `${rival.join('\n')}\n`)], first)
    large = await commit(
      'large',
      'Write a lot',
      [put('large.ts', `${lines(LARGE, 'n').join('\n')}\n`)],
      'main',
    )
  })

  it('shows a commit: what it says, who made it, and each file that it changed', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`/${ana.slug}/widgets/commit/${topic}`)
      await page.getByRole('heading', { level: 1, name: 'Fix a typo' }).waitFor()
      await page.getByText('It was wrong since the beginning.').waitFor()
      const code = page.getByRole('region', { name: 'src/code.ts', exact: true })
      await code.getByText('renamed30').first().waitFor()
      // Colours come after the text, and take none of it away.
      await code
        .locator('code span', { hasText: /^export$/ })
        .first()
        .waitFor()
      assert.equal(
        await code.locator('code', { hasText: 'renamed30' }).innerText(),
        'export const renamed30 = 31 // one of many',
      )
      await page.getByText('Renamed without changes.').waitFor()
      await page.getByText('Binary file: there are no lines to show.').waitFor()
      await page.getByText('An empty file.').waitFor()
      const logo = page.getByRole('region', { name: 'logo.png' })
      await logo.getByRole('figure').filter({ hasText: 'Before' }).getByText('8 × 8').waitFor()
      await logo.getByRole('figure').filter({ hasText: 'After' }).getByText('16 × 8').waitFor()
    }))

  it('reads a diff as one likes: unified, wrapped, with more around it, a line in the address', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`/${ana.slug}/widgets/commit/${topic}`)
      const code = page.getByRole('region', { name: 'src/code.ts', exact: true })
      await code.getByRole('region', { name: 'Before: src/code.ts' }).waitFor()
      await code.getByRole('button', { name: 'Show 26 hidden lines' }).click()
      await code.getByText('old2 = 2').first().waitFor()
      await page.getByRole('button', { name: 'Unified' }).click()
      await page.getByLabel('Wrap').check()
      await code.getByRole('region', { name: 'Changes in src/code.ts' }).getByText('renamed30').waitFor()
      await code.getByRole('link', { name: '31' }).last().click()
      await page.waitForURL(/#src\/code\.ts:R31$/)
      await code
        .getByRole('link', { name: '33' })
        .last()
        .click({ modifiers: ['Shift'] })
      await page.waitForURL(/#src\/code\.ts:R31-33$/)
      await page.getByLabel('Ignore white space').check()
      await page.waitForURL(/\?w=true#/)
      // Another visit reads as the last one did, and sees a line that no change is near to.
      await go(`/${ana.slug}/widgets/commit/${topic}#src/code.ts:L7`)
      await code.getByText('old7 = 7').waitFor()
      assert.equal(await code.getByRole('region', { name: 'Before: src/code.ts' }).count(), 0)
    }))

  it('compares two branches, merges one into the other, and deletes it', () =>
    visit({ as: ana }, async ({ page, go }) => {
      await go(`/${ana.slug}/widgets/compare/`)
      await page.getByRole('heading', { name: 'Choose what to compare' }).waitFor()
      await page.getByLabel('Head').fill('agents')
      await page.getByRole('option', { name: 'agents/fix-typo' }).click()
      await page.waitForURL(`${app.url}/${ana.slug}/widgets/compare/main...agents/fix-typo`)
      const merge = page.getByRole('region', { name: 'Merge' })
      await merge.getByText('Can be merged: main only has to move forward').waitFor()
      await page.getByRole('list', { name: 'Commits' }).getByRole('link', { name: 'Fix a typo' }).waitFor()
      await page.getByText('renamed30').first().waitFor()
      await merge.getByRole('button', { name: 'Merge…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Merge agents/fix-typo into main' })
      await dialog.getByLabel('Merge commit').check()
      await dialog.getByLabel('Commit message').fill('Take the fix')
      await dialog.getByRole('button', { name: 'Merge into main' }).click()
      await merge.getByText('Merged agents/fix-typo into main').waitFor()
      await merge.getByRole('button', { name: 'Delete branch agents/fix-typo' }).click()
      await merge.getByText('and agents/fix-typo is deleted').waitFor()
      await merge.getByRole('link').click()
      await page.getByRole('heading', { level: 1, name: 'Take the fix' }).waitFor()
      // A merge can be held against each of its parents.
      await page.getByRole('link', { name: 'show against' }).click()
      await page.getByText('Nothing differs.').waitFor()
      const { items } = await app.client(ana.token).git.branches.list({ name: 'widgets' })
      assert.ok(!items.some(({ name }) => name === 'agents/fix-typo'))
    }))

  it('says what conflicts, and that there is nothing to compare with', () =>
    visit({ as: ana, expects: [404] }, async ({ page, go }) => {
      await go(`/${ana.slug}/widgets/compare/rival...conflicting`)
      const merge = page.getByRole('region', { name: 'Merge' })
      await merge.getByText('Cannot be merged as it is: 1 file conflicts').waitFor()
      const conflict = merge.getByRole('list', { name: 'Conflicts' }).getByRole('listitem')
      assert.match(await conflict.innerText(), /src\/code\.ts\s+both changed the same lines/)
      assert.equal(await merge.getByRole('button', { name: 'Merge…' }).count(), 0)
      await go(`/${ana.slug}/widgets/compare/main...nowhere`)
      await page.getByRole('heading', { name: 'There is no “nowhere” here' }).waitFor()
      await go(`/${ana.slug}/widgets/commit/${'1'.repeat(40)}`)
      await page.getByRole('heading', { name: 'There is no such commit' }).waitFor()
      await go(`/${ana.slug}/widgets/commit/${first.slice(0, 7)}`)
      await page.getByRole('heading', { name: 'This is only a part of an id' }).waitFor()
      await go(`/${ana.slug}/widgets/compare/${first}...main`)
      await merge.getByText(`is no branch, so nothing can be merged into it`).waitFor()
    }))

  it('gives commands that settle it, in a clone that knows nothing of the branch or has it as it was', async () => {
    const sandbox = createSandbox()
    try {
      const [without, behind] = await Promise.all(
        ['without', 'behind'].map(async (name) => {
          const client = createClient(sandbox.path(name), { token: ana.token })
          await client.run('clone', '-q', `${app.url}/git/${ana.slug}/widgets.git`, '.')
          return client
        }),
      )
      assert.ok(without && behind)
      await behind.run('switch', '-q', 'conflicting')
      const { oid: tip } = await app.client(ana.token).git.commits.create({
        ...{ name: 'widgets', branch: 'conflicting', message: 'Go on' },
        changes: [{ op: 'put', path: 'more.txt', content: 'more\n' }],
      })
      const shown = await visit({ as: ana }, async ({ page, go }) => {
        await go(`/${ana.slug}/widgets/compare/rival...conflicting`)
        await page.getByText('Settle it on your machine').click()
        return page.getByText('git fetch origin').innerText()
      })
      const [until = '', then = ''] = shown.split(/^#.*$/m)
      const paste = (client: Client, lines: string) => client.feedRaw(lines, '-c', 'alias.paste=!sh', 'paste')
      for (const client of [behind, without]) {
        await paste(client, until)
        assert.equal(await client.rev('HEAD'), tip)
        assert.equal(await client.rev('MERGE_HEAD'), await client.rev('origin/rival'))
      }
      writeFileSync(join(without.dir, 'src/code.ts'), 'export {}\n')
      const { code, stderr } = await paste(without, then)
      assert.equal(code, 0, stderr.toString())
      const preview = { name: 'widgets', branch: 'rival', from: 'conflicting' }
      assert.equal((await app.client(ana.token).git.mergePreview(preview)).outcome, 'fast-forward')
    } finally {
      sandbox.remove()
    }
  })

  it(`stays smooth in a diff of ${LARGE} lines`, () =>
    visit({ as: ana }, async ({ page, go }) => {
      await page.addInitScript(WATCH_TASKS)
      await go(`/${ana.slug}/widgets/commit/${large}`)
      await page.getByRole('button', { name: 'Show it' }).click()
      await page.getByText('n1 = 1 ').first().waitFor()
      for (const part of [0.25, 0.5, 0.75, 1]) {
        await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${part})`)
        for (let tries = 0; !(await page.evaluate(LINES_IN_SIGHT)); tries++) {
          assert.ok(tries < 500, `nothing is drawn at ${part} of the page`)
          await setTimeout(20)
        }
      }
      await page.getByText(`n${LARGE} = ${LARGE} `).first().waitFor()
      const drawn = await page.locator('a[data-line]').count()
      assert.ok(drawn < 1_000, `${drawn} lines are drawn at once`)
      await page.getByRole('button', { name: 'Unified' }).click()
      await go(`/${ana.slug}/widgets/commit/${large}#large.ts:R15000`)
      await page.getByText('n15000 = 15000 ').waitFor()
      const longest = Number(await page.evaluate('longestTask'))
      console.log(`the longest task took ${Math.round(longest)} ms`)
      assert.ok(longest < LONGEST_TASK_MS, `${longest} ms`)
    }))
})

const WATCH_TASKS = `
  globalThis.longestTask = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTask = Math.max(longestTask, duration)
  }).observe({ type: 'longtask', buffered: true })`

const LINES_IN_SIGHT = `document.elementsFromPoint(700, 400).some((element) => element.closest('code'))`
