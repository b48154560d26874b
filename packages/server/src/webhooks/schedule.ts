import { createHash } from 'node:crypto'

/** A receiver that has failed for this long is given up. */
export const GIVE_UP_AFTER_MS = 5 * 24 * 60 * 60 * 1000

/** How far from its place in the schedule (`TRELLIS_WEBHOOK_RETRY_SECONDS`) an attempt may be, as a part of the delay. */
const JITTER = 0.1

/** How far ahead the next attempt is at the most, after as many that failed. */
export const latestAttempts = (delaysMs: readonly number[]): number[] =>
  [0, ...delaysMs].map((delay) => Math.ceil(delay * (1 + JITTER)))

/**
 * When to try again after `attempts` have failed, or null after the last one. Webhooks that failed together are spread
 * out; the deliveries of one webhook all move alike, so that they keep their order.
 */
export function nextAttemptAt(
  { webhookId, attempts, now }: { webhookId: string; attempts: number; now: number },
  delaysMs: readonly number[],
): number | null {
  const delay = delaysMs[attempts - 1]
  if (delay === undefined) return null
  const chance = createHash('sha256').update(`${webhookId} ${attempts}`).digest().readUInt32BE() / 2 ** 32
  return now + Math.round(delay * (1 + JITTER * (2 * chance - 1)))
}
