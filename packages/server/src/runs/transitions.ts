import type { Actor, RunTrigger } from '@trellis/contract'
import type { Appending, NewEvent } from '../events/service.ts'
import { repoScope, runScope, type ServiceEventType } from '../events/types.ts'
import type { Runnable } from '../extensions/runnable.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { LogLevel } from '../runtime/runtime.ts'
import type { Database, Tx } from '../schema.ts'
import * as cancels from './cancel-store.ts'
import { causeOf, type Origin } from './causes.ts'
import { bytesOfNew } from './kept-bytes.ts'
import { type KeptRoom, TooMuchKept } from './kept-room.ts'
import { findKeeper } from './kept-store.ts'
import { costOf, LANES, laneOf } from './lanes.ts'
import * as queues from './queue-store.ts'
import * as steps from './step-store.ts'
import * as store from './store.ts'
import * as triggers from './trigger-store.ts'

/** A run that is to be. */
export interface NewRun {
  repo: { id: string; orgId: string; isProvisional: boolean }
  target: Runnable
  trigger: RunTrigger
  actor: Actor
  ref: string
  before?: string | null
  after?: string | null
  commit: string | null
  effective: readonly string[]
  /** JSON. */
  input: string
  origin: Origin
  /** What somebody came with who asked for it, or for the run that did; none of what was set off. */
  credentialId?: string | null
}

interface Ended extends Omit<store.Ending, 'now' | 'grownBy'> {
  /** What it said last, to be written with its end. */
  lines: readonly LogPayload[]
}

/** What a line of a log says. */
export interface LogPayload {
  level: LogLevel
  message: string
  data?: unknown
}

type Told = Omit<NewEvent, 'scope'>

export type Transitions = ReturnType<typeof createTransitions>

