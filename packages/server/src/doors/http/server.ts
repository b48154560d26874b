import {
  createServer,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { API_PREFIX, type ErrorData, type ErrorEnvelope } from '@trellis/contract'
import { Fault } from '../../platform/fault.ts'
import type { Log } from '../../platform/log.ts'
import type { Cors } from '../api/cors.ts'
import {
  envelopeOf,
  isExpected,
  malformedRequest,
  notFound,
  Refusal,
  withoutHost,
  wrongMethod,
} from '../api/envelope.ts'
import { GIT_PREFIX } from '../git/door.ts'
import { ClientGone, isWhole } from './body.ts'
import { type Exchange, newRequestId, securityHeaders, send, sendJson } from './exchange.ts'
import type { Metrics } from './metrics.ts'

export type Door = (exchange: Exchange, headers?: OutgoingHttpHeaders) => Promise<void> | void

interface HttpServerDeps {
  api: Door
  auth: Door
  git: Door
  /** Everything else, by method and path: `GET /limits`. A path that ends in `/*` stands for all below it. */
  routes: Record<string, Door>
  cors: Cors
  addressOf(request: Exchange['request']): string
  baseUrl: string
  metrics: Metrics
  log: Log
}

const HEADERS_TIMEOUT_MS = 15_000
const KEEP_ALIVE_MS = 75_000
const IDLE_SWEEP_MS = 20
/** How long a client may go on sending a body that has been refused. */
const DRAIN_MS = 5_000

/** Starts to listen, so that the port is known; `serve` has to follow in the same turn of the event loop. */
export function openListener(host: string, port: number): Promise<Server> {
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Without one the answer is ours to give.
    requireHostHeader: false,
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve(server)
    })
  })
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Takes no new connections and waits for the answers under way, for `graceMs` at the most. */
export function closeGracefully(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection falls idle when its answer is out; its client would keep it open for the next request.
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
    const impatient = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(impatient)
      resolve()
    })
    server.closeIdleConnections()
  })
}

/** Sends every request to its door, and turns whatever goes wrong there into the error envelope. */
export function serve(server: Server, deps: HttpServerDeps): void {
  const { api, auth, git, routes, cors, addressOf, baseUrl, metrics, log } = deps

  const known = new Set(Object.keys(routes).map((route) => route.slice(route.indexOf(' ') + 1)))

  async function route(exchange: Exchange): Promise<void> {
    const { path, request } = exchange
    if (request.headers.host === undefined && request.httpVersion === '1.1') throw withoutHost()
    if (path.startsWith(`${API_PREFIX}/`)) {
      const corsHeaders = cors.headers(exchange)
      if (corsHeaders && cors.preflight(exchange, corsHeaders)) return
      return api(exchange, corsHeaders)
    }
    if (path.startsWith('/api/auth/')) return auth(exchange)
    if (path.startsWith(GIT_PREFIX)) return git(exchange)
    return elsewhere(exchange)
  }

  function elsewhere(exchange: Exchange): Promise<void> | void {
    const { path, request } = exchange
    const method = doorFor(request.method)
    const pattern = known.has(path) ? path : `${path.slice(0, path.indexOf('/', 1))}/*`
    if (!known.has(pattern)) throw notFound()
    exchange.route = pattern
    const door = routes[`${method} ${pattern}`]
    if (!door)
      throw wrongMethod(
        ['GET', 'HEAD', 'POST'].filter((other) => `${doorFor(other)} ${pattern}` in routes).join(', '),
      )
    return door(exchange)
  }

  async function handle(exchange: Exchange): Promise<void> {
    const started = performance.now()
    metrics.began()
    try {
      await route(exchange)
    } catch (error) {
      answerError(exchange, error)
    } finally {
      const ms = performance.now() - started
      const { statusCode } = exchange.response
      metrics.ended(exchange.route, statusCode, ms)
      log.info('request', {
        requestId: exchange.requestId,
        method: exchange.request.method,
        path: shownPath(exchange),
        status: statusCode,
        ms: Math.round(ms * 10) / 10,
        address: exchange.address,
        ...(exchange.credentialId && { credentialId: exchange.credentialId }),
      })
    }
  }

  function answerError(exchange: Exchange, error: unknown): void {
    const { request, response, requestId } = exchange
    if (error instanceof ClientGone) {
      response.destroy()
      return
    }
    if (!isExpected(error) || error.status >= 500) {
      metrics.failed()
      log.error('request failed', { requestId, path: shownPath(exchange), error })
    }
    if (response.headersSent) {
      response.destroy()
      return
    }
    const envelope = envelopeOf(error, requestId)
    const headers = {
      ...cors.headers(exchange),
      ...headersFor(error, exchange, baseUrl),
      ...(!isWhole(request) && { connection: 'close' }),
    }
    // Git shows its user plain text, and nothing else.
    if (isForGit(exchange))
      send(exchange, envelope.status, 'text/plain; charset=utf-8', `${explain(error, envelope)}\n`, headers)
    else sendJson(exchange, envelope.status, envelope, headers)
    if (!isWhole(request)) drain(request.socket)
  }

  server.on('request', (request, response) => {
    const url = request.url ?? '/'
    const query = url.indexOf('?')
    void handle({
      request,
      response,
      requestId: newRequestId(),
      path: query < 0 ? url : url.slice(0, query),
      query: query < 0 ? '' : url.slice(query),
      address: addressOf(request),
      route: 'unknown',
    })
  })
  server.on('clientError', refuseMalformed)
  server.on('checkExpectation', (request, response: ServerResponse) => {
    const refusal = new Refusal(417, 'EXPECTATION_FAILED', 'Only Expect: 100-continue is understood')
    const requestId = newRequestId()
    sendJson(
      { request, response, requestId, path: '', query: '', address: '', route: 'unknown' },
      417,
      envelopeOf(refusal, requestId),
    )
  })
}

