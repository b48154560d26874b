import { type Expression, sql } from 'kysely'
import { prepared } from '../db/prepared.ts'
import { runScope } from '../events/types.ts'
import type { Database, Db, Tx } from '../schema.ts'
import type { RunRow } from './store.ts'

// SQL of runs that are to end.

interface AskedFor {
  orgId: string
  actorId: string
  limit: number
}

interface AskedToEnd {
  actorId: string
  /** Undefined for all in which the actor is a member. */
  orgId: string | undefined
  /** Undefined for whatever it was that they came with. */
  credentialIds: readonly string[] | undefined
  now: number
  limit: number
}

/**
 * Asks for the end of some of what an actor dispatched, and of what came of that by dispatching. Gives the organization
 * of each.
 */
export async function requestCancels(
  tx: Tx,
  dialect: Database['dialect'],
  { actorId, orgId, credentialIds, now, limit }: AskedToEnd,
): Promise<string[]> {
  let some = tx
    .selectFrom('runs')
    .select('id')
    .where('actor_id', '=', actorId)
    .where('ended_at', 'is', null)
    .where('trigger_kind', '=', 'dispatch')
    .where('cancel_requested_at', 'is', null)
    .orderBy('id')
    .limit(limit)
  some =
    orgId === undefined
      ? some.where('org_id', 'in', (eb) =>
          eb.selectFrom('members').select('org_id').where('user_id', '=', actorId),
        )
      : some.where('org_id', '=', orgId)
  if (credentialIds) some = some.where((eb) => eb(queuedWith(eb.ref('runs.id')), 'in', [...credentialIds]))
  const rows = await tx
    .updateTable('runs')
    .set({ cancel_requested_at: now })
    // In the order in which others lock several of them.
    .where('id', 'in', dialect === 'postgres' ? some.forUpdate() : some)
    .returning('org_id')
    .execute()
  return rows.map(({ org_id }) => org_id)
}

/** What somebody came with who asked for a run, or for the one it all began with: the first event of its log says it. */
const queuedWith = (runId: Expression<string>) =>
  sql<string | null>`(select credential_id from events where scope = 'run:' || ${runId} and seq = 1)`

export async function findCredentialOf(q: Db, runId: string): Promise<string | null> {
  const [found] = await credentialOf(q, { scope: runScope(runId) })
  return found?.credential_id ?? null
}

const credentialOf = prepared((db: Db, { scope }: { scope: string }) =>
  db.selectFrom('events').select('credential_id').where('scope', '=', scope).where('seq', '=', sql.lit(1)),
)

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

const goingOn = (db: Db, { id }: { id: string }) =>
  db
    .selectFrom('runs')
    .select('id')
    .where('id', '=', id)
    .where('status', '=', sql.lit('running'))
    .where('cancel_requested_at', 'is', null)

const goingOnNow = prepared(goingOn)

// What a step keeps is counted in the row beside this, and nobody waits for the other. Whoever has the row to ask for its
// end is not waited for either: they may wait for what this transaction has.
const goingOnKept = prepared((db: Db, run: { id: string }) => goingOn(db, run).forKeyShare().skipLocked())

/** Whether it runs and nobody wants it to end. */
export const isGoingOn = async (q: Db, id: string): Promise<boolean> =>
  (await goingOnNow(q, { id })).length > 0

/** The same, and nobody can want that before the transaction ends. */
export const keepGoingOn = async (tx: Tx, dialect: Database['dialect'], id: string): Promise<boolean> =>
  (await (dialect === 'postgres' ? goingOnKept : goingOnNow)(tx, { id })).length > 0

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
