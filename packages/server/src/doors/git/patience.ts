import { type Stopwatch, systemStopwatch } from '../../platform/clock.ts'
import type { Exchange } from '../http/exchange.ts'

/** For as much as a socket holds back. */
const DRAIN_MS = 120_000

/** Resolves when the client has taken what was sent so far, or is gone; one that takes nothing is hung up on. */
export function drained(response: Exchange['response'], patienceMs = DRAIN_MS): Promise<void> {
  return new Promise((resolve) => {
    const impatient = setTimeout(() => response.destroy(), patienceMs)
    const go = () => {
      clearTimeout(impatient)
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })
}

/** Over a minute. Whoever takes less keeps a place from others. */
const LEAST_BYTES_A_SECOND = 64 * 1024
const MOST_PATIENCE_MS = 60_000

/** For an answer that holds a place while it is taken: patience that waiting uses up, and that comes back with every byte. */
export function createPace(stopwatch: Stopwatch = systemStopwatch) {
  let leftMs = MOST_PATIENCE_MS
  return {
    /** Of so many bytes, the last of which have not been taken yet. */
    async drained(response: Exchange['response'], bytes: number): Promise<void> {
      leftMs = Math.min(MOST_PATIENCE_MS, leftMs + (bytes * 1000) / LEAST_BYTES_A_SECOND)
      const began = stopwatch()
      await drained(response, leftMs)
      leftMs = Math.max(0, leftMs - (stopwatch() - began))
    },
  }
}
