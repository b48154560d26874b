import { isoTime } from '../platform/clock.ts'
import { invalid } from '../platform/fault.ts'
import type { Caller } from './caller.ts'

/** Whether something that ends then, or never, would still be there when the caller's own credential is not. */
export const outlives = ({ expiresAt }: Caller, end: number | null): boolean =>
  expiresAt !== null && (end === null || end > expiresAt)

/** The end of what somebody makes without naming a time: `end`, or that of their own credential if it comes first. */
export const endWithin = ({ expiresAt }: Caller, end: number): number =>
  Math.min(end, expiresAt ?? Number.MAX_SAFE_INTEGER)

/** Refuses a time somebody named, at its field, when their own credential is not good for so long. */
export function requireEndWithin(caller: Caller, end: number | null, field: string): void {
  if (caller.expiresAt !== null && outlives(caller, end))
    throw invalid(
      [field],
      `The credential of this request ends at ${isoTime(caller.expiresAt)}, and what it makes or changes cannot last longer`,
    )
}
