import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Tx } from '../schema.ts'

/** Who holds leased work. One that is silent for too long has lost what it held. */
export interface WorkerTables {
  workers: { id: string; alive_until: number }
}

/** Tells all that a worker lives, until then at least. */
export async function keepAlive(tx: Tx, id: string, until: number): Promise<void> {
  await tx
    .insertInto('workers')
    .values({ id, alive_until: until })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ alive_until: until }))
    .execute()
}

/**
 * Whether what a row names in `column` is no worker that lives: others may take the row over. One that is said to live
 * for very long was put there by a clock that was wrong. A lease more than its own, because clocks never agree.
 */
export const isNoLivingWorker = (
  column: string,
  { now, leaseMs }: { now: number; leaseMs: number },
): RawBuilder<SqlBool> =>
  sql<SqlBool>`not exists (select 1 from workers where workers.id = ${sql.ref(column)}
    and alive_until > ${now} and alive_until <= ${now + 2 * leaseMs})`

/** Leaves everything it held at once to whoever else is there. */
export async function deleteWorker(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('workers').where('id', '=', id).execute()
}

/** Removes those that nobody can take for alive: silent for long, or put ahead by a clock that was wrong. */
export async function deleteForgotten(
  tx: Tx,
  { now, keptMs }: { now: number; keptMs: number },
): Promise<void> {
  await tx
    .deleteFrom('workers')
    .where((eb) => eb.or([eb('alive_until', '<', now - keptMs), eb('alive_until', '>', now + keptMs)]))
    .execute()
}