/** HEAD asks for what GET would answer, without the body. */
const doorFor = (method: string | undefined) => (method === 'HEAD' ? 'GET' : method)

/** What is below `/*` may be a secret: an invite's link is one. Where nothing is known, it may be one mistyped. */
function shownPath(exchange: Exchange): string {
  const { path, route } = exchange
  if (route.endsWith('/*')) return route
  const isOurs = route !== 'unknown' || isForGit(exchange) || path.startsWith(`${API_PREFIX}/`)
  return isOurs ? path : path.replace(LONG_WORD, '…')
}

const LONG_WORD = /[^/]{20,}/g

const isForGit = ({ path }: Exchange): boolean => path.startsWith(GIT_PREFIX)

/** What a person at a terminal can act on. */
function explain(error: unknown, { message }: ErrorEnvelope): string {
  if (!(error instanceof Fault)) return message
  if (error.code === 'UNAUTHENTICATED')
    return 'Sign in: any user name, and an API key, repository token or session as the password'
  const { reason } = error.data as ErrorData<'FORBIDDEN'>
  if (reason === 'write_frozen') return 'This repository is read-only, or its organization is frozen'
  return reason ? `${message} (${reason})` : message
}

function headersFor(error: unknown, exchange: Exchange, baseUrl: string): OutgoingHttpHeaders {
  if (error instanceof Refusal) return error.headers
  if (!(error instanceof Fault)) return {}
  if (error.code === 'UNAUTHENTICATED') {
    const bearer = `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource"`
    return { 'www-authenticate': isForGit(exchange) ? ['Basic realm="Trellis"', bearer] : bearer }
  }
  if (error.code === 'TOO_MANY_REQUESTS') {
    const { retryAfterMs = 0 } = error.data as ErrorData<'TOO_MANY_REQUESTS'>
    return { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
  }
  return {}
}

/** Reads on for a while, so that the client gets to see the answer instead of a reset connection. */
function drain(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), DRAIN_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400
  const envelope =
    status === 400
      ? malformedRequest
      : envelopeOf(
          new Refusal(
            status,
            (STATUS_CODES[status] ?? '').toUpperCase().replaceAll(' ', '_'),
            'The request could not be read',
          ),
          '',
        )
  const body = JSON.stringify(envelope)
  const headers = Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n${headers.join('')}\r\n${body}`,
  )
}
