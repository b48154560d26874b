import { setImmediate } from 'node:timers/promises'
import { periodic } from '../background/periodic.ts'
import type { Work } from '../background/work.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import * as store from './store.ts'

const EVERY_MS = 10 * 60_000
/** Short transactions: writers are waiting. */
const BATCH = 500

/** Removes what better-auth leaves behind: sessions that are over, and sign-ins that were begun and not completed. */
export const sweepSignIns = ({ database, clock }: { database: Database; clock: Clock }): Work =>
  periodic({
    name: 'ended sign-ins',
    everyMs: EVERY_MS,
    where: 'one process',
    deletesByClock: true,
    async run(signal) {
      const ended = new Date(clock())
      for (const table of ['verifications', 'sessions'] as const)
        for (let more = true; more && !signal.aborted; ) {
          more = (await database.transact((tx) => store.deleteEnded(tx, table, ended, BATCH))) === BATCH
          // SQLite answers at once: without this nothing else would get its turn.
          await setImmediate()
        }
    },
  })
