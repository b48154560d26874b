import { createPauses } from '../platform/pauses.ts'
import type { Db } from '../schema.ts'
import * as store from './store.ts'
import type { EventScope } from './types.ts'

interface Wanted {
  scope: EventScope
  /** When the first bucket begins, and when the last one ends. */
  from: number
  to: number
  bucketMs: number
  types?: readonly string[] | undefined
}

interface Bucket {
  start: number
  counts: Record<string, number>
}

interface Counted {
  buckets: Bucket[]
  /** From then on everything was counted. */
  countedFrom: number
}

const ROWS_AT_ONCE = 1_000
/** For one answer. */
const MAX_ROWS = 50_000

/**
 * How many events of each type there were in each part of a time, the newest counted first. The log is in the order of
 * time, or nearly so: where a time begins in it is found by halves.
 */
export async function countEvents(q: Db, wanted: Wanted, signal: AbortSignal): Promise<Counted> {
  const { scope, from, to, bucketMs } = wanted
  const buckets: { start: number; counts: Map<string, number> }[] = []
  for (let start = from; start < to; start += bucketMs) buckets.push({ start, counts: new Map() })
  const told = (countedFrom: number): Counted => ({
    // A type may be called like something that every object has.
    buckets: buckets.map(({ start, counts }) => ({ start, counts: Object.fromEntries(counts) })),
    countedFrom,
  })
  const types = wanted.types && new Set(wanted.types)
  const pause = createPauses()
  const last = (await store.findLast(q, scope)) ?? 0
  const first = await findFirstSince(q, scope, { ts: from, last })
  let below = (await findFirstSince(q, scope, { ts: to, last })) + SLACK
  for (let left = MAX_ROWS; below > first && left > 0; left -= ROWS_AT_ONCE) {
    const rows = await store.listTimes(q, { scope, above: first - 1 - SLACK, below, limit: ROWS_AT_ONCE })
    for (const { ts, type } of rows) {
      const bucket = ts >= from && ts < to ? buckets[Math.floor((ts - from) / bucketMs)] : undefined
      if (bucket && (!types || types.has(type))) bucket.counts.set(type, (bucket.counts.get(type) ?? 0) + 1)
    }
    const end = rows.at(-1)
    if (!end || rows.length < ROWS_AT_ONCE) return told(from)
    below = end.seq
    if (left <= ROWS_AT_ONCE) return told(Math.min(to, Math.max(from, end.ts)))
    await pause()
    signal.throwIfAborted()
  }
  return told(from)
}

/** Clocks of several processes differ a little, so a few events on both sides are looked at as well. */
const SLACK = 100

/** The number of the first event at a time or later, and one after the last when there is none. */
async function findFirstSince(
  q: Db,
  scope: EventScope,
  { ts, last }: { ts: number; last: number },
): Promise<number> {
  let [low, high] = [1, last + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await store.listTimes(q, {
      scope,
      above: middle - 1,
      below: high,
      limit: 1,
      oldest: true,
    })
    if (!event || event.ts >= ts) high = middle
    else low = event.seq + 1
  }
  return low
}
