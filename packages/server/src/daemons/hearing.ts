import type { NumberedEvent } from '@trellis/contract'
import { createHearings, type Hears } from '../events/hearing.ts'
import type { Subscriber } from '../events/service.ts'
import { repoIdOf } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import { createPausesInTransaction } from '../platform/pauses.ts'
import type { Waking } from '../runs/waking.ts'
import type { Database } from '../schema.ts'
import { createSettling } from './settling.ts'
import * as store from './store.ts'

/** Events that a daemon is to be told of. */
interface Heard {
  /** The first of them. */
  from: number
  count: number
}

/**
 * Hears of events in their transaction: those that daemons wait for are counted, and the wakes whose runs have ended are
 * settled. The events themselves stay where they are: a daemon knows from where on it has not read the log.
 */
export function createDaemonHearing({
  database,
  clock,
  waking,
  wake,
}: {
  database: Database
  clock: Clock
  waking: Pick<Waking, 'findEnd'>
  /** Something may be due. */
  wake(): void
}): Subscriber {
  const newHearing = createHearings()
  const { settleIn } = createSettling({ clock, waking })

  return async (tx, scope, events, log) => {
    const repoId = repoIdOf(scope)
    if (!repoId) return
    if (events.some(({ type }) => type === 'repo.deleted')) return store.deleteOf(tx, repoId)
    const listening = await store.listListening(tx, { repoId })
    const heard = await heardBy(
      listening.flatMap(({ event_types }) => event_types ?? []),
      events,
      newHearing(),
    )
    for (const [types, { from, count }] of heard)
      await store.addPending(tx, { repoId, types, from, count, now: clock() })
    const isAnySettled = await settleIn(tx, log, events)
    if (heard.size > 0 || isAnySettled) database.afterCommit(tx, wake)
  }
}

async function heardBy(
  listening: readonly string[],
  events: readonly NumberedEvent[],
  hears: Hears,
): Promise<Map<string, Heard>> {
  const heard = new Map<string, Heard>()
  const pause = createPausesInTransaction()
  for (const event of events) {
    // What tells that a run was not to be must not ask for another.
    if (event.type === 'run.rejected') continue
    for (const types of listening) {
      await pause()
      if (!hears(subscriptionOf(types), event)) continue
      const so = heard.get(types)
      if (so) so.count++
      else heard.set(types, { from: event.seq, count: 1 })
    }
  }
  return heard
}

const subscriptionOf = (types: string): string => `{"event":{"types":${types}}}`
