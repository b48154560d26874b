import type { Tx } from '../schema.ts'
import * as lines from './line-store.ts'
import * as store from './store.ts'

/** Ends all that waits for webhooks. After the events of the transaction: whoever appends any locks in that order. */
export async function dropIn(tx: Tx, ids: readonly string[], reason?: string): Promise<void> {
  if (ids.length === 0) return
  const dropped = await store.dropPending(tx, ids, reason)
  await lines.stopLines(tx, ids)
  for (const [id, bytes] of dropped) await lines.subtractPending(tx, id, bytes)
}
