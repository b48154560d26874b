import { parseConfig } from './platform/config.ts'
import { ownAddress } from './platform/own-address.ts'

// Exits with 0 when the server that the settings are for answers on this machine. For containers and the like.
const { host, port } = parseConfig(process.env).listen
const answer = await fetch(`${ownAddress(host, port).url}/healthz`, {
  signal: AbortSignal.timeout(4_000),
}).catch((error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error))
if (typeof answer === 'string' || !answer.ok) {
  process.stderr.write(`${typeof answer === 'string' ? answer : answer.status}\n`)
  process.exitCode = 1
}
