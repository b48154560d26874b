// What runs ask through `ctx`, as it comes out of whatever they run in: written by somebody who may mean harm. It is
// answered by the host, if it was granted.

import { LARGE_JSON_BYTES, parseBoundedJson, parseLargeJson } from '../platform/large-json.ts'
import { isGranted } from './ctx/context.ts'
import { type CallAnswer, toldOf, type WireError } from './ctx/errors.ts'
import type { Job } from './runtime.ts'

/** What a module may hand over at once, and give: more would take long to read, and be too deep to be gone through. */
export const VALUE_SHAPE = { values: 100_000, levels: 200 }

/** For what has a call, or an output, inside. */
const MESSAGE_SHAPE = { values: VALUE_SHAPE.values + 100, levels: VALUE_SHAPE.levels + 3 }

/** Then others would have to wait until it is read here. */
export const isLarge = ({ length }: Buffer | string) => length > LARGE_JSON_BYTES
export const readMessage = (text: string) => parseBoundedJson(text, MESSAGE_SHAPE)
export const readLargeMessage = (bytes: Buffer, orgId: string) =>
  parseLargeJson(bytes, { ...MESSAGE_SHAPE, sender: { owner: { id: orgId } } })

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
  message: `${method.slice(0, 100)} was not granted`,
  ...(method === 'runs.dispatch'
    ? { code: 'RUN_REJECTED', data: { reason: 'capability_missing' } }
    : { code: 'FORBIDDEN', data: null }),
})

export const unreadable = (problem: string): CallAnswer => {
  const message = `A call ${problem}`
  return { error: { message, code: 'BAD_REQUEST', data: { issues: [{ path: [], message }] } } }
}

/** What only a workflow asks. */
export const isStep = (method: string) => method === 'step.begin' || method === 'step.end'
