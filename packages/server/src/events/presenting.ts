import type { Cause, NumberedEvent } from '@trellis/contract'
import type { EventRow } from './store.ts'

/** What an event takes beside its payload. */
export const ROW_BYTES = 1_024

/** An event as it was written, as everybody sees it. */
export const present = (row: EventRow): NumberedEvent =>
  numbered(
    row,
    row.payload === null ? undefined : JSON.parse(row.payload),
    row.cause && JSON.parse(row.cause),
  )

export const numbered = (
  row: EventRow,
  payload: unknown,
  cause: Cause | null | undefined,
): NumberedEvent => ({
  id: row.id,
  seq: row.seq,
  ts: row.ts,
  scope: row.scope,
  type: row.type,
  actor: { kind: row.actor_kind, id: row.actor_id },
  credentialId: row.credential_id,
  ...(row.subject !== null && { subject: row.subject }),
  ...(payload !== undefined && { payload }),
  ...(cause && { cause }),
})
