import type { Stopwatch } from '../../platform/clock.ts'
import { isOutage } from '../../platform/outages.ts'
import { createPauses } from '../../platform/pauses.ts'

/** A tail that is open. */
interface OpenTail {
  /** When something was last sent, and when it was last asked whether it may be. */
  sentAt: number
  askedAt: number
  /** Says that the connection lives, to whoever is in between. */
  beat(): void
  /** Throws when the caller may not listen any more. */
  ask(): Promise<void>
  end(): void
}

const LOOK_EVERY_MS = 1_000
const BEAT_MS = 15_000
const ASK_MS = 60_000
/** Asking takes a few queries each. */
const ASKED_AT_ONCE = 4

/** Looks after tails on which nothing happens, all with one timer. */
export function createTailUpkeep({ stopwatch }: { stopwatch: Stopwatch }) {
  const open = new Set<OpenTail>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false

  async function ask(tail: OpenTail): Promise<void> {
    tail.askedAt = stopwatch()
    try {
      await tail.ask()
    } catch (error) {
      // What cannot be found out now is asked again later.
      if (!isOutage(error)) tail.end()
    }
  }

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    try {
      await lookAtAll()
    } finally {
      isLooking = false
    }
  }

  async function lookAtAll(): Promise<void> {
    const pause = createPauses()
    const due: OpenTail[] = []
    for (const tail of open) {
      await pause()
      if (stopwatch() - tail.sentAt >= BEAT_MS) tail.beat()
      if (stopwatch() - tail.askedAt >= ASK_MS) due.push(tail)
    }
    for (let i = 0; i < due.length; i += ASKED_AT_ONCE)
      await Promise.all(due.slice(i, i + ASKED_AT_ONCE).map(ask))
  }

  return {
    /** From now on, until it is disposed of. */
    watch(tail: OpenTail): Disposable {
      open.add(tail)
      timer ??= setInterval(() => void look(), LOOK_EVERY_MS).unref()
      return {
        [Symbol.dispose]() {
          open.delete(tail)
          if (open.size > 0) return
          clearInterval(timer)
          timer = undefined
        },
      }
    },
  }
}
