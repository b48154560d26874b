import type { Agent, Dispatcher } from 'undici'
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
    const { Agent, buildConnector } = await import('undici')
    const connector = buildConnector({ lookup: egress.lookup, timeout: timeoutMs })
    return new Agent({
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The attempt has a clock of its own.
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
  }

  return {
    /** Never throws, unless `stop` ends it: then nothing is known. */
    async post(posting: Posting, stop: AbortSignal): Promise<Attempt> {
      opened ??= open()
      const agent = await opened
      const started = performance.now()
      const took = () => Math.round(performance.now() - started)
      try {
        const { status, body } = await exchange(agent, posting, { timeoutMs, stop })
        return { status, body, error: null, durationMs: took() }
      } catch (error) {
        stop.throwIfAborted()
        return { status: null, body: null, error: reasonOf(error), durationMs: took() }
      }
    },

    close: async () => (await opened)?.destroy(),
  }
}

class NoCompleteAnswer extends Error {}

/**
 * One request and the beginning of its answer. Undici's own `request` makes a stream, and signals that follow each other,
 * for every call: a third of what a delivery costs.
 */
function exchange(
  agent: Agent,
  { url, headers, body }: Posting,
  { timeoutMs, stop }: { timeoutMs: number; stop: AbortSignal },
): Promise<{ status: number; body: string }> {
  stop.throwIfAborted()
  const { origin, pathname, search } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const chunks: Buffer[] = []
  let status = 0
  let bytes = 0
  let request: Dispatcher.DispatchController | undefined
  let ended: Error | undefined
  const end = (reason: Error) => {
    ended = reason
    request?.abort(reason)
    reject(reason)
  }
  const answered = () => resolve({ status, body: beginningOf(chunks) })
  // One clock for the whole attempt, so that a receiver which answers byte by byte gains nothing.
  const deadline = setTimeout(
    () => end(new NoCompleteAnswer(`no complete answer within ${timeoutMs / 1000} s`)),
    timeoutMs,
  )
  const stopped = () => end(new Error('stopped'))
  stop.addEventListener('abort', stopped)

  agent.dispatch(
    { origin, path: pathname + search, method: 'POST', headers, body },
    {
      onRequestStart(controller) {
        request = controller
        // There was no connection yet when it ended.
        if (ended) controller.abort(ended)
      },
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData(controller, chunk) {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes <= READ_BYTES) return
        answered()
        controller.abort(new Error('the rest is not read'))
      },
      onResponseEnd: answered,
      onResponseError: (_controller, error) => reject(error),
    },
  )
  return promise.finally(() => {
    clearTimeout(deadline)
    stop.removeEventListener('abort', stopped)
  })
}

/** PostgreSQL stores no NUL. */
const beginningOf = (chunks: readonly Buffer[]): string =>
  Buffer.concat(chunks).toString().replaceAll('\0', '\uFFFD').slice(0, SHOWN_CHARACTERS)

/** For the people who look after the receiver: what happened, and nothing about this server. */
function reasonOf(error: unknown): string {
  if (error instanceof NoCompleteAnswer) return error.message
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
