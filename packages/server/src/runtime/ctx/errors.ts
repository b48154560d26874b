/** What is told of an error. Longer ones are cut. */
const MESSAGE_CHARACTERS = 4_000
const STACK_CHARACTERS = 16_000

/** An error on its way between a module and its host. */
export interface WireError {
  name?: string
  message: string
  code?: string
  data?: unknown
}

/** What comes back of a call on `ctx`. */
export type CallAnswer = { value?: unknown } | { error: WireError }

/** Thrown by whatever is on `ctx`, with the code and data that the API would answer. */
class ContextError extends Error {
  readonly code: string | undefined
  readonly data: unknown

  constructor({ name, message, code, data }: WireError) {
    super(message)
    this.name = name ?? 'ContextError'
    this.code = code
    this.data = data
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

/** Of whatever was thrown, which need not be an error, and may throw itself when it is looked at. */
export function describeThrown(thrown: unknown): { error: string; stack?: string } {
  try {
    const stack = isObject(thrown) ? (thrown as { stack?: unknown }).stack : undefined
    return {
      error: isObject(thrown) ? `${nameOf(thrown)}: ${messageOf(thrown)}` : `Error: ${messageOf(thrown)}`,
      ...(typeof stack === 'string' && { stack: stack.slice(0, STACK_CHARACTERS) }),
    }
  } catch {
    return { error: 'Error: something was thrown that cannot be looked at' }
  }
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

function nameOf(thrown: unknown): string {
  const name = isObject(thrown) ? (thrown as { name?: unknown }).name : undefined
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : 'Error'
}

function messageOf(thrown: unknown): string {
  const message = isObject(thrown) && 'message' in thrown ? thrown.message : thrown
  return String(message).slice(0, MESSAGE_CHARACTERS)
}
