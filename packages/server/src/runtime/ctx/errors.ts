/** What is told of an error. Longer ones are cut, and secrets with them: whoever is told looks at what has such a length. */
export const MESSAGE_CHARACTERS = 4_000
export const STACK_CHARACTERS = 16_000
/** What is longer is none. */
const NAME_CHARACTERS = 100

/** An error on its way between a module and its host. */
export interface WireError {
  name?: string
  message: string
  code?: string
  data?: unknown
  /** Of what a module threw in a step; the server's own never leave it. */
  stack?: string
}

/** What comes of a call on `ctx`. */
export type CallAnswer = { value?: unknown } | { error: WireError }

/** Thrown by whatever is on `ctx`, with the code and data that the API would answer. */
class ContextError extends Error {
  readonly code: string | undefined
  readonly data: unknown

  constructor({ name, message, code, data, stack }: WireError) {
    super(message)
    this.name = name ?? 'ContextError'
    this.code = code
    this.data = data
    if (stack !== undefined) this.stack = stack
  }
}

export const errorFromWire = (error: WireError): Error => new ContextError(error)

/** For the journal of a workflow, and for the host's side of a call. */
export function errorToWire(thrown: unknown): WireError {
  const { code, data } = (isObject(thrown) ? thrown : {}) as { code?: unknown; data?: unknown }
  return {
    name: nameOf(thrown),
    message: messageOf(thrown),
    ...(typeof code === 'string' && { code }),
    ...(data !== undefined && { data }),
  }
}

const SERVER_FAILED = { message: 'The server failed', code: 'INTERNAL_SERVER_ERROR', data: null }

/** What a module is told of what a call threw. */
export const toldOf = (error: unknown): WireError =>
  isForModules(error) ? errorToWire(error) : SERVER_FAILED

/** What was made to be told. Errors of databases and of the system have codes too, and no data. */
const isForModules = (error: unknown): boolean =>
  error instanceof Error && 'data' in error && 'code' in error && typeof error.code === 'string'

/** Of whatever was thrown, which need not be an error, and may throw itself when it is looked at. */
export function describeThrown(
  thrown: unknown,
  most = { message: MESSAGE_CHARACTERS, stack: STACK_CHARACTERS },
): { error: string; stack?: string } {
  try {
    const stack = isObject(thrown) ? (thrown as { stack?: unknown }).stack : undefined
    return {
      error: `${nameOf(thrown)}: ${messageOf(thrown, most.message)}`,
      ...(typeof stack === 'string' && { stack: stack.slice(0, most.stack) }),
    }
  } catch {
    return { error: 'Error: something was thrown that cannot be looked at' }
  }
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

function nameOf(thrown: unknown): string {
  const name = isObject(thrown) ? (thrown as { name?: unknown }).name : undefined
  return typeof name === 'string' && name !== '' && name.length <= NAME_CHARACTERS ? name : 'Error'
}

function messageOf(thrown: unknown, most = MESSAGE_CHARACTERS): string {
  const message = isObject(thrown) && 'message' in thrown ? thrown.message : thrown
  return String(message).slice(0, most)
}
