import type { Caller } from '../../access/caller.ts'
import { type Fault, invalid } from '../../platform/fault.ts'
import type { RepoRow } from '../../repos/service.ts'
import type { RunRow } from '../store.ts'

/** One call on `ctx`, by a run that may make it. */
export interface CtxCall {
  run: RunRow
  /** The run's own repository, as it is now. */
  repo: RepoRow
  /** The run, acting with what the method needs. */
  caller: Caller
  args: readonly unknown[]
  signal: AbortSignal
}

/** What is done for a method, and which capability allows it. */
export interface CtxMethod {
  needs: string
  /** Changes something. */
  writes?: boolean
  /** Waits for somebody elsewhere, most of its time. */
  isAway?: boolean
  /** What is thrown where it was not granted; in general that it is forbidden. */
  refusal?(): Fault
  perform(call: CtxCall): Promise<unknown>
}

export type CtxMethods = Readonly<Record<string, CtxMethod>>

/** An argument that may be left out: an object, whose fields are checked where they are used. */
export function optionsAt(args: readonly unknown[], index: number): Record<string, unknown> {
  const given = args[index] ?? {}
  if (typeof given !== 'object' || Array.isArray(given))
    throw invalid([index], 'The argument must be an object')
  return given as Record<string, unknown>
}

export function textAt(args: readonly unknown[], index: number): string {
  const given = args[index]
  if (typeof given !== 'string') throw invalid([index], 'The argument must be a string')
  return given
}
