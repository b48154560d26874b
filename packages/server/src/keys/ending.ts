import type { Ending } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import { told } from './service.ts'
import * as store from './store.ts'

/** A person's keys end with their membership. */
export const createKeyEnding = ({ events }: { events: EventsService }): Ending => ({
  async endIn(tx, author, { orgId, actorId }) {
    for (const key of await store.deleteKeysOf(tx, { orgId, userId: actorId }))
      await events.append(tx, { ...told(author, key), type: 'key.revoked' })
  },
})
