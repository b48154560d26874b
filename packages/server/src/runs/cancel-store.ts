import type { Database, Db, Tx } from '../schema.ts'
import type { RunRow } from './store.ts'

// SQL of runs that are to end.

interface AskedFor {
  orgId: string
  actorId: string
  limit: number
}

/** Asks for the end of some of what an actor dispatched, and of what came of that by dispatching. Gives how many. */
export async function requestCancels(
  tx: Tx,
  dialect: Database['dialect'],
  { orgId, actorId, now, limit }: AskedFor & { now: number },
): Promise<number> {
  const some = tx
    .selectFrom('runs')
    .select('id')
    .where('org_id', '=', orgId)
    .where('actor_id', '=', actorId)
    .where('ended_at', 'is', null)
    .where('trigger_kind', '=', 'dispatch')
    .where('cancel_requested_at', 'is', null)
    .orderBy('id')
    .limit(limit)
  const { numUpdatedRows } = await tx
    .updateTable('runs')
    .set({ cancel_requested_at: now })
    // In the order in which others lock several of them.
    .where('id', 'in', dialect === 'postgres' ? some.forUpdate() : some)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Of those, some that nobody runs. */
export async function listMarkedOf(
  q: Db,
  { orgId, actorId, after, limit }: AskedFor & { after: string },
): Promise<string[]> {
  const rows = await q
    .selectFrom('runs')
    .select('id')
    .where('org_id', '=', orgId)
    .where('actor_id', '=', actorId)
    .where('ended_at', 'is', null)
    .where('cancel_requested_at', 'is not', null)
    .where('worker_id', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** Undefined when it is not waiting any more. */
export const cancelQueued = (tx: Tx, id: string, now: number): Promise<RunRow | undefined> =>
  tx
    .updateTable('runs')
    .set({ status: 'cancelled', ended_at: now, ready: 0 })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .returningAll()
    .executeTakeFirst()

/** A workflow that sleeps, or is to go on and has not been taken yet. Undefined when it is none. */
export const cancelSleeping = (
  tx: Tx,
  { id, now, ready }: { id: string; now: number; ready: 0 | 1 },
): Promise<RunRow | undefined> =>
  tx
    .updateTable('runs')
    .set({ status: 'cancelled', ended_at: now, due_at: null, ready: 0 })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('ready', '=', ready)
    .where('worker_id', 'is', null)
    .returningAll()
    .executeTakeFirst()

export const requestCancel = (tx: Tx, id: string, now: number): Promise<RunRow | undefined> =>
  tx
    .updateTable('runs')
    .set({ cancel_requested_at: now })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .returningAll()
    .executeTakeFirst()
