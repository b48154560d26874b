import { type ErrorEnvelope, errors } from '@trellis/contract'
import { OutOfSpace } from '../../db/database.ts'
import { PoolFull } from '../../git/process/pool.ts'
import { Fault } from '../../platform/fault.ts'

/** A failure that the contract does not declare, such as a path that leads nowhere. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Record<string, string>

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

export const notFound = () => new Refusal(404, 'NOT_FOUND', 'There is nothing here')

export const wrongMethod = (allow: string) =>
  new Refusal(405, 'METHOD_NOT_SUPPORTED', `Use ${allow} here`, { allow })

export const withoutHost = () =>
  new Fault('BAD_REQUEST', { issues: [{ path: [], message: 'HTTP/1.1 asks for a Host header' }] })

/** Whether an error is one of ours, made to be shown; anything else is a bug or a broken machine. */
export const isExpected = (error: unknown): error is Fault | Refusal =>
  error instanceof Fault || error instanceof Refusal

/** The one place where errors become answers. What was not meant to be shown is not. */
export function envelopeOf(error: unknown, requestId: string): ErrorEnvelope {
  if (error instanceof Fault) {
    const { code, status, message, data } = error
    return { defined: true, code, status, message, data }
  }
  if (error instanceof Refusal) return undeclared(error.status, error.code, error.message)
  if (error instanceof PoolFull)
    return undeclared(
      503,
      'SERVICE_UNAVAILABLE',
      'Too many git operations are waiting; try again in a moment',
    )
  if (error instanceof OutOfSpace)
    return undeclared(507, 'INSUFFICIENT_STORAGE', 'The server has no room left; nothing was changed')
  return undeclared(
    500,
    'INTERNAL_SERVER_ERROR',
    `Something went wrong on our side. Mention request ${requestId} when you report it.`,
  )
}

const undeclared = (status: number, code: string, message: string): ErrorEnvelope => ({
  defined: false,
  code,
  status,
  message,
  data: {},
})

/** What is sent when no request could be read at all. */
export const malformedRequest: ErrorEnvelope = {
  defined: true,
  code: 'BAD_REQUEST',
  status: 400,
  message: errors.BAD_REQUEST.message,
  data: { issues: [{ path: [], message: 'This is not a well-formed HTTP request' }] },
}
