import type { Clock, Stopwatch } from './clock.ts'

/** More than a clock drifts between two looks, less than anything that is deleted by it is old. */
const JUMP_MS = 60_000
/** How long a clock that jumped must have run evenly: somebody may be about to set it right. */
const TRUSTED_AFTER_MS = 60 * 60_000

/**
 * Whether the clock can be trusted with what cannot be undone. One that jumps a day ahead, or a machine that slept for
 * it, makes everything look old: what others have just made, and what is to be kept until tomorrow.
 */
export function watchSteadiness({ clock, stopwatch }: { clock: Clock; stopwatch: Stopwatch }) {
  let offset = clock() - stopwatch()
  let jumpedAt: number | undefined

  return (): boolean => {
    const now = clock() - stopwatch()
    if (Math.abs(now - offset) > JUMP_MS) jumpedAt = stopwatch()
    offset = now
    return jumpedAt === undefined || stopwatch() - jumpedAt >= TRUSTED_AFTER_MS
  }
}
