// What a run asks through `ctx`, answered by the host, if it was granted.

import { isGranted } from './ctx/context.ts'
import { type CallAnswer, toldOf, type WireError } from './ctx/errors.ts'
import type { Job } from './runtime.ts'

/** Never throws. */
export async function answerCall(
  { capabilities, workflow }: Pick<Job, 'capabilities' | 'workflow'>,
  method: string,
  perform: () => Promise<unknown>,
): Promise<CallAnswer> {
  if (!(isGranted(method, capabilities) || (workflow && isStep(method)))) return { error: refusalOf(method) }
  try {
    return { value: await perform() }
  } catch (error) {
    return { error: toldOf(error) }
  }
}

/** As the operation of the same name refuses: a run that may not be is rejected. */
const refusalOf = (method: string): WireError => ({
  message: `${method} was not granted`,
  ...(method === 'runs.dispatch'
    ? { code: 'RUN_REJECTED', data: { reason: 'capability_missing' } }
    : { code: 'FORBIDDEN', data: null }),
})

/** What only a workflow asks. */
export const isStep = (method: string) => method === 'step.begin' || method === 'step.end'
