import { createInterface } from 'node:readline/promises'
import { runAdmin } from './admin/run.ts'

process.exitCode = await runAdmin(process.argv.slice(2), {
  env: process.env,
  print: (line) => process.stdout.write(`${line}\n`),
  tell: (line) => process.stderr.write(`${line}\n`),
  ask,
})

/** Of a person at a terminal. */
async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined
  using terminal = createInterface({ input: process.stdin, output: process.stderr })
  return await terminal.question(question)
}
