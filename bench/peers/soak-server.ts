// A Trellis for which an hour passes whenever it is told so, and which then does what it does every hour.

import { startApp } from '../../packages/server/src/app.ts'
import { parseConfig } from '../../packages/server/src/platform/config.ts'
import { createLog } from '../../packages/server/src/platform/log.ts'

const HOUR_MS = 3_600_000
const hourly = [
  'unlisted packs',
  'idle directories',
  'pruning',
  'webhook pruning',
  'expired repositories',
  'expired organizations',
  'pack scrub',
]

let passed = 0
const app = await startApp({
  config: parseConfig(process.env),
  log: createLog('warn', (lines) => process.stderr.write(lines)),
  clock: () => Date.now() + passed,
  stopwatch: () => performance.now() + passed,
})
process.stderr.write(`Trellis is at ${app.url}\n`)

process.on('message', async () => {
  // More than an hour, so that what has an hour of grace is past it the second time.
  passed += HOUR_MS + 60_000
  for (const work of hourly) await app.background.run(work)
  // What is left is what is held.
  globalThis.gc?.()
  process.send?.('an hour has passed')
})
process.once('SIGTERM', () => app.stop().then(() => process.exit(0)))
