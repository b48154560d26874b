import { periodic } from '../background/periodic.ts'
import type { Work } from '../background/work.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../schema.ts'
import { listAbandoned } from './queue-store.ts'
import type { RunRow } from './store.ts'

interface TakingOverDeps {
  db: Db
  clock: Clock
  leaseMs: number
  takeOver(run: RunRow): Promise<void>
}

const EVERY_MS = 1_000
const AT_ONCE = 100

/**
 * Settles what processes left behind that are no more. Beside the queue, because a process that has its hands full takes
 * nothing out of that, and this is to be done all the same.
 */
export const takeOverAbandoned = ({ db, clock, leaseMs, takeOver }: TakingOverDeps): Work =>
  periodic({
    name: 'abandoned runs',
    everyMs: EVERY_MS,
    where: 'each process',
    atStart: true,
    async run(signal) {
      const failures: unknown[] = []
      for (const run of await listAbandoned(db, { now: clock(), leaseMs, limit: AT_ONCE })) {
        if (signal.aborted) return
        // One that cannot be settled must not keep the others.
        await takeOver(run).catch((error: unknown) => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
    },
  })
