import type { Stopwatch } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { createRecent } from '../../platform/recent.ts'

interface Rate {
  perSecond: number
  burst: number
}

interface Bucket {
  tokens: number
  at: number
}

/** Under a flood of addresses those go that have not come for the longest, which have filled up the most. */
const MAX_BUCKETS = 100_000

export type RateLimit = ReturnType<typeof createRateLimit>

/** A token bucket for each key, in memory: what a process has seen, it forgets when it ends. */
export function createRateLimit({ perSecond, burst }: Rate, stopwatch: Stopwatch) {
  const buckets = createRecent<string, Bucket>({ maxEntries: MAX_BUCKETS })

  return {
    /** Counts one request; throws when there have been too many. */
    take(key: string): void {
      const now = stopwatch()
      let bucket = buckets.get(key)
      if (!bucket) {
        bucket = { tokens: burst, at: now }
        buckets.set(key, bucket)
      }
      bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond)
      bucket.at = now
      if (bucket.tokens < 1) {
        const retryAfterMs = Math.ceil(((1 - bucket.tokens) / perSecond) * 1000)
        throw new Fault('TOO_MANY_REQUESTS', { retryAfterMs })
      }
      bucket.tokens -= 1
    },
  }
}
