import type { Ending } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import type { Clock } from '../platform/clock.ts'
import { told } from './service.ts'
import * as store from './store.ts'

/** Tokens end with whoever minted them. */
export const createTokenEnding = ({ events, clock }: { events: EventsService; clock: Clock }): Ending => ({
  async endIn(tx, author, { orgId, actorId }) {
    for (const token of await store.revokeTokensMintedBy(tx, { orgId, actorId, now: clock() }))
      await events.append(tx, { ...told(author, token), type: 'token.revoked' })
  },
})
