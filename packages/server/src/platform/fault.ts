import { type ErrorCode, type ErrorData, errors, type ForbiddenReason, type Issue } from '@trellis/contract'

/** An error the contract declares. `message` and `data` are public; what is not goes into `cause`. */
export class Fault<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code
  readonly data: ErrorData<Code>

  constructor(code: Code, data: ErrorData<Code>, options: ErrorOptions & { message?: string } = {}) {
    super(options.message ?? errors[code].message, options)
    this.code = code
    this.data = data
  }

  get status(): number {
    return errors[this.code].status
  }
}

/** What the input names is not there, and no operation declares an error for it: clients look at the status, 404. */
export class NotThere extends Error {
  readonly code: 'WEBHOOK_NOT_FOUND' | 'MEMBER_NOT_FOUND'

  constructor(code: NotThere['code'], message: string) {
    super(message)
    this.code = code
  }
}

export const forbidden = (reason: ForbiddenReason, message?: string) =>
  new Fault('FORBIDDEN', { reason }, message ? { message } : {})

/** Input that has the right shape and is wrong all the same, told at the field it is about. */
export const invalid = (path: NonNullable<Issue['path']>, message: string) =>
  new Fault('BAD_REQUEST', { issues: [{ path, message }] })
