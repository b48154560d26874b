import type { CredentialEnding, Ending } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import type { Clock } from '../platform/clock.ts'
import { told } from './service.ts'
import * as store from './store.ts'

/** Tokens end with whoever minted them. */
export const createTokenEnding = ({
  events,
  credentialEnding,
  clock,
}: {
  events: EventsService
  credentialEnding: CredentialEnding
  clock: Clock
}): Ending => ({
  async endIn(tx, author, { orgId, actorId }) {
    const tokens = await store.revokeTokensMintedBy(tx, { orgId, actorId, now: clock() })
    for (const token of tokens) await events.append(tx, { ...told(author, token), type: 'token.revoked' })
    await credentialEnding.endIn(
      tx,
      { orgId, actorId },
      tokens.map(({ id }) => id),
    )
  },
})
