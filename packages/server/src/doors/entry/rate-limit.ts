import type { Clock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'

interface Rate {
  perSecond: number
  burst: number
}

interface Bucket {
  tokens: number
  at: number
}

const MAX_BUCKETS = 100_000
/** Room made at once, so that not every newcomer of a flood has all buckets looked through. */
const KEPT_BUCKETS = 90_000

export type RateLimit = ReturnType<typeof createRateLimit>

/** A token bucket for each key, in memory: what a process has seen, it forgets when it ends. */
export function createRateLimit({ perSecond, burst }: Rate, clock: Clock) {
  const buckets = new Map<string, Bucket>()
  const fullAfterMs = (burst / perSecond) * 1000

  /** Those that have filled up again say nothing that a new one would not. */
  function forgetFull(now: number): void {
    for (const [key, { at }] of buckets) if (now - at >= fullAfterMs) buckets.delete(key)
    // Under a flood of addresses the oldest go, full or not: memory stays bounded.
    for (const key of buckets.keys()) {
      if (buckets.size <= KEPT_BUCKETS) break
      buckets.delete(key)
    }
  }

  return {
    /** Counts one request; throws when there have been too many. */
    take(key: string): void {
      const now = clock()
      let bucket = buckets.get(key)
      if (!bucket) {
        if (buckets.size >= MAX_BUCKETS) forgetFull(now)
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
