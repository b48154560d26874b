import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../schema.ts'
import * as remains from './pruning-store.ts'
import * as store from './store.ts'

/** Short transactions: writers are waiting. */
const BATCH = 500

/** Removes deliveries that ended long ago, and what is left of webhooks whose repository is gone. */
export async function pruneDeliveries(
  { database, clock, retentionMs }: { database: Database; clock: Clock; retentionMs: number },
  signal: AbortSignal,
): Promise<void> {
  const before = clock() - retentionMs
  const beforeId = earliestIdAt(before)

  for (;;) {
    const finished = signal.aborted ? undefined : await remains.findFinished(database.db)
    if (!finished) break
    await removeWebhook(database, finished.id, signal)
  }
  const inBatches = (remove: (tx: Tx) => Promise<number>) => removeInBatches(database, remove, signal)
  await inBatches((tx) => remains.deleteEnded(tx, { beforeId, before, limit: BATCH }))
  await inBatches((tx) => remains.deleteUnusedMessages(tx, { beforeId, limit: BATCH }))
}

/** Removes a webhook that is out of sight already, after all of its deliveries. */
export async function removeWebhook(database: Database, id: string, signal?: AbortSignal): Promise<void> {
  await removeInBatches(database, (tx) => remains.deleteSomeDeliveries(tx, id, BATCH), signal)
  if (!signal?.aborted) await database.transact((tx) => store.deleteWebhook(tx, id))
}

async function removeInBatches(
  database: Database,
  remove: (tx: Tx) => Promise<number>,
  signal?: AbortSignal,
): Promise<void> {
  for (let more = true; more && !signal?.aborted; ) {
    more = (await database.transact(remove)) === BATCH
    // SQLite answers at once: without this nothing else would get its turn.
    await setImmediate()
  }
}

/** A UUIDv7 begins with its time: below this one are all that were made before. */
function earliestIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`
}
