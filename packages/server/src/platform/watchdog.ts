import { Counter } from 'prom-client'
import type { Log } from './log.ts'
import type { Registry } from './metrics.ts'
import { createUnderWay } from './under-way.ts'

/** Everybody waits for a turn of the event loop. One that takes longer than this is felt. */
const LONG_TURN_MS = 250
const LOOK_EVERY_MS = 100

/** Notices when the event loop stands still, and tells for how long and what was under way. */
export function startWatchdog({ log, registry }: { log: Log; registry: Registry }) {
  const underWay = createUnderWay(LONG_TURN_MS)
  const longTurns = new Counter({
    name: 'trellis_long_turns_total',
    help: `Turns of the event loop that kept all else waiting for ${LONG_TURN_MS} ms and more`,
    registers: [registry],
  })
  let looked = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const ms = now - looked - LOOK_EVERY_MS
    looked = now
    if (ms >= LONG_TURN_MS) {
      longTurns.inc()
      // What began after the turn did cannot have been in it for long.
      log.warn('the event loop stood still', {
        ms: Math.round(ms),
        underWay: underWay.startedBefore(now - LONG_TURN_MS),
      })
    }
    underWay.forget()
  }, LOOK_EVERY_MS).unref()

  return { underWay, stop: () => clearInterval(timer) }
}
