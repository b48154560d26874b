import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { invalid } from '../../platform/fault.ts'
import type { Log } from '../../platform/log.ts'
import type { UnderWay } from '../../platform/under-way.ts'
import { ClientGone, isWhole } from './body.ts'
import type { Door } from './door.ts'
import { type Exchange, newRequestId, securityHeaders } from './exchange.ts'
import { isForeseen, Refusal } from './failure.ts'
import { isPause, parseInTurns } from './parsing.ts'
import { createPipelines } from './pipelines.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { createUntakenAnswers } from './untaken.ts'

interface ServerDeps {
  /** The first that serves a path gets the request; the last serves all. */
  doors: readonly Door[]
  addressOf(request: IncomingMessage): string
  /** The body, as JSON, for a connection on which no request could be read. */
  unreadable(status: number, code: string): object
  metrics: RequestMetrics
  underWay: UnderWay
  log: Log
}

/** How long a client may go on sending a body that has been refused. */
const DRAIN_MS = 5_000
/** Of all answers that clients have not taken yet. */
const MAX_UNTAKEN_BYTES = 256 * 1024 * 1024

/** Sends every request to its door, and has the door tell what goes wrong there. */
export function serve(
  server: Server,
  { addressOf, unreadable, metrics, underWay, log, ...deps }: ServerDeps,
) {
  let { doors } = deps
  const pipelines = createPipelines()
  const untaken = createUntakenAnswers({ maxBytes: MAX_UNTAKEN_BYTES, onCut: metrics.answerCut })

  const doorFor = (path: string): Door => {
    const door = doors.find(({ serves }) => serves(path))
    if (!door) throw new Error('No door serves all paths')
    return door
  }

  async function handle(exchange: Exchange, refusal?: Refusal): Promise<void> {
    const activity = underWay.begin(exchange)
    metrics.began()
    const door = doorFor(exchange.path)
    try {
      if (refusal) throw refusal
      requireHost(exchange)
      await door.handle(exchange)
    } catch (error) {
      answerError(door, exchange, error)
    } finally {
      const ms = underWay.end(activity)
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

  function answerError(door: Door, exchange: Exchange, error: unknown): void {
    const { request, response, requestId } = exchange
    if (error instanceof ClientGone) {
      response.destroy()
      return
    }
    const hasBegun = response.headersSent
    if (!hasBegun) {
      if (!isWhole(request)) response.setHeader('connection', 'close')
      door.refuse(exchange, error)
      if (!isWhole(request)) drain(request.socket)
    }
    if (hasBegun || response.statusCode >= 500) {
      const path = shownPath(exchange)
      if (isForeseen(error)) log.warn('request refused', { requestId, path, reason: String(error) })
      else {
        metrics.failed()
        log.error('request failed', { requestId, path, error })
      }
    }
    if (hasBegun) response.destroy()
  }

  function exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
    const url = request.url ?? '/'
    const query = url.indexOf('?')
    return {
      request,
      response,
      requestId: newRequestId(),
      path: query < 0 ? url : url.slice(0, query),
      query: query < 0 ? '' : url.slice(query),
      address: addressOf(request),
      route: 'unknown',
      untaken,
    }
  }

  const take = (request: IncomingMessage, response: ServerResponse, refusal?: Refusal) =>
    pipelines.inTurn(request, response, () => void handle(exchangeOf(request, response), refusal))
  parseInTurns(server)
  server.on('request', (request, response) => take(request, response))
  server.on('checkExpectation', (request, response: ServerResponse) =>
    take(
      request,
      response,
      new Refusal(417, 'EXPECTATION_FAILED', 'Only Expect: 100-continue is understood'),
    ),
  )
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    if (!isPause(error)) refuseUnreadable(error, socket, unreadable)
  })

  return {
    /** From now on these are the doors. */
    open(opened: readonly Door[]): void {
      doors = opened
    },
  }
}

function requireHost({ request }: Exchange): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1')
    throw invalid([], 'HTTP/1.1 asks for a Host header')
}

/** What is below `/*` may be a secret: an invite's link is one. Where nothing is known, it may be one mistyped. */
function shownPath({ path, route }: Exchange): string {
  if (route.endsWith('/*')) return route
  return route === 'unknown' ? path.replace(LONG_WORD, '…') : path
}

const LONG_WORD = /[^/]{20,}/g

/** Reads on for a while, so that the client gets to see the answer instead of a reset connection. */
function drain(socket: Socket): void {
  // What node does at the end of the answer would close it with the rest unread, and that resets it: of a client that
  // is still sending, such as a proxy, the answer would be lost.
  socket.destroySoon = () => void socket.end()
  // Nobody needs to know what it says.
  socket.removeAllListeners('data').on('data', () => {})
  const timer = setTimeout(() => socket.destroy(), DRAIN_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

function refuseUnreadable(
  error: Error & { code?: string },
  socket: Socket,
  unreadable: ServerDeps['unreadable'],
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400
  const reason = STATUS_CODES[status] ?? ''
  const body = JSON.stringify(unreadable(status, reason.toUpperCase().replaceAll(' ', '_')))
  const headers = Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n${headers.join('')}\r\n${body}`,
  )
}
