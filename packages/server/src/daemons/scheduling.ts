import type { DaemonRow } from './store.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** How long after the first and the second failure in a row it is tried again. */
const RETRY_MS = [MINUTE_MS, 5 * MINUTE_MS] as const
/** After the third, and doubled with every further one. */
const QUARANTINE_MS = 15 * MINUTE_MS
/** After what was refused: the queue may have room soon, what else it was takes somebody to change it. */
const REFUSED_MS = 5 * MINUTE_MS

type Times = Pick<
  DaemonRow,
  'run_id' | 'quarantined_until' | 'retry_at' | 'tick_at' | 'due_at' | 'pending_count'
>

export const intervalMs = (minutes: number): number => minutes * MINUTE_MS

/** The next tick after now. Those that were missed count as one. */
export function tickAfter(
  { tick_at, interval_minutes }: Pick<DaemonRow, 'tick_at' | 'interval_minutes'>,
  now: number,
): number {
  if (tick_at > now) return tick_at
  const every = intervalMs(interval_minutes)
  return tick_at + (Math.floor((now - tick_at) / every) + 1) * every
}

/** When somebody has to look at it next. While a wake is under way, or none may be, ticks pass and are told. */
export function dueAfter(daemon: Omit<Times, 'due_at'>, now: number): number {
  const { run_id, quarantined_until, retry_at, tick_at, pending_count } = daemon
  if (run_id !== null) return tick_at
  if (quarantined_until !== null) return Math.min(tick_at, quarantined_until)
  if (retry_at !== null) return retry_at
  return pending_count > 0 ? Math.min(tick_at, now) : tick_at
}

/** What follows a wake that failed, the last of so many in a row. */
export function afterFailure(
  failures: number,
  now: number,
): Pick<DaemonRow, 'quarantined_until' | 'retry_at'> {
  const retryMs = RETRY_MS[failures - 1]
  if (retryMs !== undefined) return { retry_at: now + retryMs, quarantined_until: null }
  const quarantineMs = Math.min(DAY_MS, QUARANTINE_MS * 2 ** (failures - RETRY_MS.length - 1))
  return { retry_at: null, quarantined_until: now + quarantineMs }
}

/** What follows a wake that somebody cancelled, who does not want it back at once: what it was told of has time. */
export const afterCancel = (
  daemon: Pick<DaemonRow, 'tick_at' | 'interval_minutes' | 'pending_count'>,
  now: number,
): Pick<DaemonRow, 'quarantined_until' | 'retry_at'> => ({
  retry_at: daemon.pending_count > 0 ? tickAfter(daemon, now) : null,
  quarantined_until: null,
})

export const retryAfterRefusal = (reason: string, now: number): number =>
  now + (reason === 'queue_full' ? MINUTE_MS : REFUSED_MS)

/** All its times, moved by as much as the clock was set back. */
export const earlier = (
  daemon: Pick<DaemonRow, 'quarantined_until' | 'retry_at' | 'tick_at' | 'due_at'>,
  byMs: number,
) => ({
  quarantined_until: daemon.quarantined_until === null ? null : daemon.quarantined_until - byMs,
  retry_at: daemon.retry_at === null ? null : daemon.retry_at - byMs,
  tick_at: daemon.tick_at - byMs,
  due_at: daemon.due_at - byMs,
})
