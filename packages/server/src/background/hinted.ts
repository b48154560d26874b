import type { Work } from './work.ts'

/** Remembers which of many things somebody should look at. */
interface Hints {
  /** Says that this one may be worth a look. */
  hint(key: string): void
  /** At most one listens. */
  listen(hear: (key: string) => void): void
}

export function createHints(): Hints {
  let hear: (key: string) => void = () => {}
  return {
    hint: (key) => hear(key),
    listen: (listener) => {
      hear = listener
    },
  }
}

interface HintedWork {
  name: string
  hints: Hints
  /** A burst of hints at one thing is looked at once, when it is over or has lasted for long. */
  settleMs: number
  longestBurstMs: number
  /** So many hints are looked at without waiting for the end. */
  largestBurst?: number
  /** How many things are looked at at the same time. Default: one. */
  atOnce?: number
  run(key: string, signal: AbortSignal): Promise<void>
}

interface Burst {
  since: number
  hints: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Looks at what was hinted at, and at one thing never twice at the same time. Hints are lost with the process: something
 * else must find what is.
 */
export function hinted(work: HintedWork): Work {
  const { name, hints, settleMs, longestBurstMs, run } = work
  const { largestBurst = Number.POSITIVE_INFINITY, atOnce = 1 } = work
  return {
    name,
    start({ attempt }) {
      const stopping = new AbortController()
      const due = new Map<string, Burst>()
      const inLine = new Set<string>()
      const lanes = Array.from({ length: atOnce }, () => Promise.resolve())

      function enqueue(key: string): void {
        clearTimeout(due.get(key)?.timer)
        due.delete(key)
        if (inLine.has(key)) return
        inLine.add(key)
        const lane = laneOf(key, atOnce)
        lanes[lane] = (lanes[lane] as Promise<void>).then(async () => {
          inLine.delete(key)
          const { signal } = stopping
          if (!signal.aborted) await attempt(name, () => run(key, signal), { signal, item: key })
        })
      }

      hints.listen((key) => {
        if (stopping.signal.aborted) return
        const now = performance.now()
        const burst: Burst = due.get(key) ?? { since: now, hints: 0, timer: undefined }
        burst.hints++
        due.set(key, burst)
        if (burst.hints >= largestBurst) return enqueue(key)
        if (now - burst.since > longestBurstMs) return
        clearTimeout(burst.timer)
        burst.timer = setTimeout(() => enqueue(key), settleMs).unref()
      })

      return {
        async stop() {
          stopping.abort()
          for (const { timer } of due.values()) clearTimeout(timer)
          await Promise.all(lanes)
        },
      }
    },
  }
}

/** Always the same for one key. */
const laneOf = (key: string, lanes: number): number =>
  [...key].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % lanes
