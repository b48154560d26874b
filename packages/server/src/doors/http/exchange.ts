import { randomBytes } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LARGE_ANSWER, type UntakenAnswers } from './untaken.ts'

/** One request and its answer, on its way through the server. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  /** The path without the query. */
  path: string
  query: string
  /** Who is at the other end, as far as it can be known. */
  address: string
  /** What the request turned out to be for, in logs and metrics. */
  route: string
  /** Who it turned out to come from, in logs. */
  credentialId?: string
  untaken: UntakenAnswers
}

const processPart = randomBytes(5).toString('hex')
let requests = 0

/** Unique, and cheap enough for every request. */
export const newRequestId = (): string => `req_${processPart}${(++requests).toString(36).padStart(7, '0')}`

/** What protects a browser; on every answer. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
}

/** Sends a whole body. */
export function send(
  { request, response, requestId, untaken }: Exchange,
  status: number,
  type: string,
  body: string | Buffer,
  headers?: OutgoingHttpHeaders,
): void {
  const bytes = Buffer.byteLength(body)
  if (bytes > LARGE_ANSWER) untaken.note(response, bytes)
  response.writeHead(status, {
    ...securityHeaders,
    'content-type': type,
    'content-length': bytes,
    'x-request-id': requestId,
    ...headers,
  })
  if (request.method === 'HEAD') response.end()
  // The same bytes where all are ASCII, and sooner written.
  else if (typeof body === 'string' && bytes === body.length) response.end(body, 'latin1')
  else response.end(body)
}

export function sendJson(
  exchange: Exchange,
  status: number,
  value: unknown,
  headers?: OutgoingHttpHeaders,
): void {
  send(exchange, status, 'application/json; charset=utf-8', JSON.stringify(value), {
    'cache-control': 'no-store',
    ...headers,
  })
}
