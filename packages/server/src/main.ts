import { setFlagsFromString } from 'node:v8'
import { type App, startApp } from './app.ts'
import { type Config, parseConfig } from './platform/config.ts'
import { closeInherited } from './platform/inherited.ts'
import { createLog } from './platform/log.ts'
import { StartError } from './platform/start-error.ts'
import { answerTo } from './platform/usage.ts'

// Packs that stream through are memory outside the heap. By default V8 answers every 32 MiB of it with a collection of
// everything, which costs more than the streaming; with this it is weighed together with the heap.
setFlagsFromString('--external-memory-accounted-in-global-limit')

// Whatever the server and the git processes it starts write is for its owner alone.
process.umask(0o077)
closeInherited(process.env.NODE_OPTIONS)

/** Starts the server from the environment, and stops it when it is told to. */
async function main(): Promise<void> {
  const config = parseConfig(process.env)
  const log = createLog(config.logLevel, (lines) => process.stdout.write(lines))
  const app = await startApp({ config, log })
  process.stderr.write(welcome(app, config))

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

function welcome({ url, ownerKey, ownerLink, runtimesOff, advice }: App, { data, owner }: Config): string {
  // A key the operator chose is theirs to keep, and in no file of ours.
  const credential = owner.key ? '$TRELLIS_OWNER_KEY' : `$(cat ${data}/owner.key)`
  const key =
    ownerKey && !owner.key
      ? `
Your API key, shown this once and kept in ${data}/owner.key:

  ${ownerKey}
`
      : ''
  const link = ownerLink
    ? `
Open this once, in the next 24 hours, to set your address and password:

  ${ownerLink}
`
    : ''
  const off = runtimesOff.map((line) => `Extensions cannot run as ${line}\n\n`).join('')
  return `
Trellis is at ${url}
${key}${link}
Try it:

  curl ${url}/api/v1/repos/create -H "authorization: Bearer ${credential}" \\
    -H 'content-type: application/json' -d '{"name":"hello"}'

The API is described at ${url}/reference

${off}${advice ? `${advice}\n\n` : ''}`
}

const answer = answerTo(process.argv.slice(2))
if (answer) {
  const stream = answer.isWrong ? process.stderr : process.stdout
  stream.write(answer.text)
  process.exitCode = answer.isWrong ? 2 : 0
} else main().catch(tellWhy)

function tellWhy(error: unknown): void {
  // What an operator can mend is told in words; the rest with its stack.
  const told = error instanceof StartError ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`${told}\n`)
  process.exitCode = 1
}
