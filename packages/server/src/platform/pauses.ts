import { setImmediate } from 'node:timers/promises'

/** How long one piece of work may have the process to itself: what others do takes many turns, and each waits so long. */
const SHARE_MS = 2

/**
 * For loops that may be long: between two steps, lets everybody else in if it has been at it for its share. It waits for
 * nothing but the event loop, so it may be called inside a transaction.
 */
export function createPauses(shareMs = SHARE_MS): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < shareMs) return
    await setImmediate()
    since = performance.now()
  }
}
