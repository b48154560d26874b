import assert from 'node:assert/strict'
import { type ErrorCode, type ErrorData, errors, type ForbiddenReason } from '@trellis/contract'
import type { NotThere } from '../platform/fault.ts'
import { type Answer, asEnvelope } from './test-app.ts'

/** Asserts that an answer is this declared error, whole: status, message and data. */
export function assertFault<Code extends ErrorCode>(
  answer: Answer,
  code: Code,
  data: ErrorData<Code>,
  // A 401 always says more: where to get a credential.
  message: string = code === 'UNAUTHENTICATED' ? answer.body.message : errors[code].message,
): void {
  const { status } = errors[code]
  assert.deepEqual(answer.body, { defined: true, code, status, message, data })
  assert.equal(answer.status, status)
}

/** Asserts that the caller is not known, and is told where to find out how to become so. */
export function assertUnauthenticated(answer: Answer, message: RegExp = /./): void {
  const { message: told, ...rest } = asEnvelope(answer)
  assert.deepEqual(rest, { defined: true, code: 'UNAUTHENTICATED', status: 401, data: {} })
  assert.equal(answer.status, 401)
  assert.match(
    told,
    /: http[^ ]+\/auth\.md tells how to get a credential, and people sign in at http[^ ]+\/login$/,
  )
  assert.match(told, message)
  assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer resource_metadata="http/)
}

/** What is said beside the reason is for people, and looked at where a test gives it. */
export function assertForbidden(answer: Answer, reason: ForbiddenReason, message?: string): void {
  assertFault(answer, 'FORBIDDEN', { reason }, message ?? answer.body.message)
}

/** Asserts a 404 that no operation declares. */
export function assertNotThere(answer: Answer, code: NotThere['code']): void {
  const { message: _, ...rest } = asEnvelope(answer)
  assert.deepEqual(rest, { defined: false, code, status: 404, data: {} })
  assert.equal(answer.status, 404)
}

/** Asserts that the input was refused, for what stands at `path` alone. */
export function assertInvalid(answer: Answer, path: (string | number)[]): void {
  const { code, data } = asEnvelope(answer)
  assert.equal(code, 'BAD_REQUEST')
  assert.deepEqual(
    (data as ErrorData<'BAD_REQUEST'>).issues?.map((issue) => issue.path),
    [path],
  )
}
