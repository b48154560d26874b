import type { Desk, Place } from '../background/desk.ts'
import type { Appending } from '../events/service.ts'
import type { Database, Tx } from '../schema.ts'
import { type Lanes, laneOf } from './lanes.ts'
import * as queues from './queue-store.ts'
import type { RunRow } from './store.ts'
import { type Taking, TooMany } from './taking.ts'
import type { NewRun, Transitions } from './transitions.ts'

interface BeginningDeps {
  database: Database
  events: Appending
  transitions: Pick<Transitions, 'queueIn' | 'queueTakenIn'>
  taking: Taking
  lanes: Lanes
  desk: Desk<RunRow>
}

export type Beginning = ReturnType<typeof createBeginning>

/**
 * Queues a run that somebody waits for. Where it would be taken out of its queue at once, it is never in it: to
 * look for it, and to write that it was found, took longer than the run.
 */
export function createBeginning({ database, events, transitions, taking, lanes, desk }: BeginningDeps) {
  /** Only of places that nobody has to be asked about, and not for those who have to share few of them. */
  function reserveFor({ target, repo }: NewRun): Place<RunRow> | undefined {
    if (repo.isProvisional) return undefined
    const lane = laneOf(target.runtime)
    const { places, forFirst } = lanes[lane]
    return desk.reserve((inHand, promised) => {
      const held = inHand.filter((run) => run.lane === lane).length
      return places - held - promised > forFirst
    })
  }

  async function queueIn(tx: Tx, run: NewRun, place: Place<RunRow> | undefined) {
    const lane = laneOf(run.target.runtime)
    const before = place && (await queues.findQueue(tx, { orgId: run.repo.orgId, lane }))
    const isNext = !before || (before.ready === 0 && before.running < lanes[lane].perOrg)
    if (place && isNext) {
      const { queued, taken } = await transitions.queueTakenIn(tx, events, run, place.workerId)
      await taking.countIn(tx, { org_id: run.repo.orgId, lane, provisional: 0 }, 1)
      return { queued, taken: [taken] }
    }
    const [queued] = await transitions.queueIn(tx, events, [run])
    if (!queued) throw new Error('a run was queued and is not there')
    return { queued, taken: [] }
  }

  return {
    /** As it is while it waits, even if it does so no more. `requireRoom` throws where there is none. */
    async queue(run: NewRun, requireRoom: (tx: Tx) => Promise<void>): Promise<RunRow> {
      const place = reserveFor(run)
      const write = (by: Place<RunRow> | undefined) =>
        database.transact(async (tx) => {
          await requireRoom(tx)
          return queueIn(tx, run, by)
        })
      let taken: readonly RunRow[] = []
      try {
        const written = await write(place).catch((error: unknown) => {
          if (error instanceof TooMany) return write(undefined)
          throw error
        })
        taken = written.taken
        return written.queued
      } finally {
        place?.fill(taken)
      }
    },
  }
}
