import type { Ending } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import type { Clock } from '../platform/clock.ts'
import { createPausesInTransaction } from '../platform/pauses.ts'
import type { Database } from '../schema.ts'
import * as cancels from './cancel-store.ts'
import type { Transitions } from './transitions.ts'

const AT_ONCE = 100

/**
 * What somebody asked for ends with their access: it would go on in their name. All of it is marked in the transaction that
 * ends that, and from then on nothing of it begins; then it ends, run by run.
 */
export const createRunEnding = ({
  database,
  clock,
  onMarked,
}: {
  database: Database
  clock: Clock
  /** The key of whose runs are to end. */
  onMarked(key: string): void
}): Ending => ({
  async endIn(tx, _author, who) {
    const pause = createPausesInTransaction()
    const now = clock()
    while ((await cancels.requestCancels(tx, database.dialect, { ...who, now, limit: AT_ONCE })) === AT_ONCE)
      await pause()
    database.afterCommit(tx, () => onMarked(keyOf(who)))
  },
})

interface Who {
  orgId: string
  actorId: string
}

const keyOf = ({ orgId, actorId }: Who) => `${orgId} ${actorId}`

/** Ends what was marked and nobody runs; those who run something find the mark. After a crash it ends in its turn. */
export const createEndMarked =
  ({
    database,
    events,
    transitions,
  }: {
    database: Database
    events: EventsService
    transitions: Pick<Transitions, 'cancelIn'>
  }) =>
  async (key: string, signal: AbortSignal): Promise<void> => {
    const [orgId = '', actorId = ''] = key.split(' ')
    let after = ''
    while (!signal.aborted) {
      const ids = await cancels.listMarkedOf(database.db, { orgId, actorId, after, limit: AT_ONCE })
      for (const id of ids) await database.transact((tx) => transitions.cancelIn(tx, events, id))
      after = ids.at(-1) ?? ''
      if (ids.length < AT_ONCE) return
    }
  }
