import { takeTurn } from './turns.ts'
import type { Work } from './work.ts'

interface PeriodicJob {
  name: string
  everyMs: number
  /** Every process does it, or it is enough that one over the same database does. */
  where: 'each process' | 'one process'
  /** Also when the process starts; otherwise not before the first interval is over. */
  atStart?: boolean
  /** Deletes what the clock says is old: left out while the clock cannot be trusted. */
  deletesByClock?: boolean
  /** Aborted when the process is to stop. */
  run(signal: AbortSignal): Promise<void>
}

/** Whether somebody's turn has come is looked at no less often than this. */
const LOOK_EVERY_MS = 60_000

/** Something that is done again and again, never twice at a time in one process. */
export function periodic(job: PeriodicJob): Work {
  const { name, everyMs, where, atStart = false, deletesByClock = false, run } = job
  return {
    name,
    start({ database, clock, isSteady, attempt, log, complain }) {
      const stopping = new AbortController()
      const { signal } = stopping
      let last: Promise<void> = Promise.resolve()
      let isUnderWay = false

      const begin = (work: () => Promise<void>): Promise<void> => {
        last = last.then(async () => {
          if (signal.aborted) return
          isUnderWay = true
          await work()
          isUnderWay = false
        })
        return last
      }
      const once = async () => {
        if (deletesByClock && !isSteady())
          log.warn('the clock has jumped: nothing is deleted by it for an hour', { work: name })
        else await attempt(name, () => run(signal), { signal })
      }
      const onceForAll = async () => {
        const isOurs = await takeTurn(database, { name, everyMs, now: clock() }).catch((error: unknown) => {
          if (!signal.aborted) complain('background work could not take its turn', { work: name, error })
          return false
        })
        if (isOurs) await once()
      }

      function tick(): void {
        if (!isUnderWay) void begin(where === 'each process' ? once : onceForAll)
      }

      const timer = setInterval(
        tick,
        where === 'each process' ? everyMs : Math.min(everyMs, LOOK_EVERY_MS),
      ).unref()
      if (atStart) tick()
      return {
        run: () => begin(once),
        async stop() {
          clearInterval(timer)
          stopping.abort()
          await last
        },
      }
    },
  }
}