/** How runs come to be, begin and end: each step together with the events that tell of it, and counted. */
export function createTransitions(deps: {
  database: Database
  clock: Clock
  newId: NewId
  keptRoom: KeptRoom
  /** Something waits. */
  wake(): void
  onEnded(runId: string): void
  /** A workflow may go on. */
  onArrived(runId: string): void
  /** An organization keeps more than it may. */
  onOverfull(orgId: string): void
}) {
  const { database, clock, newId, keptRoom, wake, onEnded, onArrived, onOverfull } = deps

  /** Gives whether too much may be kept now: a queue hears late that somebody stands for its organization. */
  async function countIn(tx: Tx, change: Parameters<typeof queues.changeQueue>[1]): Promise<boolean> {
    const { keptInAll, org_id, provisional } = await queues.changeQueue(tx, change)
    const isOverfull = keptInAll > keptRoom.mostOf(provisional === 1)
    if (isOverfull) database.afterCommit(tx, () => onOverfull(org_id))
    return isOverfull
  }

  async function countQueuedIn(
    tx: Tx,
    { orgId, isProvisional }: NewRun['repo'],
    runs: readonly store.RunRow[],
  ) {
    const byLane = Map.groupBy(runs, ({ lane }) => lane)
    for (const lane of LANES) {
      const those = byLane.get(lane) ?? []
      const bytes = those.reduce((sum, run) => sum + run.bytes, 0)
      const change = { orgId, lane, provisional: Number(isProvisional), ready: those.length, bytes }
      if (those.length > 0) await countIn(tx, change)
    }
  }

  /** Nobody has it in hand any more. */
  async function letGoIn(tx: Tx, run: store.RunRow, bytes: number): Promise<void> {
    const { org_id: orgId, lane, taken_at } = run
    const now = clock()
    await countIn(tx, { orgId, lane, running: -1, cost: costOf(now - (taken_at ?? now)), bytes })
  }

  async function endedIn(tx: Tx, log: Appending, run: store.RunRow, last: readonly Told[]): Promise<void> {
    await log.appendAll(tx, runScope(run.id), last)
    await log.appendAll(tx, repoScope(run.repo_id), last.slice(-1))
    if (run.runtime === 'workflow') await triggers.deleteWaits(tx, { repoId: run.repo_id, runId: run.id })
    database.afterCommit(tx, () => onEnded(run.id))
  }

  return {
    /** All of one repository, which has room for them. */
    async queueIn(tx: Tx, log: Appending, runs: readonly NewRun[]): Promise<store.RunRow[]> {
      const [first] = runs
      if (!first) return []
      const now = clock()
      const rows = runs.map((run) => newRow(run, newId('run'), now) as store.RunRow)
      await store.insertRuns(tx, rows)
      const told = rows.map((row, i) => tellQueued(row, runs[i]?.credentialId))
      for (const one of told) await log.appendAll(tx, runScope(one.subject), [one])
      await log.appendAll(tx, repoScope(first.repo.id), told)
      await countQueuedIn(tx, first.repo, rows)
      database.afterCommit(tx, wake)
      return rows
    },

    /** One that is in somebody's hands as soon as it is there, and counted as waiting like any other. */
    async queueTakenIn(tx: Tx, log: Appending, run: NewRun, workerId: string) {
      const now = clock()
      const queued = newRow(run, newId('run'), now) as store.RunRow
      const hold = {
        status: 'running',
        ready: 0,
        worker_id: workerId,
        taken_at: now,
        started_at: now,
      } as const
      const taken: store.RunRow = { ...queued, ...hold, token_id: newId('tok') }
      await store.insertRuns(tx, [taken])
      const told = [tellQueued(queued, run.credentialId), tellStarted(taken)]
      await log.appendAll(tx, runScope(taken.id), told)
      await log.appendAll(tx, repoScope(taken.repo_id), told)
      await countQueuedIn(tx, run.repo, [queued])
      return { queued, taken }
    },

    /** Runs that were taken out of the queue of one organization. */
    async startIn(tx: Tx, log: Appending, taken: readonly store.RunRow[]): Promise<store.RunRow[]> {
      const started: store.RunRow[] = []
      // A workflow that goes on was begun before.
      for (const run of taken.filter((one) => one.token_id === null)) {
        const token_id = newId('tok')
        await queues.setToken(tx, run.id, token_id)
        started.push({ ...run, token_id })
      }
      for (const run of started) await log.appendAll(tx, runScope(run.id), [tellStarted(run)])
      // In the same order everywhere: others may be starting runs of the same repositories.
      const byRepo = [...Map.groupBy(started, (run) => run.repo_id)].toSorted(([a], [b]) => (a < b ? -1 : 1))
      for (const [repoId, runs] of byRepo) await log.appendAll(tx, repoScope(repoId), runs.map(tellStarted))
      return [...started, ...taken.filter((one) => one.token_id !== null)]
    },

    /** Undefined when it was not in these hands any more. */
    async endIn(
      tx: Tx,
      log: Appending,
      run: store.RunRow,
      { logBytes, lines, ...end }: Ended,
    ): Promise<store.RunRow | undefined> {
      const said = logBytes - run.log_bytes
      const grownBy = said + (end.output?.length ?? 0) + (end.error?.length ?? 0)
      const ended = await store.endRun(tx, { ...end, grownBy, logBytes, now: clock() })
      if (!ended) return undefined
      await endedIn(tx, log, ended, [
        ...lines.map((line) => tellLine(ended, line)),
        tell(ended, `run.${end.status}`, {
          ...(end.error !== null && { error: end.error }),
          ...(end.exitCode !== null && { exitCode: end.exitCode }),
        }),
      ])
      await letGoIn(tx, run, grownBy)
      return ended
    },

    /** Ends a run at once that waits, and otherwise asks those who run it. Undefined when it has ended already. */
    async cancelIn(tx: Tx, log: Appending, id: string): Promise<store.RunRow | undefined> {
      const now = clock()
      const waiting =
        (await cancels.cancelQueued(tx, id, now)) ?? (await cancels.cancelSleeping(tx, { id, now, ready: 1 }))
      const cancelled = waiting ?? (await cancels.cancelSleeping(tx, { id, now, ready: 0 }))
      if (!cancelled) return cancels.requestCancel(tx, id, now)
      await endedIn(tx, log, cancelled, [tell(cancelled, 'run.cancelled', {})])
      const { org_id: orgId, lane } = cancelled
      if (waiting) await countIn(tx, { orgId, lane, ready: -1 })
      return cancelled
    },

    /** A workflow that has nothing to do for now. Undefined when it was not in these hands any more. */
    async sleepIn(
      tx: Tx,
      log: Appending,
      run: store.RunRow,
      { workerId, lines, logBytes }: Pick<Ended, 'workerId' | 'lines' | 'logBytes'>,
    ): Promise<store.RunRow | undefined> {
      const due_at = (await steps.findNextDue(tx, run.id)) ?? null
      const grownBy = logBytes - run.log_bytes
      const asleep = { id: run.id, workerId, due_at, log_bytes: logBytes, grownBy }
      const sleeping = await queues.putToSleep(tx, asleep)
      if (!sleeping) return undefined
      await log.appendAll(
        tx,
        runScope(run.id),
        lines.map((line) => tellLine(run, line)),
      )
      // Asked for while nobody here knew of it yet: whoever sleeps is asked no more.
      const ended = sleeping.cancel_requested_at !== null && (await this.cancelIn(tx, log, run.id))
      await letGoIn(tx, run, grownBy)
      if (ended) return ended
      // What it waits for came before it slept.
      if (await steps.hasArrived(tx, run.id)) database.afterCommit(tx, () => onArrived(run.id))
      return sleeping
    },

    /** A workflow whose server died goes on from its last step. */
    async releaseIn(tx: Tx, log: Appending, run: store.RunRow, workerId: string): Promise<boolean> {
      const { id, log_bytes } = run
      const asleep = { id, workerId, due_at: clock(), log_bytes, grownBy: 0 }
      const released = await queues.putToSleep(tx, asleep)
      if (!released) return false
      if (released.cancel_requested_at !== null) await this.cancelIn(tx, log, id)
      await letGoIn(tx, run, 0)
      return true
    },

    /** More is kept of one that goes on. Throws TooMuchKept. */
    async growIn(tx: Tx, { org_id: orgId, lane }: store.RunRow, bytes: number): Promise<void> {
      if (!(await countIn(tx, { orgId, lane, bytes }))) return
      const keeper = await findKeeper(tx, orgId)
      if (await keptRoom.isTakenUp(tx, keeper)) throw new TooMuchKept(keptRoom.mostOf(keeper.isProvisional))
    },

    /** A workflow that sleeps may go on. */
    async wakeIn(tx: Tx, id: string): Promise<void> {
      const woken = await queues.wakeUp(tx, id)
      if (woken) await countIn(tx, { orgId: woken.org_id, lane: woken.lane, ready: 1 })
    },

    logIn: (tx: Tx, log: Appending, run: store.RunRow, lines: readonly LogPayload[]): Promise<void> =>
      log.appendAll(
        tx,
        runScope(run.id),
        lines.map((line) => tellLine(run, line)),
      ),

    /** With all that was counted of it; its log must be gone. */
    async removeIn(tx: Tx, id: string): Promise<boolean> {
      const gone = await store.deleteRun(tx, id)
      if (!gone) return false
      await steps.deleteSteps(tx, id)
      await triggers.deleteWaits(tx, { repoId: gone.repo_id, runId: id })
      await queues.changeQueue(tx, {
        orgId: gone.org_id,
        lane: gone.lane,
        ready: -gone.ready,
        running: gone.worker_id === null ? 0 : -1,
        bytes: -gone.bytes,
      })
      database.afterCommit(tx, () => onEnded(id))
      return true
    },
  }
}

