import { type Selectable, sql } from 'kysely'
import { isNoLivingWorker } from '../background/workers.ts'
import { prepared } from '../db/prepared.ts'
import type { Database, Db, Tx } from '../schema.ts'
import type { RunRow } from './store.ts'

// SQL of what waits to be run, organization by organization, and of who runs it.

interface QueuesTable {
  org_id: string
  /** Nobody stands for the organization yet. */
  provisional: number
  /** Runs that somebody may take. */
  ready: number
  running: number
  /** When it last had something taken out of its queue. */
  served_at: number
  /** What is kept of all its runs. */
  kept_bytes: number
}

export interface RunQueueTables {
  run_queues: QueuesTable
}

export type QueueRow = Selectable<QueuesTable>

interface QueueChange {
  orgId: string
  provisional?: number
  ready?: number
  running?: number
  bytes?: number
}

const change = prepared(
  (db: Db, by: { orgId: string; provisional: number; ready: number; running: number; bytes: number }) =>
    db
      .insertInto('run_queues')
      .values({
        org_id: by.orgId,
        provisional: by.provisional,
        ready: by.ready,
        running: by.running,
        served_at: 0,
        kept_bytes: by.bytes,
      })
      .onConflict((conflict) =>
        conflict.column('org_id').doUpdateSet((eb) => ({
          ready: eb('run_queues.ready', '+', by.ready),
          running: eb('run_queues.running', '+', by.running),
          kept_bytes: eb('run_queues.kept_bytes', '+', by.bytes),
        })),
      )
      .returningAll(),
)

/**
 * Counts, and gives what there is then. The row stays locked until the transaction ends, so it comes after everything
 * else that is locked: the run itself, and the counters of logs.
 */
export async function changeQueue(
  tx: Tx,
  { orgId, provisional = 0, ready = 0, running = 0, bytes = 0 }: QueueChange,
): Promise<QueueRow> {
  const [row] = await change(tx, { orgId, provisional, ready, running, bytes })
  if (!row) throw new Error('a queue was changed and is not there')
  return row
}

export async function markServed(tx: Tx, orgId: string, now: number, provisional: number): Promise<void> {
  await tx
    .updateTable('run_queues')
    .set({ served_at: now, provisional })
    .where('org_id', '=', orgId)
    .execute()
}

interface Waiting {
  /** How many of one organization may run at once. */
  perOrg: number
  limit: number
  provisionalToo: boolean
}

/** Organizations with something to run, the least lately served first. */
export function listWaiting(q: Db, { perOrg, limit, provisionalToo }: Waiting): Promise<QueueRow[]> {
  let query = q
    .selectFrom('run_queues')
    .selectAll()
    .where('ready', '>', sql.lit(0))
    .where('running', '<', perOrg)
    .orderBy('served_at')
    .limit(limit)
  if (!provisionalToo) query = query.where('provisional', '=', 0)
  return query.execute()
}

/** Takes the oldest that wait in an organization. Somebody else may be taking them in this moment. */
export async function takeReady(
  tx: Tx,
  dialect: Database['dialect'],
  { orgId, workerId, now, limit }: { orgId: string; workerId: string; now: number; limit: number },
): Promise<RunRow[]> {
  const oldest = tx
    .selectFrom('runs')
    .select('id')
    .where('org_id', '=', orgId)
    .where('ready', '=', sql.lit(1))
    .orderBy('id')
    .limit(limit)
  return tx
    .updateTable('runs')
    .set((eb) => ({
      status: 'running',
      ready: 0,
      worker_id: workerId,
      started_at: eb.fn.coalesce('started_at', eb.val(now)),
    }))
    .where('id', 'in', dialect === 'postgres' ? oldest.forUpdate().skipLocked() : oldest)
    .returningAll()
    .execute()
}

export async function setToken(tx: Tx, id: string, tokenId: string): Promise<void> {
  await tx.updateTable('runs').set({ token_id: tokenId }).where('id', '=', id).execute()
}

/** Runs in the hands of a worker that does not say that it lives. */
export function listAbandoned(
  q: Db,
  { now, leaseMs, limit }: { now: number; leaseMs: number; limit: number },
): Promise<RunRow[]> {
  return q
    .selectFrom('runs')
    .selectAll()
    .where('status', '=', sql.lit('running'))
    .where('worker_id', 'is not', null)
    .where(isNoLivingWorker('runs.worker_id', { now, leaseMs }))
    .limit(limit)
    .execute()
}

/** Puts a workflow to sleep until then, or until something arrives. Undefined when it is in other hands. */
export const putToSleep = (
  tx: Tx,
  {
    id,
    workerId,
    ...asleep
  }: { id: string; workerId: string; due_at: number | null; log_bytes: number; bytes: number },
): Promise<RunRow | undefined> =>
  tx
    .updateTable('runs')
    .set({ worker_id: null, ...asleep })
    .where('id', '=', id)
    .where('worker_id', '=', workerId)
    .where('status', '=', 'running')
    .returningAll()
    .executeTakeFirst()

/** Workflows whose time has come, or for which something has arrived. */
export async function listToWake(q: Db, now: number, limit: number): Promise<string[]> {
  const due = await q.selectFrom('runs').select('id').where('due_at', '<=', now).limit(limit).execute()
  const reached = await q
    .selectFrom('runs')
    .select('id')
    .where('status', '=', sql.lit('running'))
    .where('worker_id', 'is', null)
    .where('ready', '=', 0)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('run_steps')
        .select('run_id')
        .where('arrived', 'is not', null)
        .where('state', '=', sql.lit('waiting')),
    )
    .limit(limit)
    .execute()
  return [...new Set([...due, ...reached].map(({ id }) => id))]
}

/** Undefined when somebody else has, or it has ended. */
export const wakeUp = (tx: Tx, id: string): Promise<RunRow | undefined> =>
  tx
    .updateTable('runs')
    .set({ ready: 1, due_at: null })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('worker_id', 'is', null)
    .where('ready', '=', 0)
    .returningAll()
    .executeTakeFirst()

/** Organizations that keep more than they may. */
export const listOverfull = (q: Db, maxBytes: number, limit: number): Promise<QueueRow[]> =>
  q.selectFrom('run_queues').selectAll().where('kept_bytes', '>', maxBytes).limit(limit).execute()

/** Of an organization that has nothing left to count. */
export async function deleteIdleQueue(tx: Tx, orgId: string): Promise<void> {
  await tx
    .deleteFrom('run_queues')
    .where('org_id', '=', orgId)
    .where('ready', '=', 0)
    .where('running', '=', 0)
    .where('kept_bytes', '<=', 0)
    .execute()
}

export async function countReady(q: Db, orgId: string): Promise<number> {
  const row = await q.selectFrom('run_queues').select('ready').where('org_id', '=', orgId).executeTakeFirst()
  return row?.ready ?? 0
}
