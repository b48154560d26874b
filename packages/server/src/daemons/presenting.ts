import type { Daemon } from '@trellis/contract'
import type { Db } from '../schema.ts'
import { type DaemonRow, listOf } from './store.ts'

/** A daemon as everybody sees it. */
export const presentDaemon = (daemon: DaemonRow): Daemon => {
  const { quarantined_until, last_run_id: id, last_run_status: status, last_run_ended_at: endedAt } = daemon
  return {
    name: daemon.name,
    canonicalSha: daemon.canonical_sha,
    moduleHash: daemon.module_hash,
    descriptorHash: daemon.descriptor_hash,
    scheduleIntervalMinutes: daemon.interval_minutes,
    capabilities: JSON.parse(daemon.capabilities),
    onEventTypes: daemon.event_types === null ? null : JSON.parse(daemon.event_types),
    status: quarantined_until === null ? 'active' : 'quarantined',
    failures: daemon.failures,
    quarantinedUntil: quarantined_until,
    nextWakeAt: quarantined_until ?? daemon.due_at,
    lastRun: id !== null && status !== null && endedAt !== null ? { id, status, endedAt } : null,
    lastWakeAt: daemon.last_wake_at,
    lastWakeOutcome: daemon.last_wake_outcome,
    lastWakeDetail: daemon.last_wake_detail,
    lastConsumerSeenAt: daemon.consumed_at,
    lastConsumerDetail: daemon.consumed_detail,
    pendingEventCount: daemon.pending_count,
  }
}

/** All of the canonical commit of a repository. */
export const listDaemons = async (q: Db, repoId: string): Promise<Daemon[]> =>
  (await listOf(q, repoId)).map(presentDaemon)
