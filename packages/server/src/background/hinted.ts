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
  run(key: string, signal: AbortSignal): Promise<void>
}

/** Looks at what was hinted at, one after the other. Hints are lost with the process: something else must find what is. */
export function hinted({ name, hints, settleMs, longestBurstMs, run }: HintedWork): Work {
  return {
    name,
    start({ attempt }) {
      const stopping = new AbortController()
      const due = new Map<string, { since: number; timer: NodeJS.Timeout }>()
      let last: Promise<void> = Promise.resolve()

      function enqueue(key: string): void {
        due.delete(key)
        last = last.then(async () => {
          const { signal } = stopping
          if (!signal.aborted) await attempt(name, () => run(key, signal), { signal, item: key })
        })
      }

      hints.listen((key) => {
        if (stopping.signal.aborted) return
        const waiting = due.get(key)
        const since = waiting?.since ?? performance.now()
        if (performance.now() - since > longestBurstMs) return
        clearTimeout(waiting?.timer)
        due.set(key, { since, timer: setTimeout(() => enqueue(key), settleMs).unref() })
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
