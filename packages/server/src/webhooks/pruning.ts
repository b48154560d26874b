import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../schema.ts'
import * as lines from './line-store.ts'

const PRUNE_EVERY_MS = 60 * 60_000
/** Short transactions: writers are waiting. */
const BATCH = 500
/** Long after nobody can be taken for alive any more. */
const SENDERS_KEPT_MS = 60 * 60_000

/** Removes deliveries that ended long ago, and what is left of webhooks whose repository is gone. */
export function createPruning({
  database,
  clock,
  log,
  retentionMs,
}: {
  database: Database
  clock: Clock
  log: Log
  retentionMs: number
}) {
  let stopped = false
  let work: Promise<void> = Promise.resolve()

  async function inBatches(remove: () => Promise<number>): Promise<void> {
    for (let more = true; more && !stopped; ) {
      more = (await remove()) === BATCH
      // SQLite answers at once: without this nothing else would get its turn.
      await setImmediate()
    }
  }

  async function prune(): Promise<void> {
    const before = clock() - retentionMs
    const beforeId = earliestIdAt(before)
    await database.transact((tx) => lines.deleteRemoved(tx))
    await inBatches(() =>
      database.transact((tx) => lines.deleteEnded(tx, { beforeId, before, limit: BATCH })),
    )
    await inBatches(() =>
      database.transact((tx) => lines.deleteUnusedMessages(tx, { beforeId, limit: BATCH })),
    )
    await database.transact((tx) => lines.deleteSendersSilentSince(tx, clock() - SENDERS_KEPT_MS))
  }

  function run(): Promise<void> {
    work = work.then(prune).catch((error: unknown) => {
      if (!stopped) log.error('pruning of webhook deliveries failed', { error })
    })
    return work
  }

  const timer = setInterval(() => void run(), PRUNE_EVERY_MS).unref()
  void run()

  return {
    run,
    async stop(): Promise<void> {
      stopped = true
      clearInterval(timer)
      await work
    },
  }
}

/** A UUIDv7 begins with its time: below this one are all that were made before. */
function earliestIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`
}
