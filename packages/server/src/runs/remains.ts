import type { EventsService } from '../events/service.ts'
import { runScope } from '../events/types.ts'
import type { ModulesInUse } from '../extensions/pruning.ts'
import type { RemoveSome } from '../repos/remains.ts'
import { deleteProposals } from './proposal-store.ts'
import * as queues from './queue-store.ts'
import * as store from './store.ts'
import type { Transitions } from './transitions.ts'
import * as triggers from './trigger-store.ts'

/** What runs keep of a repository: each with its log, a little at a time. */
export const createRunRemains = ({
  events,
  transitions,
}: {
  events: Pick<EventsService, 'removeSomeIn'>
  transitions: Pick<Transitions, 'removeIn'>
}): readonly RemoveSome[] => [
  async (tx, repoId, limit) => {
    for (let left = limit; left > 0; ) {
      const run = await store.findRunOf(tx, repoId)
      if (!run) return 0
      const removed = await events.removeSomeIn(tx, runScope(run.id), left)
      if (removed < left && (await transitions.removeIn(tx, run.id)))
        await queues.deleteIdleQueues(tx, run.org_id)
      left -= removed + 1
    }
    return limit
  },
]

export const triggerRemains: readonly RemoveSome[] = [
  async (tx, repoId) => {
    await triggers.deleteTriggers(tx, repoId)
    await deleteProposals(tx, repoId)
    return 0
  },
]

/** Modules that are still to be run, whatever is canonical by then. */
export const listModulesInUse: ModulesInUse = (db, hashes) => store.listUnended(db, hashes)
