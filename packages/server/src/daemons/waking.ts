import { type Author, bySystem, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import { asked, causeOf } from '../runs/causes.ts'
import { seenOf } from '../runs/triggers.ts'
import type { Judge } from '../runs/verdicts.ts'
import type { Waking } from '../runs/waking.ts'
import type { Database, Tx } from '../schema.ts'
import type { DaemonMetrics } from './metrics.ts'
import { createPending } from './pending.ts'
import { dueAfter, retryAfterRefusal, tickAfter } from './scheduling.ts'
import type { DaemonRow, WakeOutcome, WakeReason } from './store.ts'
import * as store from './store.ts'

interface WakingDeps {
  database: Database
  events: EventsService
  clock: Clock
  waking: Waking
  metrics: DaemonMetrics
}

/** Where a daemon runs. */
export interface DaemonPlace {
  id: string
  orgId: string
  isProvisional: boolean
  isFrozen: boolean
}

type Run = Exclude<Awaited<ReturnType<Waking['wakeIn']>>, { reason: string }>

/** What became of a wake. */
type Woken = { run: Run } | { reason: string } | undefined

export type DaemonWaking = ReturnType<typeof createDaemonWaking>

/** Wakes daemons: the run, what tells of it and what the daemon knows of it are written together. */
export function createDaemonWaking(deps: WakingDeps) {
  const { database, events, clock, waking, metrics } = deps
  const pending = createPending(deps)

  async function changeIn(tx: Tx, daemon: DaemonRow, change: store.DaemonChange): Promise<void> {
    const now = clock()
    const after = { ...daemon, ...change }
    await store.updateDaemon(tx, daemon.id, {
      ...change,
      worker_id: null,
      tick_at: tickAfter(after, now),
      due_at: dueAfter({ ...after, tick_at: tickAfter(after, now) }, now),
      set_at: now,
    })
  }

  /** Something was due, and there is no run of it. */
  async function passIn(tx: Tx, daemon: DaemonRow, outcome: WakeOutcome, detail: string): Promise<undefined> {
    metrics.passed(outcome)
    await changeIn(tx, daemon, { last_wake_outcome: outcome, last_wake_detail: detail })
  }

  /** The same for what somebody asked for, who is told: when it is due next stays as it is. */
  async function noteIn(tx: Tx, daemon: DaemonRow, outcome: WakeOutcome, detail: string): Promise<void> {
    metrics.passed(outcome)
    await store.updateDaemon(tx, daemon.id, { last_wake_outcome: outcome, last_wake_detail: detail })
  }

  async function refuseIn(tx: Tx, daemon: DaemonRow, reason: string, pendingCount: number): Promise<void> {
    metrics.passed('rejected')
    const isNews = daemon.last_wake_outcome !== 'rejected' || daemon.last_wake_detail !== reason
    const again = retryAfterRefusal(reason, clock())
    await changeIn(tx, daemon, {
      last_wake_outcome: 'rejected',
      last_wake_detail: reason,
      ...(daemon.quarantined_until === null ? { retry_at: again } : { quarantined_until: again }),
      pending_count: pendingCount,
    })
    // Not again and again, for as long as it stays like this.
    if (isNews)
      await events.append(tx, {
        ...bySystem,
        scope: repoScope(daemon.repo_id),
        type: 'run.rejected',
        subject: daemon.name,
        payload: { extension: daemon.name, reason },
      })
  }

  /** The log must be locked, and nothing may speak against a wake but what speaks against any run. */
  async function wakeIn(
    tx: Tx,
    daemon: DaemonRow,
    { place, reason, asker, judge }: { place: DaemonPlace; reason: WakeReason; asker?: Author; judge: Judge },
  ): Promise<Woken> {
    const batch = await pending.takeIn(tx, daemon)
    const { cause, pendingCount } = batch
    // All that it was to be told of is left behind, or there is more to look through.
    if (reason === 'events' && batch.events.length === 0) {
      await changeIn(tx, { ...daemon, pending_count: pendingCount }, {})
      return undefined
    }
    const woken = await waking.wakeIn(tx, events, {
      repo: place,
      extension: daemon.name,
      actor: asker?.actor ?? (reason === 'events' && cause ? cause.event.actor : bySystem.actor),
      input: { reason, events: batch.events.map(seenOf) },
      origin: cause?.origin ?? asked,
      judge,
    })
    if ('reason' in woken) {
      if (asker) await noteIn(tx, daemon, 'rejected', woken.reason)
      else await refuseIn(tx, daemon, woken.reason, pendingCount)
      return woken
    }
    const now = clock()
    await changeIn(tx, daemon, {
      run_id: woken.id,
      quarantined_until: null,
      retry_at: null,
      wake_reason: reason,
      wake_to: batch.to,
      wake_count: batch.count,
      last_wake_at: now,
      last_wake_outcome: 'dispatched',
      last_wake_detail: woken.id,
    })
    const author = {
      ...(asker ?? bySystem),
      cause: causeOf(woken),
      scope: repoScope(daemon.repo_id),
      subject: daemon.name,
    }
    if (daemon.quarantined_until !== null)
      await events.append(tx, {
        ...author,
        type: 'daemon.resumed',
        payload: { daemon: daemon.name, why: 'time' },
      })
    await events.append(tx, {
      ...author,
      type: 'daemon.woken',
      payload: { daemon: daemon.name, reason, runId: woken.id, events: batch.events.length },
    })
    metrics.woken(reason)
    return { run: woken }
  }

  /** Why it is woken that is due, which need not be why it was woken before. */
  function reasonOf(daemon: DaemonRow, now: number): WakeReason {
    if (daemon.tick_at <= now) return 'schedule'
    if (daemon.failures > 0 && daemon.wake_reason !== null) return daemon.wake_reason
    return daemon.pending_count > 0 ? 'events' : 'schedule'
  }

  const judged = <T>(place: DaemonPlace, work: (judge: Judge) => Promise<T>): Promise<T> =>
    waking.withVerdicts({ id: place.orgId, isProvisional: place.isProvisional }, work)

  return {
    /** Whatever is to be done about one that is due: it may be that somebody else has done it. */
    wakeDue: ({ id, repo_id }: store.DueDaemon, place: DaemonPlace): Promise<void> =>
      judged(place, (judge) =>
        database.transact(async (tx) => {
          await events.lockIn(tx, repoScope(repo_id))
          const daemon = await store.findDaemon(tx, id)
          if (!daemon) return
          const now = clock()
          if (daemon.due_at > now) return store.updateDaemon(tx, id, { worker_id: null })
          if (daemon.run_id !== null) return passIn(tx, daemon, 'skipped_running', daemon.run_id)
          if ((daemon.quarantined_until ?? 0) > now)
            return passIn(tx, daemon, 'skipped_quarantined', quarantined(daemon))
          const lateMs = now - daemon.due_at
          const woken = await wakeIn(tx, daemon, { place, reason: reasonOf(daemon, now), judge })
          if (woken && 'run' in woken) database.afterCommit(tx, () => metrics.late(lateMs))
        }),
      ),

    /** Around the transaction of `wakeNowIn`. */
    judged,

    /** Somebody asks for it. Gives the wake that is under way when there is one. */
    wakeNowIn: async (
      tx: Tx,
      daemon: DaemonRow,
      { place, asker, judge }: { place: DaemonPlace; asker: Author; judge: Judge },
    ): Promise<{ run: Run } | { reason: string } | { runId: string }> => {
      if (daemon.run_id !== null) return { runId: daemon.run_id }
      if (daemon.quarantined_until !== null) {
        await noteIn(tx, daemon, 'skipped_quarantined', quarantined(daemon))
        return { reason: 'quarantined' }
      }
      const woken = await wakeIn(tx, daemon, { place, reason: 'manual', asker, judge })
      if (!woken) throw new Error('a wake that was asked for came to nothing')
      return woken
    },
  }
}

const quarantined = ({ failures }: DaemonRow) => `${failures} failures in a row`
