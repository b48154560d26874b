import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Context } from '@trellis/extension'
import type { Check, Problem } from '../../lib/rows.ts'
import { brokenLinks } from './links.ts'
import { syntaxError } from './shell.ts'

/** As much as fits into a row, however much is wrong. */
const PROBLEMS_KEPT = 100

/** The working directory is the tree of the commit that was pushed. */
export default async function (_input: unknown, ctx: Context<'records:write' | 'events:emit'>) {
  const { commitSha: commit, ref } = ctx.run
  if (commit === null) return {}
  const found: Problem[] = []
  for (const entry of await readdir('.', { recursive: true, withFileTypes: true })) {
    ctx.signal.throwIfAborted()
    if (entry.isFile()) found.push(...(await problemsOf(`${entry.parentPath}/${entry.name}`)))
  }
  const outcome = found.length === 0 ? 'passed' : 'failed'
  const problems = found.slice(0, PROBLEMS_KEPT)
  const row = await ctx.records.create<Check>('check', { commit, ref, outcome, problems })
  if (outcome === 'failed')
    await ctx.events.emit('check.failed', {
      subject: `check/${row.id}`,
      payload: { commit, ref, problems: found.length },
    })
  return { check: row.id, outcome }
}

async function problemsOf(path: string): Promise<Problem[]> {
  const file = path.replace(/^\.\//, '')
  if (extname(file) === '.md') return brokenLinks(file, await readFile(file, 'utf8'))
  if (extname(file) !== '.sh') return []
  const message = await syntaxError(file)
  return message === undefined ? [] : [{ file, message }]
}
