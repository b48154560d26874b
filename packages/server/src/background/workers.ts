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

/** Leaves everything it held at once to whoever else is there. */
export async function deleteWorker(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('workers').where('id', '=', id).execute()
}

export async function deleteWorkersSilentSince(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('workers').where('alive_until', '<', before).execute()
}
