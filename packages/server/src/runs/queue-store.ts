import { type Selectable, sql } from 'kysely'
import { isNoLivingWorker } from '../background/workers.ts'
import { prepared } from '../db/prepared.ts'
import type { Database, Db, Tx } from '../schema.ts'
import type { Lane } from './lanes.ts'
import type { RunRow } from './store.ts'

// SQL of what waits to be run, organization by organization and lane by lane, and of who runs it.

interface QueuesTable {
  org_id: string
  lane: Lane
  /** Nobody stands for the organization yet. */
  provisional: number
  /** Runs that somebody may take. */
  ready: number
  running: number
  /** Whose is the least goes first: `lanes.ts`. */
  turn_at: number
  /** What is kept of all its runs. */
  kept_bytes: number
}

export interface RunQueueTables {
  run_queues: QueuesTable
}

export type QueueRow = Selectable<QueuesTable>

interface QueueChange {
  orgId: string
  lane: Lane
  provisional?: number
  ready?: number
  running?: number
  /** What the places have cost that were given back. */
  cost?: number
  bytes?: number
}

const change = prepared((db: Db, by: Required<QueueChange>) =>
  db
    .insertInto('run_queues')
    .values({
      org_id: by.orgId,
      lane: by.lane,
      provisional: by.provisional,
      ready: by.ready,
      running: by.running,
      turn_at: by.cost,
      kept_bytes: by.bytes,
    })
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'lane']).doUpdateSet((eb) => ({
        ready: eb('run_queues.ready', '+', by.ready),
        running: eb('run_queues.running', '+', by.running),
        turn_at: eb('run_queues.turn_at', '+', by.cost),
        kept_bytes: eb('run_queues.kept_bytes', '+', by.bytes),
      })),
    )
    .returningAll()
    .returning((eb) =>
      eb
        .selectFrom('run_queues as others')
        .select(({ fn, lit }) =>
          fn.coalesce(fn.sum<number | string>('others.kept_bytes'), lit(0)).as('bytes'),
        )
        .where('others.org_id', '=', by.orgId)
        .where('others.lane', '!=', by.lane)
        .as('bytes_elsewhere'),
    ),
)

/**
 * Counts, and gives what there is then, and what is kept in all lanes. The row stays locked until the transaction ends,
 * so it comes after everything else that is locked: the run itself, and the counters of logs.
 */
export async function changeQueue(
  tx: Tx,
  { orgId, lane, provisional = 0, ready = 0, running = 0, cost = 0, bytes = 0 }: QueueChange,
): Promise<QueueRow & { keptInAll: number }> {
  const [row] = await change(tx, { orgId, lane, provisional, ready, running, cost, bytes })
  if (!row) throw new Error('a queue was changed and is not there')
  return { ...row, keptInAll: row.kept_bytes + Number(row.bytes_elsewhere) }
}

type Served = Pick<QueueRow, 'org_id' | 'lane' | 'turn_at' | 'provisional'>

const served = prepared((db: Db, { org_id, lane, turn_at, provisional }: Served) =>
  db
    .updateTable('run_queues')
    .set({ turn_at, provisional })
    .where('org_id', '=', org_id)
    .where('lane', '=', lane),
)

/** Where its turn counts from, and whether anybody stands for it by now. */
export async function markServed(tx: Tx, queue: Served): Promise<void> {
  await served(tx, queue)
}

const byLane = prepared((db: Db, { orgId, lane }: Pick<QueueChange, 'orgId' | 'lane'>) =>
  db
    .selectFrom('run_queues')
    .select(['ready', 'running'])
    .where('org_id', '=', orgId)
    .where('lane', '=', lane),
)

/** Undefined where nothing ever waited. */
export async function findQueue(
  q: Db,
  queue: Pick<QueueChange, 'orgId' | 'lane'>,
): Promise<Pick<QueueRow, 'ready' | 'running'> | undefined> {
  const [row] = await byLane(q, queue)
  return row
}

interface Waiting {
  lane: Lane
  /** How many of one organization may run at once. */
  perOrg: number
  limit: number
  provisionalToo: boolean
}

const waiting = (provisionalToo: boolean) =>
  prepared((db: Db, { lane, perOrg, limit }: Omit<Waiting, 'provisionalToo'>) => {
    const all = db
      .selectFrom('run_queues')
      .selectAll()
      .where('lane', '=', lane)
      .where('ready', '>', sql.lit(0))
      .where('running', '<', perOrg)
      .orderBy('running')
      .orderBy('turn_at')
      .limit(limit)
    return provisionalToo ? all : all.where('provisional', '=', 0)
  })

const waitingOfAll = waiting(true)
const waitingOfOthers = waiting(false)

/** Organizations with something to run: those that hold the fewest places first, and of these in the order of their turns. */
export const listWaiting = (q: Db, { provisionalToo, ...wanted }: Waiting): Promise<QueueRow[]> =>
  (provisionalToo ? waitingOfAll : waitingOfOthers)(q, wanted)

