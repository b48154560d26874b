import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import * as lines from './line-store.ts'
import { latestAttempts } from './schedule.ts'

/** The clocks of several machines never agree. */
const DISAGREEMENT_MS = 60_000

/**
 * Has deliveries go on when the clock has been set back: what was put into lines before would wait until the clock is
 * there again.
 */
export async function redateDeliveries({
  database,
  clock,
  retryMs,
  wake,
}: {
  database: Database
  clock: Clock
  retryMs: readonly number[]
  /** Something is due. */
  wake(): void
}): Promise<void> {
  const now = clock()
  const latestMs = latestAttempts(retryMs).map((ms) => ms + DISAGREEMENT_MS)
  for (const { webhook_id } of await lines.listWaiting(database.db, now)) {
    const next = await lines.findNext(database.db, webhook_id)
    // All that is behind it in line comes up when it is gone.
    if (next && (next.due_at ?? 0) <= now + (latestMs[next.attempt] ?? 0)) continue
    await database.transact((tx) => lines.redate(tx, webhook_id, { now, latestMs }))
    wake()
  }
}
