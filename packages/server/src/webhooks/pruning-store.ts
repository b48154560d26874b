import { sql } from 'kysely'
import type { Db, Tx } from '../schema.ts'

// SQL of taking away what has been delivered, or never will be.

/** Removes deliveries that ended and are older than `before`. Ids begin with the time, so they are found by id. */
export async function deleteEnded(
  tx: Tx,
  { beforeId, before, limit }: { beforeId: string; before: number; limit: number },
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook_deliveries')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('id', '<', beforeId)
        .where('created_at', '<', before)
        .where('status', '!=', 'pending')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Removes bodies that no delivery has any more. */
export async function deleteUnusedMessages(
  tx: Tx,
  { beforeId, limit }: { beforeId: string; limit: number },
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook_messages')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_messages')
        .select('id')
        .where('id', '<', beforeId)
        .where((outer) =>
          outer.not(
            outer.exists(
              outer
                .selectFrom('webhook_deliveries')
                .select('webhook_deliveries.id')
                .whereRef('webhook_deliveries.message_id', '=', 'webhook_messages.id'),
            ),
          ),
        )
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** A webhook out of sight for which everything has been said. */
export const findFinished = (q: Db): Promise<{ id: string } | undefined> =>
  q
    .selectFrom('webhooks')
    .select('id')
    .where('removed_at', 'is not', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhook_deliveries')
            .select('webhook_deliveries.id')
            .whereRef('webhook_deliveries.webhook_id', '=', 'webhooks.id')
            .where('status', '=', sql.lit('pending')),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst()

export async function deleteSomeDeliveries(tx: Tx, webhookId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook_deliveries')
    .where('id', 'in', (eb) =>
      eb.selectFrom('webhook_deliveries').select('id').where('webhook_id', '=', webhookId).limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
