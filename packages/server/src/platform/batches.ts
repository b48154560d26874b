import { setTimeout as sleep } from 'node:timers/promises'
import { type Stopwatch, systemStopwatch } from './clock.ts'

/** How long one transaction of many may take: whoever writes meanwhile waits for it. */
const SHARE_MS = 1.5
/** To commit takes longer still, and is not measured; and while the disk is written to, others' commits wait for it. */
const RESTS = 5
const LONGEST_REST_MS = 10
/** To begin and end a transaction takes as long as some rows do. */
const LEAST = 20
const MOST = 500

/**
 * For work that goes through very many rows in short transactions, beside everything else: how many rows to take, so
 * that it lasts about its share on this machine, and a rest after each, so that others find it idle most of the time.
 */
export function createBatches(stopwatch: Stopwatch = systemStopwatch) {
  let size = LEAST
  let tookMs = 0
  return {
    /** Does some of the work, inside of its transaction: waiting for that does not count. */
    async take<T>(work: (size: number) => Promise<T>): Promise<T> {
      const began = stopwatch()
      try {
        return await work(size)
      } finally {
        tookMs = stopwatch() - began
        // Not all at once: one that was held up says little about the next.
        const factor = Math.min(2, Math.max(0.5, SHARE_MS / tookMs))
        size = Math.min(MOST, Math.max(LEAST, Math.round(size * factor)))
      }
    },

    rest: (): Promise<void> => sleep(Math.min(RESTS * tookMs, LONGEST_REST_MS)),
  }
}
