import { certificateProblem } from '../../platform/certificates.ts'
import { type Egress, EgressRefused } from '../../platform/egress.ts'
import { Fault, forbidden, invalid } from '../../platform/fault.ts'
import type { CtxMethods } from './methods.ts'

/** What a module asks for, and what it gets; bodies are base64. */
interface WireRequest {
  url: string
  method: string
  headers: [string, string][]
  body?: string
  redirect: 'follow' | 'error' | 'manual'
}

interface WireResponse {
  status: number
  statusText: string
  headers: [string, string][]
  body?: string
  url: string
  redirected: boolean
}

export const FETCH_TIMEOUT_MS = 30_000
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024
export const MAX_RESPONSE_BYTES = 8 * 1024 * 1024
const MAX_HEADER_BYTES = 32 * 1024
const MAX_REDIRECTS = 5
/** Of one run. */
export const MAX_FETCHES = 1_000

const NET = 'net:'
/** What the connection needs, and what is not true any more of a body that was decoded. */
const OURS = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'content-length',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'accept-encoding',
])
const NOT_PASSED_ON = new Set([
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
])

/** `ctx.fetch`: out through the guard that everything goes through, to the hosts that were granted and nowhere else. */
export function createFetching({ egress }: { egress: Egress }) {
  let opened: ReturnType<typeof open> | undefined
  const counts = new WeakMap<object, number>()

  /** Only those who reach out need it. */
  async function open() {
    const { Agent, buildConnector, fetch } = await import('undici')
    const connector = buildConnector({ lookup: egress.lookup, timeout: FETCH_TIMEOUT_MS })
    const agent = new Agent({
      pipelining: 1,
      headersTimeout: FETCH_TIMEOUT_MS,
      bodyTimeout: FETCH_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: (options, callback) => {
        // An address in the place of a name is never looked up.
        if (egress.isRefusedAddress(options.hostname))
          callback(new EgressRefused(`${options.hostname} is not a public address`), null)
        else connector(options, callback)
      },
    })
    return { agent, fetch }
  }

  async function once(request: WireRequest, url: URL, signal: AbortSignal) {
    opened ??= open()
    const { agent, fetch } = await opened
    return fetch(url, {
      dispatcher: agent,
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      signal,
      ...(request.body !== undefined && { body: Buffer.from(request.body, 'base64') }),
    })
  }

  async function follow(
    asked: WireRequest,
    isGranted: (url: URL) => boolean,
    signal: AbortSignal,
  ): Promise<WireResponse> {
    let request = asked
    let url = parseUrl(asked.url)
    for (let redirects = 0; ; redirects++) {
      if (!isGranted(url))
        throw forbidden('scope_missing', `net:${url.hostname} was not granted to this extension`)
      const response = await once(request, url, signal)
      const location = response.headers.get('location')
      const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && location !== null
      if (!isRedirect || asked.redirect === 'manual')
        return {
          status: response.status,
          statusText: response.statusText,
          headers: [...response.headers].filter(([name]) => !NOT_PASSED_ON.has(name)),
          body: (await readBody(response.body)).toString('base64'),
          url: url.href,
          redirected: redirects > 0,
        }
      await response.body?.cancel()
      if (asked.redirect === 'error') throw failed(`${url.host} redirects`)
      if (redirects === MAX_REDIRECTS) throw failed(`there are more than ${MAX_REDIRECTS} redirects`)
      const next = parseUrl(new URL(location, url).href)
      request = redirected(request, response.status, next.origin !== url.origin)
      url = next
    }
  }

  return {
    methods: {
      fetch: {
        needs: NET,
        isAway: true,
        async perform({ run, args, signal }) {
          const request = parseRequest(args[0])
          const count = (counts.get(run) ?? 0) + 1
          counts.set(run, count)
          if (count > MAX_FETCHES) throw failed(`a run may fetch ${MAX_FETCHES} times`)
          const isGranted = createGrants(JSON.parse(run.effective))
          const late = AbortSignal.timeout(FETCH_TIMEOUT_MS)
          try {
            return await follow(request, isGranted, AbortSignal.any([signal, late]))
          } catch (error) {
            if (error instanceof Fault) throw error
            throw failed(
              late.aborted ? `no complete answer within ${FETCH_TIMEOUT_MS / 1000} s` : reasonOf(error),
            )
          }
        },
      },
    } satisfies CtxMethods,
    close: async () => (await opened)?.agent.destroy(),
  }
}