const authorOf = (run: store.RunRow) => ({
  actor: { kind: run.actor_kind, id: run.actor_id },
  credentialId: run.token_id,
  cause: causeOf(run),
})

const tell = (run: store.RunRow, type: ServiceEventType, payload: object): Told => ({
  ...authorOf(run),
  type,
  subject: run.id,
  payload: { extension: run.extension, ...payload },
})

const tellQueued = (run: store.RunRow, credentialId: string | null = null) => ({
  ...tell(run, 'run.queued', { trigger: run.trigger_kind, ref: run.ref, commitSha: run.commit_sha }),
  subject: run.id,
  // It has none of its own yet.
  credentialId,
})

const tellStarted = (run: store.RunRow): Told => tell(run, 'run.started', { moduleHash: run.module_hash })

const tellLine = (run: store.RunRow, payload: LogPayload): Told => ({
  ...authorOf(run),
  type: 'run.log',
  subject: run.id,
  payload,
})

function newRow(run: NewRun, id: string, now: number): store.NewRunRow {
  const { repo, target, origin } = run
  return {
    id,
    repo_id: repo.id,
    org_id: repo.orgId,
    extension: target.name,
    trigger_kind: run.trigger,
    status: 'queued',
    runtime: target.runtime,
    lane: laneOf(target.runtime),
    actor_kind: run.actor.kind,
    actor_id: run.actor.id,
    ref: run.ref,
    before_oid: run.before ?? null,
    after_oid: run.after ?? null,
    commit_sha: run.commit,
    canonical_commit: target.canonicalCommit,
    module_commit: target.commit,
    module_hash: target.moduleHash,
    descriptor_hash: target.canonicalDescriptorHash,
    grant_hash: target.canonicalGrantHash,
    cause_event_id: origin.eventId,
    root_event_id: origin.rootEventId,
    depth: origin.depth,
    token_id: null,
    worker_id: null,
    ready: 1,
    taken_at: null,
    due_at: null,
    cancel_requested_at: null,
    exit_code: null,
    created_at: now,
    started_at: null,
    ended_at: null,
    bytes: bytesOfNew(run),
    log_bytes: 0,
    error: null,
    ancestors: JSON.stringify(origin.ancestors),
    capabilities: JSON.stringify(target.capabilities),
    effective: JSON.stringify(run.effective),
    input_schema: target.inputSchema ?? null,
    output_schema: target.outputSchema ?? null,
    input: run.input,
    output: null,
  }
}
