import type { Appending } from '../events/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../schema.ts'
import { type Lanes, turnFrom } from './lanes.ts'
import * as queues from './queue-store.ts'
import type { RunRow } from './store.ts'
import type { Transitions } from './transitions.ts'

interface TakingDeps {
  database: Database
  events: Appending
  clock: Clock
  transitions: Pick<Transitions, 'startIn'>
  lanes: Lanes
}

type Queue = Pick<queues.QueueRow, 'org_id' | 'lane' | 'provisional'>

export type Taking = ReturnType<typeof createTaking>

/** Takes runs out of the queue of an organization into the hands of a worker. */
export function createTaking({ database, events, clock, transitions, lanes }: TakingDeps) {
  /** So many that waited do so no more. Throws TooMany. */
  async function countIn(tx: Tx, { org_id: orgId, lane, provisional }: Queue, count: number): Promise<void> {
    const after = await queues.changeQueue(tx, { orgId, lane, ready: -count, running: count })
    if (after.running > lanes[lane].perOrg) throw new TooMany()
    await queues.markServed(tx, {
      org_id: orgId,
      lane,
      turn_at: turnFrom(after.turn_at, clock()),
      provisional,
    })
  }

  return {
    countIn,

    /** The oldest. Throws TooMany. */
    async takeIn(
      tx: Tx,
      queue: Queue,
      { workerId, limit }: { workerId: string; limit: number },
    ): Promise<RunRow[]> {
      const { org_id: orgId, lane } = queue
      const wanted = { orgId, lane, workerId, now: clock(), limit }
      const taken = await queues.takeReady(tx, database.dialect, wanted)
      if (taken.length === 0) return []
      const started = await transitions.startIn(tx, events, taken)
      await countIn(tx, queue, started.length)
      return started
    },
  }
}

/** More of one organization would run than may: others have taken some in the same moment. */
export class TooMany extends Error {}
