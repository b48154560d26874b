import type { OutgoingHttpHeaders } from 'node:http'
import { type ErrorEnvelope, errors } from '@trellis/contract'
import { type Exchange, sendJson } from '../http/exchange.ts'
import { bearerChallenge, failureOf, Refusal, withDirections } from '../http/failure.ts'

/** Tells what went wrong as JSON: the one envelope of every failure. */
export function refuseInEnvelope(
  exchange: Exchange,
  error: unknown,
  { baseUrl, headers }: { baseUrl: string; headers?: OutgoingHttpHeaders | undefined },
): void {
  const { headers: own, ...envelope } = failureOf(error, exchange.requestId)
  const isUnknown = envelope.status === 401
  const challenge = isUnknown && { 'www-authenticate': bearerChallenge(baseUrl, envelope.message) }
  const told = isUnknown ? { ...envelope, message: withDirections(envelope.message, baseUrl) } : envelope
  sendJson(exchange, envelope.status, told, { ...headers, ...own, ...challenge })
}

/** What is sent when no request could be read at all. */
export function unreadableEnvelope(status: number, code: string): ErrorEnvelope {
  if (status === 400)
    return {
      defined: true,
      code: 'BAD_REQUEST',
      status: 400,
      message: errors.BAD_REQUEST.message,
      data: { issues: [{ path: [], message: 'This is not a well-formed HTTP request' }] },
    }
  const { headers: _, ...envelope } = failureOf(
    new Refusal(status, code, 'The request could not be read'),
    '',
  )
  return envelope
}
