import { type ErrorData, type ErrorEnvelope, errors } from '@trellis/contract'
import { GitOverLimit } from '../../git/process/allowances.ts'
import { Fault, NotThere } from '../../platform/fault.ts'
import { DatabaseUnavailable, isOutage, NO_ROOM, outOfSpaceIn } from '../../platform/outages.ts'
import { NoPlace } from '../../platform/places.ts'

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

/** When to try again what the database could not be asked. */
const DATABASE_RETRY_SECONDS = 5

/** Whether somebody knew that this can happen: it is no bug, and its stack tells nothing. */
export const isForeseen = (error: unknown): boolean =>
  isOutage(error) || error instanceof Refusal || error instanceof NoPlace

/** What may be told of an error, whoever tells it. What was not meant to be shown is not in it. */
export interface Failure extends ErrorEnvelope {
  headers: Record<string, string>
}

/** The one place where errors become what clients may know. */
export function failureOf(error: unknown, requestId: string): Failure {
  if (error instanceof Fault) {
    const { code, status, message, data } = error
    return { defined: true, code, status, message, data, headers: retryAfter(error) }
  }
  if (error instanceof Refusal) return undeclared(error)
  if (error instanceof NotThere) return undeclared({ status: 404, code: error.code, message: error.message })
  if (error instanceof NoPlace)
    return undeclared({
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
      message: 'Too many operations are waiting; try again in a moment',
      headers: { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) },
    })
  if (error instanceof GitOverLimit)
    return undeclared({
      status: 422,
      code: 'GIT_WORK_TOO_LARGE',
      message: 'Git needs more time or memory for this than is allowed here',
    })
  if (error instanceof DatabaseUnavailable)
    return undeclared({
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
      message: error.message,
      headers: { 'retry-after': String(DATABASE_RETRY_SECONDS) },
    })
  if (outOfSpaceIn(error))
    return undeclared({
      status: 507,
      code: 'INSUFFICIENT_STORAGE',
      message: NO_ROOM,
    })
  return undeclared({
    status: 500,
    code: 'INTERNAL_SERVER_ERROR',
    message: `Something went wrong on our side. Mention request ${requestId} when you report it.`,
  })
}

function undeclared({
  status,
  code,
  message,
  headers = {},
}: Pick<Failure, 'status' | 'code' | 'message'> & { headers?: Record<string, string> }): Failure {
  return { defined: false, code, status, message, data: {}, headers }
}

function retryAfter({ code, data }: Fault): Record<string, string> {
  if (code !== 'TOO_MANY_REQUESTS') return {}
  const { retryAfterMs = 0 } = data as ErrorData<'TOO_MANY_REQUESTS'>
  return { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
}

/** Where a program finds out how to get a credential, and what is wrong with the one it sent. */
export function bearerChallenge(baseUrl: string, message: string = errors.UNAUTHENTICATED.message): string {
  const metadata = `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource"`
  const isMissing = message === errors.UNAUTHENTICATED.message
  return isMissing ? metadata : `${metadata}, error="invalid_token", error_description="${message}"`
}

/** The same for whoever reads the body alone. */
export const withDirections = (message: string, baseUrl: string): string =>
  `${message}: ${baseUrl}/auth.md tells how to get a credential, and people sign in at ${baseUrl}/login`
