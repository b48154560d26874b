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
  run(key: string, signal: AbortSignal): Promise<void>
}

interface Burst {
  since: number
  hints: number
  timer: NodeJS.Timeout | undefined
}

/** Looks at what was hinted at, one after the other. Hints are lost with the process: something else must find what is. */
export function hinted(work: HintedWork): Work {
  const { name, hints, settleMs, longestBurstMs, largestBurst = Number.POSITIVE_INFINITY, run } = work
  return {
    name,
    start({ attempt }) {
      const stopping = new AbortController()
      const due = new Map<string, Burst>()
      const inLine = new Set<string>()
      let last: Promise<void> = Promise.resolve()

      function enqueue(key: string): void {
        clearTimeout(due.get(key)?.timer)
        due.delete(key)
        if (inLine.has(key)) return
        inLine.add(key)
        last = last.then(async () => {
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
          await last
        },
      }
    },
  }
}
