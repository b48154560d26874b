import { certificateProblem } from '../platform/certificates.ts'
import { type Egress, EgressRefused } from '../platform/egress.ts'
import { SHOWN_CHARACTERS } from './store.ts'

/** What came of one attempt. Without an answer there is an `error`. */
export interface Attempt {
  status: number | null
  body: string | null
  error: string | null
  durationMs: number
}

interface Posting {
  url: string
  headers: Record<string, string>
  body: string
}

/** Past this the rest of an answer is not worth waiting for. */
const READ_BYTES = 64 * 1024
const KEEP_ALIVE_MS = 30_000

export type Transport = ReturnType<typeof createTransport>

/**
 * Posts over connections that are kept for the next time. Where a connection goes is judged when it is made, on the very
 * address it is made to. Redirects are not followed.
 */
export function createTransport({ egress, timeoutMs }: { egress: Egress; timeoutMs: number }) {
  let opened: ReturnType<typeof open> | undefined

  /** It is a tenth of all the modules of the server, and where there are no webhooks nobody needs it. */
  async function open() {
    const { Agent, buildConnector, request } = await import('undici')
    const connector = buildConnector({ lookup: egress.lookup, timeout: timeoutMs })
    const agent = new Agent({
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // One clock for the whole attempt, so that a receiver which answers byte by byte gains nothing.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16 * 1024,
      connect: (options, callback) => {
        // An address in the place of a name is never looked up.
        if (egress.isRefusedAddress(options.hostname))
          callback(new EgressRefused(`${options.hostname} is not a public address`), null)
        else connector(options, callback)
      },
    })
    return { agent, request }
  }

  return {
    /** Never throws, unless `stop` ends it: then nothing is known. */
    async post({ url, headers, body }: Posting, stop: AbortSignal): Promise<Attempt> {
      opened ??= open()
      const { agent, request } = await opened
      const started = performance.now()
      const deadline = AbortSignal.timeout(timeoutMs)
      const took = () => Math.round(performance.now() - started)
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers,
          body,
          signal: AbortSignal.any([deadline, stop]),
        })
        const text = await readBeginning(answer.body)
        return { status: answer.statusCode, body: text, error: null, durationMs: took() }
      } catch (error) {
        stop.throwIfAborted()
        const reason = deadline.aborted ? `no complete answer within ${timeoutMs / 1000} s` : reasonOf(error)
        return { status: null, body: null, error: reason, durationMs: took() }
      }
    },

    close: async () => (await opened)?.agent.destroy(),
  }
}

async function readBeginning(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.length
    // Leaving the loop closes the connection.
    if (bytes > READ_BYTES) break
  }
  // PostgreSQL stores no NUL.
  return Buffer.concat(chunks).toString().replaceAll('\0', '\uFFFD').slice(0, SHOWN_CHARACTERS)
}

/** For the people who look after the receiver: what happened, and nothing about this server. */
function reasonOf(error: unknown): string {
  if (error instanceof EgressRefused) return 'the address is not a public one'
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  if (cause instanceof EgressRefused) return 'the address is not a public one'
  if (typeof code !== 'string') return 'the connection failed'
  return certificateProblem(error) ?? reasons[code] ?? `the connection failed (${code})`
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed by the receiver',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was closed by the receiver',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
}
