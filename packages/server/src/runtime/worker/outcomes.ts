import { parseBoundedJson } from '../../platform/large-json.ts'
import { boundedError, boundedStack, outcomeOf } from '../outcomes.ts'
import type { Job, Outcome } from '../runtime.ts'
import type { ReadStack } from '../stacks.ts'

/** What is told of an end has a few fields, all of them text. */
const PERFORMANCE_SHAPE = { values: 10, levels: 1 }

interface Answer {
  status: number
  text: string
}

/** What the process says of a run: either its wrapper does, or workerd why there was none. */
export const answeredOutcome = ({ status, text }: Answer, job: Job, readStack: ReadStack): Outcome =>
  status === 200
    ? outcomeOf(parseBoundedJson(text, PERFORMANCE_SHAPE).value, job, readStack)
    : withoutWrapper(text, job, readStack)

export const tookLonger = ({ timeoutMs }: Job) =>
  `It took longer than ${timeoutMs < 1000 ? `${timeoutMs} ms` : `${timeoutMs / 1000} s`}`

/** The module did not get as far as being called, or nothing can make it go on. */
function withoutWrapper(text: string, job: Job, readStack: ReadStack): Outcome {
  const [, error, stack] = /^Failed to start Worker:\s+(?:Uncaught )?([^\n]*)(.*)$/s.exec(text) ?? []
  if (error !== undefined)
    return { kind: 'threw', error, stack: boundedStack(`${error}${stack}`, job, readStack) }
  if (text.includes('would never generate a response'))
    return { kind: 'ended', error: 'It waits for something that can never happen' }
  if (text.includes('limited to 32MiB')) return { kind: 'ended', error: 'Its output is too large' }
  return { kind: 'ended', error: boundedError(text, job) }
}
