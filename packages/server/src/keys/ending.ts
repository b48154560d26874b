import type { CredentialEnding, Ending } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import { told } from './service.ts'
import * as store from './store.ts'

/** A person's keys end with their membership. */
export const createKeyEnding = ({
  events,
  credentialEnding,
}: {
  events: EventsService
  credentialEnding: CredentialEnding
}): Ending => ({
  async endIn(tx, author, { orgId, actorId }) {
    const keys = await store.deleteKeysOf(tx, { orgId, userId: actorId })
    for (const key of keys) await events.append(tx, { ...told(author, key), type: 'key.revoked' })
    // Also where a key followed them to.
    await credentialEnding.endIn(
      tx,
      { actorId },
      keys.map(({ id }) => id),
    )
  },
})
