import { setImmediate } from 'node:timers/promises'
import type { EventsService } from '../events/service.ts'
import { runScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import type { KeptRoom } from './kept-room.ts'
import * as kept from './kept-store.ts'
import * as queues from './queue-store.ts'
import * as store from './store.ts'
import type { Transitions } from './transitions.ts'

interface RetentionDeps {
  database: Database
  events: Pick<EventsService, 'removeSomeIn'>
  transitions: Pick<Transitions, 'removeIn'>
  clock: Clock
  retentionMs: number
  keptRoom: KeptRoom
}

/** Short transactions: writers are waiting. */
const BATCH = 500
const AT_ONCE = 100
/** How much of what it may keep an organization is left with: or the next run would be one too many again. */
const LEFT = 0.9

/** Removes runs that ended long ago, and the oldest of organizations that keep too much. */
export function createRetention(deps: RetentionDeps) {
  const { database, events, transitions, clock, retentionMs, keptRoom } = deps

  /** Its log first: a run that is half gone can still be found. */
  async function remove({ id, org_id }: store.Removable): Promise<void> {
    for (let more = true; more; ) {
      more = (await database.transact((tx) => events.removeSomeIn(tx, runScope(id), BATCH))) === BATCH
      // SQLite answers at once: without this nothing else would get its turn.
      await setImmediate()
    }
    await database.transact(async (tx) => {
      if (await transitions.removeIn(tx, id)) await queues.deleteIdleQueues(tx, org_id)
    })
  }

  async function pruneOrg(orgId: string, signal: AbortSignal): Promise<void> {
    const { isProvisional, keptBytes } = await kept.findKeeper(database.db, orgId)
    const most = keptRoom.mostOf(isProvisional)
    if (keptBytes <= most) return
    let surplus = keptBytes - most * LEFT
    while (surplus > 0 && !signal.aborted) {
      const oldest = await store.listOldestEnded(database.db, orgId, AT_ONCE)
      if (oldest.length === 0) return
      for (const run of oldest) {
        if (surplus <= 0 || signal.aborted) return
        await remove(run)
        surplus -= run.bytes
      }
    }
  }

  return {
    /** Of an organization that has come to keep too much. */
    pruneOrg,

    pruneAll,
  }

  async function pruneAll(signal: AbortSignal): Promise<void> {
    for (let more = true; more && !signal.aborted; ) {
      const old = await store.listEndedBefore(database.db, clock() - retentionMs, AT_ONCE)
      for (const run of old) if (!signal.aborted) await remove(run)
      more = old.length === AT_ONCE
    }
    for (const orgId of await kept.listOverfull(database.db, keptRoom.most, AT_ONCE))
      await pruneOrg(orgId, signal)
  }
}
