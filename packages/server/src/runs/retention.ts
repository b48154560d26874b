import { setImmediate } from 'node:timers/promises'
import type { EventsService } from '../events/service.ts'
import { runScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import * as queues from './queue-store.ts'
import * as store from './store.ts'
import type { Transitions } from './transitions.ts'

interface RetentionDeps {
  database: Database
  events: Pick<EventsService, 'removeSomeIn'>
  transitions: Pick<Transitions, 'removeIn'>
  clock: Clock
  retentionMs: number
  maxKeptBytes: number
}

/** Short transactions: writers are waiting. */
const BATCH = 500
const AT_ONCE = 100
/** How much of what it may keep an organization is left with: or the next run would be one too many again. */
const LEFT = 0.9

/** Removes runs that ended long ago, and the oldest of organizations that keep too much. */
export function createRetention(deps: RetentionDeps) {
  const { database, events, transitions, clock, retentionMs, maxKeptBytes } = deps

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

  async function removeOldest(
    { org_id, kept_bytes }: { org_id: string; kept_bytes: number },
    signal: AbortSignal,
  ): Promise<void> {
    let surplus = kept_bytes - maxKeptBytes * LEFT
    while (surplus > 0 && !signal.aborted) {
      const oldest = await store.listOldestEnded(database.db, org_id, AT_ONCE)
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
    async pruneOrg(orgId: string, signal: AbortSignal): Promise<void> {
      const kept_bytes = await queues.sumKept(database.db, orgId)
      if (kept_bytes > maxKeptBytes) await removeOldest({ org_id: orgId, kept_bytes }, signal)
    },

    pruneAll,
  }

  async function pruneAll(signal: AbortSignal): Promise<void> {
    for (let more = true; more && !signal.aborted; ) {
      const old = await store.listEndedBefore(database.db, clock() - retentionMs, AT_ONCE)
      for (const run of old) if (!signal.aborted) await remove(run)
      more = old.length === AT_ONCE
    }
    for (const queue of await queues.listOverfull(database.db, maxKeptBytes, AT_ONCE))
      await removeOldest(queue, signal)
  }
}