/** Exact hosts, and what is below a domain. */
function createGrants(capabilities: readonly string[]): (url: URL) => boolean {
  const hosts = capabilities.flatMap((one) =>
    one.startsWith(NET) ? [one.slice(NET.length).toLowerCase()] : [],
  )
  return ({ hostname }) =>
    hosts.some((host) => (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host))
}

/** As browsers do: what was posted is not posted again elsewhere, and what proves who asks is for one origin alone. */
function redirected(request: WireRequest, status: number, isElsewhere: boolean): WireRequest {
  const dropsBody =
    (status === 303 && request.method !== 'HEAD') ||
    ([301, 302].includes(status) && request.method === 'POST')
  const headers = request.headers.filter(
    ([name]) =>
      !(isElsewhere && ['authorization', 'cookie', 'proxy-authorization'].includes(name.toLowerCase())) &&
      !(dropsBody && name.toLowerCase().startsWith('content-')),
  )
  if (!dropsBody) return { ...request, headers }
  const { body: _, ...rest } = request
  return { ...rest, headers, method: 'GET' }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw invalid([0, 'url'], 'Only http and https URLs can be fetched')
  if (url.username || url.password) throw invalid([0, 'url'], 'A URL with a password in it cannot be fetched')
  return url
}

function parseRequest(given: unknown): WireRequest {
  const { url, method, headers, body, redirect } = (given ?? {}) as Partial<WireRequest>
  const isSound =
    typeof url === 'string' &&
    typeof method === 'string' &&
    Array.isArray(headers) &&
    headers.every((pair) => Array.isArray(pair) && pair.every((part) => typeof part === 'string')) &&
    (body === undefined || body === null || typeof body === 'string')
  if (!isSound) throw invalid([0], 'This is not a request')
  if (body && body.length > (MAX_REQUEST_BYTES * 4) / 3)
    throw failed(`a request has up to ${MAX_REQUEST_BYTES} bytes`)
  return {
    url,
    method,
    headers: headers.filter(([name]) => !OURS.has(name.toLowerCase())),
    ...(body && { body }),
    redirect: redirect === 'error' || redirect === 'manual' ? redirect : 'follow',
  }
}

async function readBody(stream: AsyncIterable<Uint8Array> | null): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    // Leaving the loop closes the connection.
    if (bytes > MAX_RESPONSE_BYTES) throw failed(`the answer has more than ${MAX_RESPONSE_BYTES} bytes`)
  }
  return Buffer.concat(chunks)
}

/** As `fetch` throws it: there is no code for what the network does. */
class FetchFailed extends TypeError {
  readonly code = 'FETCH_FAILED'
  /** What is told to modules has some. */
  readonly data = null
}

const failed = (reason: string) => new FetchFailed(`fetch failed: ${reason}`)

/** For the author: what happened, and nothing about this server. */
function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof FetchFailed) return cause.message.replace('fetch failed: ', '')
    if (cause instanceof EgressRefused) return 'the address is not a public one'
    const { code } = cause as { code?: unknown }
    if (typeof code === 'string') return certificateProblem(cause) ?? `the connection failed (${code})`
  }
  return 'the connection failed'
}

/** Whether an error is one that a module may see as it is. */
export const isFetchFailed = (error: unknown): error is FetchFailed => error instanceof FetchFailed
