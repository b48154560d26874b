import { constants } from 'node:os'
import { outcomeOf } from '../outcomes.ts'
import type { Job, Outcome } from '../runtime.ts'
import type { ReadStack } from '../stacks.ts'
import { tooMuch } from './watch.ts'

/** How the process ended. Bubblewrap gives a signal of the program as a status, as shells do. */
export interface Exit {
  status: number | undefined
  how: string
}

interface Evidence {
  job: Job
  exit: Exit
  /** Why it was ended, or told to end. */
  ending: string | undefined
  /** From here on the module may have done something. */
  isReady: boolean
  startWords: string
  /** What the process has said of its end. */
  done: unknown
  /** The kernel ended a process. */
  wasOutOfMemory: boolean
  /** On stderr, where a module can say it too. */
  saysHeapIsFull: boolean
  limits: { memoryMb: number; diskMb: number }
  readStack: ReadStack
}

export function exitOf(code: number | null, signal: NodeJS.Signals | null): Exit {
  const number = signal ? constants.signals[signal] : (code ?? 0) - 128
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? []
  return { status: signal ? 128 + number : (code ?? 0), how: name ?? `status ${code}` }
}

export function verdictOn(evidence: Evidence): Outcome {
  const { job, exit, ending, isReady, startWords, done, limits, readStack } = evidence
  const exitCode = exit.status ?? 1
  const ended = (error: string): Outcome => ({ kind: 'ended', error, exitCode: exitCode || 1 })
  if (!isReady)
    return {
      kind: 'not begun',
      reason: ending ?? `The sandbox did not start: ${startWords.trim() || exit.how}`,
    }
  if (ending !== undefined) return ended(ending)
  const hasAborted = exit.how === 'SIGABRT' && evidence.saysHeapIsFull
  if (evidence.wasOutOfMemory || hasAborted) return ended(tooMuch.memory(limits.memoryMb))
  if (done === undefined)
    return exitCode === 0 ? { kind: 'returned', exitCode } : ended(`It exited with ${exit.how}`)
  const outcome = outcomeOf(done, job, readStack)
  // The module may have had another status in mind when it was told that the process exits.
  if (outcome.kind === 'returned' && exitCode !== 0) return ended(`It exited with ${exit.how}`)
  if (outcome.kind === 'threw' && NO_ROOM.test(outcome.error)) return ended(tooMuch.disk(limits.diskMb))
  return { ...outcome, ...(outcome.kind !== 'suspended' && { exitCode }) }
}

const NO_ROOM = /\bENOSPC\b/
