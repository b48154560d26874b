import type { Database, Tx } from '../schema.ts'
import type { Clock } from './clock.ts'
import { Fault } from './fault.ts'

export interface ThrottleTables {
  throttles: { key: string; count: number; resets_at: number }
}

/** At most `count` times in `windowMs`, counted from the first. */
export interface Throttle {
  count: number
  windowMs: number
}

/** Longer than any transaction; then the row is swept. */
const LOCK_KEPT_MS = 60 * 60 * 1000

export type Throttles = ReturnType<typeof createThrottles>

/** Counts in the database, for what must hold across restarts and processes. */
export function createThrottles({ database, clock }: { database: Database; clock: Clock }) {
  return {
    /** Counts one try and commits that, whatever becomes of it. Throws TOO_MANY_REQUESTS past the limit. */
    async take(key: string, { count, windowMs }: Throttle): Promise<void> {
      const now = clock()
      const windowEnds = now + windowMs
      const row = await database.transact((tx) =>
        tx
          .insertInto('throttles')
          .values({ key, count: 1, resets_at: windowEnds })
          .onConflict((conflict) =>
            conflict.column('key').doUpdateSet((eb) => ({
              count: eb
                .case()
                .when('throttles.resets_at', '<=', now)
                .then(1)
                .else(eb('throttles.count', '+', eb.lit(1)))
                .end(),
              // Further ahead than a window it was put by a clock that has been set back since.
              resets_at: eb
                .case()
                .when('throttles.resets_at', '<=', now)
                .then(windowEnds)
                .when('throttles.resets_at', '>', windowEnds)
                .then(windowEnds)
                .else(eb.ref('throttles.resets_at'))
                .end(),
            })),
          )
          .returning(['count', 'resets_at'])
          .executeTakeFirstOrThrow(),
      )
      if (row.count > count) throw new Fault('TOO_MANY_REQUESTS', { retryAfterMs: row.resets_at - now })
    },

    /** Keeps everybody else who comes with this key waiting until the transaction ends, in all processes. */
    async lockIn(tx: Tx, key: string): Promise<void> {
      const resets_at = clock() + LOCK_KEPT_MS
      await tx
        .insertInto('throttles')
        .values({ key, count: 0, resets_at })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ resets_at }))
        .execute()
    },

    async sweep(): Promise<void> {
      await database.transact((tx) => tx.deleteFrom('throttles').where('resets_at', '<=', clock()).execute())
    },
  }
}
