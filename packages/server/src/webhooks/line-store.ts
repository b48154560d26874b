import { sql, type Updateable } from 'kysely'
import { isNoLivingWorker } from '../background/workers.ts'
import { prepared, preparedChange, preparedInsert } from '../db/prepared.ts'
import { createPausesInTransaction } from '../platform/pauses.ts'
import type { Database, Db, Schema, Tx } from '../schema.ts'
import type { DeliveryRow, LineRow, WebhookTables } from './store.ts'

// SQL of what waits to be delivered, and of who delivers it.

export type NewDelivery = Pick<
  DeliveryRow,
  | 'id'
  | 'webhook_id'
  | 'webhook_name'
  | 'repo_id'
  | 'message_id'
  | 'made'
  | 'bytes'
  | 'event_type'
  | 'subject'
  | 'seq'
  | 'created_at'
>

export const insertMessages = preparedInsert<Schema, 'webhook_messages'>('webhook_messages')

const insertDeliveries = preparedInsert<Schema, 'webhook_deliveries'>('webhook_deliveries')

/** What every delivery takes beside its body. */
const ROW_BYTES = 512

export const bytesOfDelivery = (body: string): number => ROW_BYTES + body.length

const wakeLines = prepared(
  (db: Db, { messageId, bytes, now }: { messageId: string; bytes: number; now: number }) =>
    db
      .updateTable('webhook_lines')
      .set((eb) => ({
        wakes: eb('wakes', '+', eb.lit(1)),
        pending_bytes: eb('pending_bytes', '+', bytes),
        next_due_at: eb.case().when('next_due_at', '<', now).then(eb.ref('next_due_at')).else(now).end(),
      }))
      .where('webhook_id', 'in', (eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select('webhook_id')
          .where('message_id', '=', messageId)
          .where('status', '=', sql.lit('pending'))
          .where('due_at', '=', now),
      ),
)

/** Puts deliveries into their lines, due at once. */
export async function enqueue(tx: Tx, deliveries: readonly NewDelivery[], now: number): Promise<void> {
  await insertDeliveries(
    tx,
    deliveries.map((delivery) => ({ ...delivery, status: 'pending', attempt: 0, due_at: now })),
  )
  const messages = new Map(deliveries.map(({ message_id, bytes }) => [message_id, bytes]))
  const pause = createPausesInTransaction()
  for (const [messageId, bytes] of messages) {
    await wakeLines(tx, { messageId, bytes, now })
    await pause()
  }
}

/** Notes what is not delivered, and why. */
export async function insertDropped(
  tx: Tx,
  deliveries: readonly NewDelivery[],
  error: string,
): Promise<void> {
  await insertDeliveries(
    tx,
    deliveries.map((delivery) => ({
      ...delivery,
      status: 'dropped',
      attempt: 0,
      due_at: null,
      error,
    })),
  )
}

interface Claim {
  workerId: string
  now: number
  /** How long a worker may be silent; the same in every process. */
  leaseMs: number
  limit: number
  /** Receivers that have enough to do already. */
  without: readonly string[]
  /** Lines that failed last time, too. */
  failingToo: boolean
}

/** Due, and in nobody's hands. */
function claimable(db: Db, { now, leaseMs, limit, without, failingToo }: Claim) {
  let query = db
    .selectFrom('webhook_lines')
    .select('webhook_id')
    .where('next_due_at', '<=', now)
    .where((eb) =>
      eb.or([eb('worker_id', 'is', null), isNoLivingWorker('webhook_lines.worker_id', { now, leaseMs })]),
    )
    .orderBy('next_due_at')
    .limit(limit)
  if (without.length > 0) query = query.where('origin', 'not in', without)
  if (!failingToo) query = query.where('failing_since', 'is', null)
  return query
}

/** Takes lines to work at. First a look, which costs nothing: most of the time there is nothing to take. */
export async function claimLines(database: Database, claim: Claim): Promise<LineRow[]> {
  const [found] = await claimable(database.db, { ...claim, limit: 1 }).execute()
  if (!found) return []
  return database.transact((tx) => {
    const free = claimable(tx, claim)
    return tx
      .updateTable('webhook_lines')
      .set({ worker_id: claim.workerId })
      .where(
        'webhook_id',
        'in',
        // Somebody else may be taking them in this moment.
        database.dialect === 'postgres' ? free.forUpdate().skipLocked() : free,
      )
      .returningAll()
      .execute()
  })
}

const lineOf = prepared((db: Db, { webhookId, workerId }: { webhookId: string; workerId: string }) =>
  db
    .selectFrom('webhook_lines')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('worker_id', '=', workerId),
)

/** Undefined when it is no longer in this worker's hands. */
export async function findHeldLine(
  q: Db,
  held: { webhookId: string; workerId: string },
): Promise<LineRow | undefined> {
  const [line] = await lineOf(q, held)
  return line
}

/** Gives a line back. False when something came into it since `wakes` was read, or it is in other hands. */
export async function releaseLine(
  tx: Tx,
  line: { webhook_id: string; wakes: number },
  workerId: string,
  nextDueAt: number | null,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook_lines')
    // Whatever was counted wrong is right again when nothing is left.
    .set({ worker_id: null, next_due_at: nextDueAt, ...(nextDueAt === null && { pending_bytes: 0 }) })
    .where('webhook_id', '=', line.webhook_id)
    .where('worker_id', '=', workerId)
    .where('wakes', '=', line.wakes)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives back lines that were not worked at. */
export async function returnLines(tx: Tx, webhookIds: readonly string[], workerId: string): Promise<void> {
  await tx
    .updateTable('webhook_lines')
    .set({ worker_id: null })
    .where('webhook_id', 'in', webhookIds)
    .where('worker_id', '=', workerId)
    .execute()
}

export async function updateLine(
  tx: Tx,
  webhookId: string,
  changes: Updateable<WebhookTables['webhook_lines']>,
): Promise<void> {
  await tx.updateTable('webhook_lines').set(changes).where('webhook_id', '=', webhookId).execute()
}

/** Nothing is due in them. */
export async function stopLines(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  await tx
    .updateTable('webhook_lines')
    .set({ next_due_at: null })
    .where('webhook_id', 'in', [...webhookIds])
    .execute()
}

export interface DueDelivery {
  id: string
  event_type: string
  attempt: number
  bytes: number
  /** 0 when `body` is the event, and a module is yet to make the body of it. */
  made: number
  body: string
}

/** What is due, in the order it has to go out. */
export const listDue = prepared(
  (db: Db, { webhookId, now, limit }: { webhookId: string; now: number; limit: number }) =>
    db
      .selectFrom('webhook_deliveries')
      .innerJoin('webhook_messages', 'webhook_messages.id', 'webhook_deliveries.message_id')
      .select(['webhook_deliveries.id', 'event_type', 'attempt', 'bytes', 'made', 'body'])
      .where('webhook_id', '=', webhookId)
      .where('status', '=', sql.lit('pending'))
      .where('due_at', '<=', now)
      .orderBy('due_at')
      .orderBy('seq')
      .limit(limit),
)

export function findNext(
  q: Db,
  webhookId: string,
): Promise<{ due_at: number | null; attempt: number } | undefined> {
  return q
    .selectFrom('webhook_deliveries')
    .select(['due_at', 'attempt'])
    .where('webhook_id', '=', webhookId)
    .where('status', '=', sql.lit('pending'))
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst()
}

/** Lines of which the next delivery is not due yet. */
export const listWaiting = (db: Db, now: number) =>
  db.selectFrom('webhook_lines').select('webhook_id').where('next_due_at', '>', now).execute()

interface Redating {
  now: number
  /** How far ahead an attempt may be due at the most, after as many that failed; the first is for new deliveries. */
  latestMs: readonly number[]
}

/** Makes due now, in its order, what is due later than it can have been put but by a clock that was wrong. */
export async function redate(tx: Tx, webhookId: string, { now, latestMs }: Redating): Promise<void> {
  for (const [attempt, ms] of latestMs.entries())
    await tx
      .updateTable('webhook_deliveries')
      .set({ due_at: now })
      .where('webhook_id', '=', webhookId)
      .where('status', '=', sql.lit('pending'))
      .where('due_at', '>', now + ms)
      .where('attempt', '=', attempt)
      .execute()
  await tx
    .updateTable('webhook_lines')
    .set((eb) => ({ wakes: eb('wakes', '+', eb.lit(1)), next_due_at: now }))
    .where('webhook_id', '=', webhookId)
    .execute()
}

export interface Outcome {
  id: string
  status: DeliveryRow['status']
  dueAt: number | null
  responseStatus: number | null
  responseBody: string | null
  error: string | null
  durationMs: number
  deliveredAt: number | null
}

/** Gives how many it changed: one, or none when it is not pending any more: it may have been dropped meanwhile. */
export const recordOutcome = preparedChange((tx: Db, outcome: Outcome) =>
  tx
    .updateTable('webhook_deliveries')
    .set((eb) => ({
      attempt: eb('attempt', '+', eb.lit(1)),
      status: outcome.status,
      due_at: outcome.dueAt,
      response_status: outcome.responseStatus,
      response_body: outcome.responseBody,
      error: outcome.error,
      duration_ms: outcome.durationMs,
      delivered_at: outcome.deliveredAt,
    }))
    .where('id', '=', outcome.id)
    .where('status', '=', sql.lit('pending')),
)

const subtractBytes = preparedChange((tx: Db, { webhookId, bytes }: { webhookId: string; bytes: number }) =>
  tx
    .updateTable('webhook_lines')
    .set((eb) => ({ pending_bytes: eb('pending_bytes', '-', bytes) }))
    .where('webhook_id', '=', webhookId),
)

/** Takes what has ended out of what waits in a line. */
export async function subtractPending(tx: Tx, webhookId: string, bytes: number): Promise<void> {
  await subtractBytes(tx, { webhookId, bytes })
}

export async function measureBacklog(q: Db): Promise<{ pending: number; oldest: number | null }> {
  const row = await q
    .selectFrom('webhook_deliveries')
    .select((eb) => [eb.fn.countAll<number>().as('pending'), eb.fn.min('created_at').as('oldest')])
    .where('status', '=', sql.lit('pending'))
    .executeTakeFirstOrThrow()
  return { pending: Number(row.pending), oldest: row.oldest }
}
