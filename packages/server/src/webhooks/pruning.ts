import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import * as lines from './line-store.ts'

/** Short transactions: writers are waiting. */
const BATCH = 500

/** Removes deliveries that ended long ago, and what is left of webhooks whose repository is gone. */
export async function pruneDeliveries(
  { database, clock, retentionMs }: { database: Database; clock: Clock; retentionMs: number },
  signal: AbortSignal,
): Promise<void> {
  const before = clock() - retentionMs
  const beforeId = earliestIdAt(before)

  async function inBatches(remove: () => Promise<number>): Promise<void> {
    for (let more = true; more && !signal.aborted; ) {
      more = (await remove()) === BATCH
      // SQLite answers at once: without this nothing else would get its turn.
      await setImmediate()
    }
  }

  await database.transact((tx) => lines.deleteRemoved(tx))
  await inBatches(() => database.transact((tx) => lines.deleteEnded(tx, { beforeId, before, limit: BATCH })))
  await inBatches(() => database.transact((tx) => lines.deleteUnusedMessages(tx, { beforeId, limit: BATCH })))
}

/** A UUIDv7 begins with its time: below this one are all that were made before. */
function earliestIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`
}
