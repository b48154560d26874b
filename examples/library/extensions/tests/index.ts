import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Context } from '@trellis/extension'
import type { Test } from '../../lib/rows.ts'

/** The end of what tests say is what people want to see. */
const OUTPUT_KEPT = 10_000

/** The working directory is the tree of the commit that was pushed. */
export default async function (_input: unknown, ctx: Context<'records:write' | 'events:emit'>) {
  const { commitSha: commit, ref } = ctx.run
  // The branch was deleted.
  if (commit === null) return {}
  const began = performance.now()
  const { exitCode, output } = await run(await testScript(), ctx.signal)
  const durationMs = Math.round(performance.now() - began)
  const outcome = exitCode === 0 ? 'passed' : 'failed'
  const test: Test = { commit, ref, outcome, durationMs, output, ...(exitCode !== null && { exitCode }) }
  const { id } = await ctx.records.create('test', test)
  if (outcome === 'failed')
    await ctx.events.emit('tests.failed', { subject: `test/${id}`, payload: { commit, ref } })
  return { test: id, outcome }
}

/** What `npm test` would run. */
async function testScript(): Promise<string> {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts?: { test?: string }
  }
  if (!scripts?.test) throw new Error('package.json has no script "test"')
  return scripts.test
}

/** It gets neither `ctx` nor anything else of this extension: a process of its own, in the same sandbox. */
const run = (script: string, signal: AbortSignal): Promise<{ exitCode: number | null; output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'], signal })
    let output = ''
    const hear = (text: string) => {
      output = `${output}${text}`.slice(-OUTPUT_KEPT)
      // Into the log of the run, where it can be followed.
      process.stdout.write(text)
    }
    child.stdout.setEncoding('utf8').on('data', hear)
    child.stderr.setEncoding('utf8').on('data', hear)
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, output }))
  })
