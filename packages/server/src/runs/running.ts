import type { Bell } from '../background/bell.ts'
import { type Hold, leased } from '../background/leased.ts'
import type { Work } from '../background/work.ts'
import type { Appending } from '../events/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import type { Cancels } from './cancels.ts'
import * as queues from './queue-store.ts'
import type { RunRow } from './store.ts'
import * as store from './store.ts'
import type { Transitions } from './transitions.ts'

interface RunningDeps {
  database: Database
  events: Appending
  clock: Clock
  transitions: Transitions
  cancels: Cancels
  /** Runs of this process at once; none with 0. */
  concurrency: number
  /** Of one organization, in all processes. */
  perOrg: number
  leaseMs: number
  bell: Bell
  /** Runs one to its end, and writes that down. */
  execute(run: RunRow, hold: Hold, cancelled: AbortSignal): Promise<void>
  /** Takes over what a process has left behind. */
  takeOver(run: RunRow): Promise<void>
}

/** Of all places, what organizations that cost nothing to make may have together. */
const PROVISIONAL_SHARE = 1 / 4
const LOOK_EVERY_MS = 900
const AT_ONCE = 100

/** Takes runs out of their queues, one organization after the other, and runs them. */
export function runQueues(deps: RunningDeps): Work {
  const { database, events, clock, transitions, cancels, concurrency, perOrg, leaseMs, bell } = deps
  const { db } = database
  const forProvisional = Math.max(1, Math.floor(concurrency * PROVISIONAL_SHARE))
  const provisional = new Set<string>()
  let lookedAt = Number.NEGATIVE_INFINITY

  async function takeOf(queue: queues.QueueRow, workerId: string, limit: number): Promise<RunRow[]> {
    const { org_id: orgId } = queue
    return database.transact(async (tx) => {
      const now = clock()
      const taken = await queues.takeReady(tx, database.dialect, { orgId, workerId, now, limit })
      if (taken.length === 0) return []
      const started = await transitions.startIn(tx, events, taken)
      const count = started.length
      const { running } = await queues.changeQueue(tx, { orgId, ready: -count, running: count })
      // Others have taken some in the same moment.
      if (running > perOrg) throw new TooMany()
      await queues.markServed(tx, orgId, now, queue.provisional)
      return started
    })
  }

  async function claim(workerId: string, room: number): Promise<RunRow[]> {
    const provisionalRoom = forProvisional - provisional.size
    const waiting = await queues.listWaiting(db, {
      perOrg,
      limit: room,
      provisionalToo: provisionalRoom > 0,
    })
    const share = Math.max(1, Math.floor(room / Math.max(1, waiting.length)))
    let left = provisionalRoom
    const taking = waiting.map(async (queue) => {
      const isProvisional = queue.provisional === 1
      if (isProvisional && left <= 0) return []
      const limit = Math.min(share, perOrg - queue.running, isProvisional ? left : share)
      if (isProvisional) left -= limit
      const taken = await takeOf(queue, workerId, limit).catch((error: unknown) => {
        if (error instanceof TooMany) return []
        throw error
      })
      if (isProvisional) for (const { id } of taken) provisional.add(id)
      return taken
    })
    const settled = await Promise.allSettled(taking)
    const taken = settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const failed = settled.find((one) => one.status === 'rejected')
    // What was taken is ours, whatever became of the others.
    if (failed && taken.length === 0) throw failed.reason
    return taken
  }

  /** What others have left behind, and what has slept for long enough. */
  async function lookAround(): Promise<void> {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return
    lookedAt = performance.now()
    for (const run of await queues.listAbandoned(db, { now: clock(), leaseMs, limit: AT_ONCE }))
      await deps.takeOver(run)
    for (const id of await queues.listToWake(db, clock(), AT_ONCE))
      await database.transact((tx) => transitions.wakeIn(tx, id))
  }

  return leased<RunRow>({
    name: 'runs',
    concurrency,
    leaseMs,
    bell,
    keyOf: ({ id }) => id,

    async claim({ workerId, room }) {
      await lookAround()
      return claim(workerId, room)
    },

    async work(run, hold) {
      using watched = cancels.watch(run.id, hold.workerId)
      try {
        await deps.execute(run, hold, watched.cancelled)
      } finally {
        provisional.delete(run.id)
      }
    },

    /** How these ended could not be written down. */
    async giveBack(ids, workerId) {
      for (const run of await store.listRuns(db, ids))
        if (run.worker_id === workerId && run.status === 'running') await deps.takeOver(run)
    },
  })
}

/** More of one organization would run than may. */
class TooMany extends Error {}
