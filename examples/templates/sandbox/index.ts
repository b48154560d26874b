import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Context } from '@trellis/extension'

/** A process of Node, in the files of the commit: it may change them and start programs, and all of it is gone with it. */
export default async function (_input: unknown, ctx: Context) {
  const { stdout } = await promisify(execFile)('find', ['.', '-type', 'f'], { signal: ctx.signal })
  const files = stdout.split('\n').filter(Boolean)
  // What is printed goes into the log of the run.
  process.stdout.write(`${files.length} files\n`)
  return { commit: ctx.run.commitSha, files: files.length }
}
