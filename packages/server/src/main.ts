import { setFlagsFromString } from 'node:v8'
import { type App, startApp } from './app.ts'
import { ConfigError, parseConfig } from './config.ts'
import { SchemaTooNew } from './db/migrate.ts'
import { GitUnusable } from './git/version.ts'
import { createLog } from './log.ts'

// Packs that stream through are memory outside the heap. By default V8 answers every 32 MiB of it with a collection of
// everything, which costs more than the streaming; with this it is weighed together with the heap.
setFlagsFromString('--external-memory-accounted-in-global-limit')

/** Starts the server from the environment, and stops it when it is told to. */
async function main(): Promise<void> {
  const config = parseConfig(process.env)
  const log = createLog(config.logLevel, (lines) => process.stdout.write(lines))
  const app = await startApp({ config, log })
  process.stderr.write(welcome(app, config.data))

  const stop = (signal: string) => {
    log.info('stopping', { signal })
    app.stop().then(
      () => {
        log.info('stopped')
        log.flush()
      },
      (error) => {
        log.error('stopping failed', { error })
        log.flush()
        process.exitCode = 1
      },
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  process.on('uncaughtException', (error) => {
    log.error('uncaught exception', { error })
    log.flush()
    process.exit(1)
  })
}

function welcome({ url, ownerKey }: App, data: string): string {
  const key = ownerKey
    ? `
Your API key, shown this once and kept in ${data}/owner.key:

  ${ownerKey}
`
    : ''
  return `
Trellis is at ${url}
${key}
Try it:

  curl ${url}/api/v1/repos/create -H "authorization: Bearer $(cat ${data}/owner.key)" \\
    -H 'content-type: application/json' -d '{"name":"hello"}'

The API is described at ${url}/reference

`
}

main().catch((error: unknown) => {
  // What a person can mend is told in words; the rest with its stack.
  const readable =
    error instanceof ConfigError ||
    error instanceof SchemaTooNew ||
    error instanceof GitUnusable ||
    (error instanceof Error && 'code' in error)
  process.stderr.write(
    `${readable ? (error as Error).message : error instanceof Error ? error.stack : error}\n`,
  )
  process.exitCode = 1
})
