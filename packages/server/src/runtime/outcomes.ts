import { parseBoundedJson } from '../platform/large-json.ts'
import { VALUE_SHAPE } from './calls.ts'
import { createBlank } from './ctx/blanking.ts'
import { MESSAGE_CHARACTERS, STACK_CHARACTERS } from './ctx/errors.ts'
import type { Performance } from './ctx/perform.ts'
import type { Job, Outcome } from './runtime.ts'
import type { ReadStack } from './stacks.ts'

/** In the lines of its author a stack may be longer. */
const READ_STACK_CHARACTERS = 20_000

/** What a run comes to by its wrapper's own words, which the module may have put there. */
export function outcomeOf(
  told: unknown,
  job: Pick<Job, 'workflow' | 'secrets'>,
  readStack: ReadStack,
): Outcome {
  const performance = told as Performance | null | undefined
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
        error: boundedError(String(performance.error), job),
        ...(performance.stack !== undefined && {
          stack: boundedStack(String(performance.stack), job, readStack),
        }),
      }
    case 'ended':
      return { kind: 'ended', error: boundedError(String(performance.error), job) }
    case 'suspended':
      return job.workflow ? { kind: 'suspended' } : REPLACED
    default:
      return REPLACED
  }
}

const REPLACED: Outcome = { kind: 'ended', error: 'The module has replaced what reports for it' }

export const boundedError = (error: string, job: Pick<Job, 'secrets'>): string =>
  cut(error, MESSAGE_CHARACTERS, job)

export const boundedStack = (stack: string, job: Pick<Job, 'secrets'>, readStack: ReadStack): string =>
  cut(readStack(cut(stack, STACK_CHARACTERS, job)), READ_STACK_CHARACTERS, job)

const cut = (text: string, most: number, { secrets }: Pick<Job, 'secrets'>): string =>
  text.length < most ? text : createBlank(Object.values(secrets)).cut(text, most)
