// When a run has to end, and how: it is told, then asked, then ended.

import { setTimeout as delay } from 'node:timers/promises'

interface Deadline {
  /** When the module is about to begin. */
  ready: Promise<void>
  /** Aborts when nobody wants the run any more. */
  cancelled: AbortSignal
  /** Aborts when it has ended. */
  over: AbortSignal
  startMs: number
  timeoutMs: number
  graceMs: number
  tell(reason: string): void
  ask(): Promise<void>
  end(reason: string): void
}

const CANCELLED = 'It was cancelled'

/** Rejects when the run ends before. */
export async function keepDeadline(deadline: Deadline): Promise<void> {
  const { ready, over, startMs, timeoutMs, graceMs, tell, ask, end } = deadline
  const cancelled = aborted(deadline.cancelled)
  const wait = (ms: number, reason?: string) => delay(ms, reason, { signal: over, ref: false })
  const late = wait(startMs, `It did not start within ${inWords(startMs)}`)
  const before = await Promise.race([ready, cancelled, late])
  if (before !== undefined) return end(before)
  const reason = await Promise.race([wait(timeoutMs, `It took longer than ${inWords(timeoutMs)}`), cancelled])
  if (reason === undefined) return
  tell(reason)
  await wait(graceMs)
  await ask()
  await wait(graceMs)
  end(reason)
}

const inWords = (ms: number) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`)

const aborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(CANCELLED)
    signal.addEventListener('abort', () => resolve(CANCELLED), { once: true })
  })
