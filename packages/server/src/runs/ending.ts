import type { Ending } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import { createPauses } from '../platform/pauses.ts'
import * as store from './store.ts'
import type { Transitions } from './transitions.ts'

/** What somebody asked for ends with their access: it would go on in their name. */
export const createRunEnding = ({
  events,
  transitions,
}: {
  events: EventsService
  transitions: Pick<Transitions, 'cancelIn'>
}): Ending => ({
  async endIn(tx, _author, { orgId, actorId }) {
    const pause = createPauses()
    for (const id of await store.listAskedForBy(tx, { orgId, actorId })) {
      await transitions.cancelIn(tx, events, id)
      await pause()
    }
  },
})
