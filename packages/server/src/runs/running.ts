import type { Bell } from '../background/bell.ts'
import type { Desk } from '../background/desk.ts'
import { type Hold, leased } from '../background/leased.ts'
import type { Work } from '../background/work.ts'
import type { Clock, Stopwatch } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import type { Arrivals } from './arrivals.ts'
import type { Cancels } from './cancels.ts'
import { allot, LANES, type Lane, type Lanes, type Room } from './lanes.ts'
import * as queues from './queue-store.ts'
import type { RunRow } from './store.ts'
import * as store from './store.ts'
import { type Taking, TooMany } from './taking.ts'
import type { Transitions } from './transitions.ts'

interface RunningDeps {
  database: Database
  clock: Clock
  stopwatch: Stopwatch
  transitions: Transitions
  taking: Taking
  cancels: Cancels
  lanes: Lanes
  /** Those that are left to other processes. */
  unserved: ReadonlySet<Lane>
  leaseMs: number
  bell: Bell
  desk: Desk<RunRow>
  arrivals: Arrivals
  /** Runs one to its end, and writes that down. */
  execute(run: RunRow, hold: Hold, cancelled: AbortSignal): Promise<void>
  /** Takes over what a process has left behind. */
  takeOver(run: RunRow): Promise<void>
}

const LOOK_EVERY_MS = 900
const AT_ONCE = 100
/** What nobody can run is not left to others for ever: then it is taken, and fails for that reason. */
const STRANDED_MS = 10 * 60_000

/** Takes runs out of their queues, one organization after the other, and runs them. */
export function runQueues(deps: RunningDeps): Work {
  const { database, clock, stopwatch, transitions, taking, cancels, lanes, leaseMs, bell, desk, arrivals } =
    deps
  const { db } = database
  const provisional = new Set<string>()
  let lookedAt = Number.NEGATIVE_INFINITY
  let stranded: ReadonlySet<Lane> = new Set()

  /** Whoever has a place there, here. */
  function roomIn(lane: Lane, inHand: readonly RunRow[]): Room {
    const { places, forProvisional } = lanes[lane]
    const held = inHand.filter((run) => run.lane === lane)
    return {
      places: places - held.length,
      provisional: forProvisional - held.filter(({ id }) => provisional.has(id)).length,
    }
  }

  async function claimIn(lane: Lane, workerId: string, inHand: readonly RunRow[]): Promise<RunRow[]> {
    const room = roomIn(lane, inHand)
    if (room.places <= 0) return []
    const waiting = await queues.listWaiting(db, {
      lane,
      perOrg: lanes[lane].perOrg,
      limit: room.places,
      provisionalToo: room.provisional > 0,
    })
    const allotted = allot(waiting, lanes[lane], { room, now: clock() })
    const claims = waiting.map(async (queue, i) => {
      const limit = allotted[i] ?? 0
      if (limit === 0) return []
      const taken = await database
        .transact((tx) => taking.takeIn(tx, queue, { workerId, limit }))
        .catch((error: unknown) => {
          if (error instanceof TooMany) return []
          throw error
        })
      if (queue.provisional === 1) for (const { id } of taken) provisional.add(id)
      return taken
    })
    return allOf(claims)
  }

  const wake = (id: string) => database.transact((tx) => transitions.wakeIn(tx, id))

  /** What has slept for long enough, and what nobody can run. */
  async function lookAround(): Promise<void> {
    if (stopwatch() - lookedAt < LOOK_EVERY_MS) return
    lookedAt = stopwatch()
    for (const id of await queues.listToWake(db, clock(), AT_ONCE)) await wake(id)
    const found: Lane[] = []
    for (const lane of deps.unserved)
      if (await queues.isStranded(db, lane, clock() - STRANDED_MS)) found.push(lane)
    stranded = new Set(found)
  }

  return leased<RunRow>({
    name: 'runs',
    concurrency: LANES.reduce((sum, lane) => sum + lanes[lane].places, 0),
    leaseMs,
    bell,
    desk,
    keyOf: ({ id }) => id,

    async claim({ workerId, inHand }) {
      for (const id of arrivals.take()) await wake(id)
      await lookAround()
      const served = LANES.filter((lane) => !deps.unserved.has(lane) || stranded.has(lane))
      return allOf(served.map((lane) => claimIn(lane, workerId, inHand)))
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

/** What was taken is ours, whatever became of the others. */
async function allOf(taking: readonly Promise<RunRow[]>[]): Promise<RunRow[]> {
  const settled = await Promise.allSettled(taking)
  const taken = settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const failed = settled.find((one) => one.status === 'rejected')
  if (failed && taken.length === 0) throw failed.reason
  return taken
}
