// What a run asks through `ctx`, answered by the host, if it was granted.

import { isGranted } from './ctx/context.ts'
import { type CallAnswer, toldOf } from './ctx/errors.ts'
import type { Job } from './runtime.ts'

/** Never throws. */
export async function answerCall(
  { capabilities, workflow }: Pick<Job, 'capabilities' | 'workflow'>,
  method: string,
  perform: () => Promise<unknown>,
): Promise<CallAnswer> {
  if (!(isGranted(method, capabilities) || (workflow && isStep(method))))
    return { error: { message: `${method} was not granted`, code: 'FORBIDDEN', data: null } }
  try {
    return { value: await perform() }
  } catch (error) {
    return { error: toldOf(error) }
  }
}

/** What only a workflow asks. */
export const isStep = (method: string) => method === 'step.begin' || method === 'step.end'
