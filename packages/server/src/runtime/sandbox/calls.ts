// What a run asks through `ctx`, answered by the host, if it was granted.

import { isGranted } from '../ctx/context.ts'
import { errorToWire } from '../ctx/errors.ts'
import type { Host, Job } from '../runtime.ts'
import type { CallAnswer } from './inside/messages.ts'

interface CallsOptions {
  job: Job
  host: Host
  signal: AbortSignal
}

/** Never throws. */
export async function answerCall(
  { job, host, signal }: CallsOptions,
  method: string,
  args: readonly unknown[],
): Promise<CallAnswer> {
  if (!isGranted(method, job.capabilities))
    return { error: { message: `${method} was not granted`, code: 'FORBIDDEN', data: null } }
  try {
    return { value: await host.call(method, args, signal) }
  } catch (error) {
    return { error: isForModules(error) ? errorToWire(error) : SERVER_FAILED }
  }
}

const SERVER_FAILED = { message: 'The server failed', code: 'INTERNAL_SERVER_ERROR', data: null }

/** What was made to be told. Errors of databases and of the system have codes too, and no data. */
const isForModules = (error: unknown): boolean =>
  error instanceof Error && 'data' in error && 'code' in error && typeof error.code === 'string'