interface Take {
  orgId: string
  lane: Lane
  workerId: string
  now: number
  limit: number
}

const taking = (dialect: Database['dialect']) =>
  prepared((db: Db, { orgId, lane, workerId, now, limit }: Take) => {
    const oldest = db
      .selectFrom('runs')
      .select('id')
      .where('org_id', '=', orgId)
      .where('lane', '=', lane)
      .where('ready', '=', sql.lit(1))
      .orderBy('id')
      .limit(limit)
    return db
      .updateTable('runs')
      .set((eb) => ({
        status: 'running',
        ready: 0,
        worker_id: workerId,
        taken_at: now,
        started_at: eb.fn.coalesce('started_at', eb.val(now)),
      }))
      .where('id', 'in', dialect === 'postgres' ? oldest.forUpdate().skipLocked() : oldest)
      .returningAll()
  })

const take = { sqlite: taking('sqlite'), postgres: taking('postgres') }

/** Takes the oldest that wait in a queue. Somebody else may be taking them in this moment. */
export const takeReady = (tx: Tx, dialect: Database['dialect'], wanted: Take): Promise<RunRow[]> =>
  take[dialect](tx, wanted)

const token = prepared((db: Db, { id, tokenId }: { id: string; tokenId: string }) =>
  db.updateTable('runs').set({ token_id: tokenId }).where('id', '=', id),
)

export async function setToken(tx: Tx, id: string, tokenId: string): Promise<void> {
  await token(tx, { id, tokenId })
}

/** Whether something has waited there since before then, and nobody runs anything: there is nobody who could. */
export async function isStranded(q: Db, lane: Lane, before: number): Promise<boolean> {
  const oldest = await q
    .selectFrom('runs')
    .select('created_at')
    .where('status', '=', sql.lit('queued'))
    .where('lane', '=', lane)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  if (!oldest || oldest.created_at >= before) return false
  const running = await q
    .selectFrom('runs')
    .select('id')
    .where('status', '=', sql.lit('running'))
    .where('worker_id', 'is not', null)
    .where('lane', '=', lane)
    .limit(1)
    .executeTakeFirst()
  return running === undefined
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
    grownBy,
    ...asleep
  }: { id: string; workerId: string; due_at: number | null; log_bytes: number; grownBy: number },
): Promise<RunRow | undefined> =>
  tx
    .updateTable('runs')
    .set((eb) => ({ worker_id: null, bytes: eb('bytes', '+', grownBy), ...asleep }))
    .where('id', '=', id)
    .where('worker_id', '=', workerId)
    .where('status', '=', 'running')
    .returningAll()
    .executeTakeFirst()

/** Workflows whose time has come, or for which something has arrived. */
export async function listToWake(q: Db, now: number, limit: number): Promise<string[]> {
  const due = await q.selectFrom('runs').select('id').where('due_at', '<=', now).limit(limit).execute()
  // A cross join, because of which SQLite begins with the steps: of workflows that sleep there may be very many.
  const reached = await q
    .selectFrom('run_steps')
    .crossJoin('runs')
    .select('runs.id')
    .distinct()
    .where('run_steps.arrived', 'is not', null)
    .where('run_steps.state', '=', sql.lit('waiting'))
    .whereRef('runs.id', '=', 'run_steps.run_id')
    .where('runs.status', '=', 'running')
    .where('runs.worker_id', 'is', null)
    .where('runs.ready', '=', 0)
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

/** Of an organization that has nothing left to count there. */
export async function deleteIdleQueues(tx: Tx, orgId: string): Promise<void> {
  await tx
    .deleteFrom('run_queues')
    .where('org_id', '=', orgId)
    .where('ready', '=', 0)
    .where('running', '=', 0)
    .where('kept_bytes', '<=', 0)
    .execute()
}

const ofAllLanes = prepared((db: Db, { orgId }: { orgId: string }) =>
  db.selectFrom('run_queues').select(['ready', 'kept_bytes']).where('org_id', '=', orgId),
)

interface Unended {
  orgId: string
  upTo: number
}

const unended = prepared((db: Db, { orgId, upTo }: Unended) => {
  const some = db
    .selectFrom('runs')
    .select('actor_id')
    .where('org_id', '=', orgId)
    .where('ended_at', 'is', null)
    .limit(upTo)
  return db.selectFrom(some.as('some')).select(({ fn }) => fn.countAll<number | string>().as('count'))
})

/** How many have not ended; where there are more, so many as are asked for. */
export async function countUnended(q: Db, asked: Unended): Promise<number> {
  const [found] = await unended(q, asked)
  return Number(found?.count ?? 0)
}

/** In all lanes together: how many may be taken, and what is kept. */
export async function countInAll(q: Db, orgId: string): Promise<{ ready: number; keptBytes: number }> {
  const rows = await ofAllLanes(q, { orgId })
  return {
    ready: rows.reduce((sum, { ready }) => sum + ready, 0),
    keptBytes: rows.reduce((sum, { kept_bytes }) => sum + kept_bytes, 0),
  }
}
