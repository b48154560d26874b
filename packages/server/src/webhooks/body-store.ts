import { sql } from 'kysely'
import type { Tx } from '../schema.ts'
import { subtractPending } from './line-store.ts'
import type { MessageRow } from './store.ts'

// SQL of bodies that modules make.

/** From now on every attempt sends this body. False when the delivery is not pending any more. */
export async function keepBody(
  tx: Tx,
  { id, bytes: bytesBefore }: { id: string; bytes: number },
  { message, bytes }: { message: MessageRow; bytes: number },
): Promise<boolean> {
  const kept = await tx
    .updateTable('webhook_deliveries')
    .set({ message_id: message.id, made: 1, bytes })
    .where('id', '=', id)
    .where('status', '=', sql.lit('pending'))
    .where('made', '=', 0)
    .returning('webhook_id')
    .executeTakeFirst()
  if (!kept) return false
  await tx.insertInto('webhook_messages').values(message).execute()
  await subtractPending(tx, kept.webhook_id, bytesBefore - bytes)
  return true
}

/** Ends a delivery that there is no body for, before its first attempt. */
export async function dropUnmade(tx: Tx, id: string, reason: string): Promise<void> {
  const dropped = await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'dropped', due_at: null, response_body: reason, error: reason })
    .where('id', '=', id)
    .where('status', '=', sql.lit('pending'))
    .returning(['webhook_id', 'bytes'])
    .executeTakeFirst()
  if (dropped) await subtractPending(tx, dropped.webhook_id, dropped.bytes)
}

/** Gives a line back in which a body is to be made, and nobody can do it for a while. */
export async function pauseLine(
  tx: Tx,
  { webhookId, workerId, until }: { webhookId: string; workerId: string; until: number },
): Promise<void> {
  await tx
    .updateTable('webhook_lines')
    .set({ worker_id: null, next_due_at: until })
    .where('webhook_id', '=', webhookId)
    .where('worker_id', '=', workerId)
    .execute()
}
