import type { NumberedEvent } from '@trellis/contract'
import type { Appending } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import type { Waking } from '../runs/waking.ts'
import type { Tx } from '../schema.ts'
import { afterCancel, afterFailure, dueAfter } from './scheduling.ts'
import * as store from './store.ts'

const ENDINGS = ['succeeded', 'failed', 'cancelled'] as const
const MAX_DETAIL = 1_000

/** How the run ended that an event tells the end of. */
const endingIn = ({ type }: NumberedEvent) => ENDINGS.find((ending) => type === `run.${ending}`)

/** Writes down how wakes ended, in the transaction in which their runs do. */
export function createSettling({ clock, waking }: { clock: Clock; waking: Pick<Waking, 'findEnd'> }) {
  /** What it was told of is done with: the next wake begins after it. */
  function acknowledged(daemon: store.DaemonRow, now: number): store.DaemonChange {
    const { wake_to, wake_count } = daemon
    if (wake_to === null) return {}
    const pending_count = Math.max(0, daemon.pending_count - wake_count)
    return {
      pending_count,
      pending_from: pending_count > 0 ? wake_to + 1 : null,
      ...(wake_count > 0 && {
        consumed_at: now,
        consumed_detail: `${wake_count} event${wake_count === 1 ? '' : 's'} up to ${wake_to}`,
      }),
    }
  }

  async function settle(
    tx: Tx,
    log: Appending,
    daemon: store.DaemonRow,
    ended: { event: NumberedEvent; status: (typeof ENDINGS)[number] },
  ): Promise<void> {
    const { event, status } = ended
    const now = clock()
    const { error } = (event.payload ?? {}) as { error?: string }
    const isDone = status === 'succeeded'
    const failures = isDone ? 0 : daemon.failures + Number(status === 'failed')
    const next = () => {
      if (isDone) return { ...acknowledged(daemon, now), retry_at: null, quarantined_until: null }
      return status === 'failed' ? afterFailure(failures, now) : afterCancel(daemon, now)
    }
    const change = {
      run_id: null,
      failures,
      wake_to: null,
      wake_count: 0,
      last_run_id: event.subject ?? null,
      last_run_status: status,
      last_run_ended_at: await waking.findEnd(tx, event.subject ?? ''),
      // A cancelled one has not succeeded; the detail and the run say which it was.
      last_wake_outcome: isDone ? ('succeeded' as const) : ('failed' as const),
      last_wake_detail: isDone
        ? (event.subject ?? null)
        : (error ?? 'The run was cancelled').slice(0, MAX_DETAIL),
      ...next(),
      set_at: now,
    }
    await store.updateDaemon(tx, daemon.id, { ...change, due_at: dueAfter({ ...daemon, ...change }, now) })
    if (change.quarantined_until !== null)
      await log.append(tx, {
        actor: event.actor,
        credentialId: event.credentialId,
        ...(event.cause && { cause: event.cause }),
        scope: repoScope(daemon.repo_id),
        type: 'daemon.quarantined',
        subject: daemon.name,
        payload: { daemon: daemon.name, failures, until: change.quarantined_until },
      })
  }

  return {
    async settleIn(tx: Tx, log: Appending, events: readonly NumberedEvent[]): Promise<boolean> {
      let isAnySettled = false
      for (const event of events) {
        const status = endingIn(event)
        const daemon = status && (await store.findByRun(tx, event.subject ?? ''))
        if (!status || !daemon) continue
        await settle(tx, log, daemon, { event, status })
        isAnySettled = true
      }
      return isAnySettled
    },
  }
}
