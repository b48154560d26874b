import { setImmediate } from 'node:timers/promises'
import type { Database, Tx } from '../schema.ts'

/** Deletes up to `limit` rows that belong to a repository, and gives how many there were. */
export type RemoveSome = (tx: Tx, repoId: string, limit: number) => Promise<number>

/** Short transactions: writers are waiting. */
const BATCH = 500

/** Removes all that a deleted repository leaves behind, a little at a time. */
export async function removeRemains(
  database: Database,
  remains: readonly RemoveSome[],
  repoId: string,
): Promise<void> {
  for (const removeSome of remains)
    for (let more = true; more; ) {
      more = (await database.transact((tx) => removeSome(tx, repoId, BATCH))) >= BATCH
      // SQLite answers at once: without this nothing else would get its turn.
      await setImmediate()
    }
}
