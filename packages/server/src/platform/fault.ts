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

export const forbidden = (reason: ForbiddenReason, message?: string) =>
  new Fault('FORBIDDEN', { reason }, message ? { message } : {})

/** Input that has the right shape and is wrong all the same, told at the field it is about. */
export const invalid = (path: NonNullable<Issue['path']>, message: string) =>
  new Fault('BAD_REQUEST', { issues: [{ path, message }] })
