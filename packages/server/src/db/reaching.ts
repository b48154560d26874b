import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseUnavailable } from '../platform/outages.ts'

interface Patience {
  waitMs: number
  /** Hears that it is still waited for, every few seconds. */
  onWaiting?(waiting: { ms: number; error: unknown }): void
}

const TRY_EVERY_MS = 3_000

/** Tries until the database is there: after a power cut it may come up later than who uses it. */
export async function reach(tryOnce: () => Promise<void>, { waitMs, onWaiting }: Patience): Promise<void> {
  const began = performance.now()
  for (;;) {
    try {
      await tryOnce()
      return
    } catch (error) {
      const ms = Math.round(performance.now() - began)
      if (!(error instanceof DatabaseUnavailable) || ms + TRY_EVERY_MS > waitMs) throw error
      onWaiting?.({ ms, error: error.cause })
      await sleep(TRY_EVERY_MS)
    }
  }
}
