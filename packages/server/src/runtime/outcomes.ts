import { parseBoundedJson } from '../platform/large-json.ts'
import { VALUE_SHAPE } from './calls.ts'
import type { Performance } from './ctx/perform.ts'
import type { Job, Outcome } from './runtime.ts'
import type { ReadStack } from './stacks.ts'

const ERROR_CHARACTERS = 5_000
const STACK_CHARACTERS = 20_000

/** What a run comes to by its wrapper's own words, which the module may have put there. */
export function outcomeOf(told: unknown, { workflow }: Pick<Job, 'workflow'>, readStack: ReadStack): Outcome {
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
        error: boundedError(String(performance.error)),
        ...(performance.stack !== undefined && { stack: boundedStack(readStack(String(performance.stack))) }),
      }
    case 'ended':
      return { kind: 'ended', error: boundedError(String(performance.error)) }
    case 'suspended':
      return workflow ? { kind: 'suspended' } : REPLACED
    default:
      return REPLACED
  }
}

const REPLACED: Outcome = { kind: 'ended', error: 'The module has replaced what reports for it' }

export const boundedError = (error: string): string => error.slice(0, ERROR_CHARACTERS)
export const boundedStack = (stack: string): string => stack.slice(0, STACK_CHARACTERS)
