import { runAdmin } from './admin/run.ts'

process.exitCode = await runAdmin(process.argv.slice(2), {
  env: process.env,
  print: (line) => process.stdout.write(`${line}\n`),
  tell: (line) => process.stderr.write(`${line}\n`),
})
