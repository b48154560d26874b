// What runs ask through `ctx`, as it comes out of whatever they run in: written by somebody who may mean harm.

import { LARGE_JSON_BYTES, parseBoundedJson, parseLargeJson } from '../platform/large-json.ts'
import { isGranted } from './ctx/context.ts'
import { type CallAnswer, errorToWire } from './ctx/errors.ts'
import type { Job } from './runtime.ts'

/** What a module may hand over at once, and give: more would take long to read, and be too deep to be gone through. */
export const VALUE_SHAPE = { values: 100_000, levels: 200 }

/** For what has a call, or an output, inside. */
const MESSAGE_SHAPE = { values: VALUE_SHAPE.values + 100, levels: VALUE_SHAPE.levels + 3 }

/** Then others would have to wait until it is read here. */
export const isLarge = ({ length }: Buffer | string) => length > LARGE_JSON_BYTES
export const readMessage = (text: string) => parseBoundedJson(text, MESSAGE_SHAPE)
export const readLargeMessage = (bytes: Buffer) => parseLargeJson(bytes, MESSAGE_SHAPE)

interface Asked {
  job: Job
  method: string
  /** Asks the host. */
  perform(): Promise<unknown>
}

export const isStep = (method: string) => method === 'step.begin' || method === 'step.end'

/** Never throws. */
export async function answerCall({ job, method, perform }: Asked): Promise<CallAnswer> {
  if (!(isGranted(method, job.capabilities) || (job.workflow && isStep(method))))
    return { error: { message: `${method.slice(0, 100)} was not granted`, code: 'FORBIDDEN', data: null } }
  try {
    return { value: await perform() }
  } catch (error) {
    return { error: isForModules(error) ? errorToWire(error) : SERVER_FAILED }
  }
}

export const unreadable = (problem: string): CallAnswer => {
  const message = `A call ${problem}`
  return { error: { message, code: 'BAD_REQUEST', data: { issues: [{ path: [], message }] } } }
}

const SERVER_FAILED = { message: 'The server failed', code: 'INTERNAL_SERVER_ERROR', data: null }

/** What was made to be told. Errors of databases and of the system have codes too, and no data. */
const isForModules = (error: unknown): boolean =>
  error instanceof Error && 'data' in error && 'code' in error && typeof error.code === 'string'
