import { parseBoundedJson } from '../../platform/large-json.ts'
import { VALUE_SHAPE } from '../calls.ts'
import type { Performance } from '../ctx/perform.ts'
import type { Job, Outcome } from '../runtime.ts'
import type { ReadStack } from './stacks.ts'

const ERROR_CHARACTERS = 5_000
const STACK_CHARACTERS = 20_000
/** What is told of an end has a few fields, all of them text. */
const PERFORMANCE_SHAPE = { values: 10, levels: 1 }

interface Answer {
  status: number
  text: string
}

/** What the process says of a run: either its wrapper does, or workerd why there was none. */
export function outcomeOf({ status, text }: Answer, job: Job, readStack: ReadStack): Outcome {
  if (status !== 200) return withoutWrapper(text, readStack)
  const performance = readPerformance(text)
  const tell = (words: string, characters: number) => readStack(words).slice(0, characters)
  switch (performance?.kind) {
    case 'returned': {
      if (performance.output === undefined) return { kind: 'returned' }
      const { value, problem } = parseBoundedJson(String(performance.output), VALUE_SHAPE)
      if (problem?.startsWith('has ')) return { kind: 'ended', error: `Its output ${problem}` }
      return value === undefined ? REPLACED : { kind: 'returned', output: value }
    }
    case 'threw':
      return {
        kind: 'threw',
        error: String(performance.error).slice(0, ERROR_CHARACTERS),
        ...(performance.stack !== undefined && { stack: tell(String(performance.stack), STACK_CHARACTERS) }),
      }
    case 'ended':
      return { kind: 'ended', error: String(performance.error).slice(0, ERROR_CHARACTERS) }
    case 'suspended':
      return job.workflow ? { kind: 'suspended' } : REPLACED
    default:
      return REPLACED
  }
}

export const tookLonger = ({ timeoutMs }: Job) =>
  `It took longer than ${timeoutMs < 1000 ? `${timeoutMs} ms` : `${timeoutMs / 1000} s`}`

const REPLACED: Outcome = { kind: 'ended', error: 'The module has replaced what reports for it' }

/** The module did not get as far as being called, or nothing can make it go on. */
function withoutWrapper(text: string, readStack: ReadStack): Outcome {
  const [, error, stack] = /^Failed to start Worker:\s+(?:Uncaught )?([^\n]*)(.*)$/s.exec(text) ?? []
  if (error !== undefined)
    return {
      kind: 'threw',
      error,
      stack: readStack(`${error}${stack}`).slice(0, STACK_CHARACTERS),
    }
  if (text.includes('would never generate a response'))
    return { kind: 'ended', error: 'It waits for something that can never happen' }
  if (text.includes('limited to 32MiB')) return { kind: 'ended', error: 'Its output is too large' }
  return { kind: 'ended', error: text.slice(0, ERROR_CHARACTERS) }
}

const readPerformance = (text: string) =>
  parseBoundedJson(text, PERFORMANCE_SHAPE).value as Performance | null | undefined
