/** What has ended is shown for so long, and of that the latest, so many. */
export const ENDED_SHOWN_MS = 30 * 24 * 60 * 60 * 1000
export const ENDED_SHOWN = 1000

/** All that is alive and what ended last, together, the newest first. */
export function listing<Row extends { id: string; created_at: number }>(
  live: readonly Row[],
  ended: readonly Row[],
  endOf: (row: Row) => number,
): Row[] {
  const lastEnded = ended.toSorted((a, b) => endOf(b) - endOf(a)).slice(0, ENDED_SHOWN)
  return [...live, ...lastEnded].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
}
