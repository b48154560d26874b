import type { Ending } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import * as store from './store.ts'

/** Invites end with whoever made them, and so do the clones taken from them. */
export const createInviteEnding = ({
  events,
  tokens,
  clock,
}: {
  events: EventsService
  tokens: Ending
  clock: Clock
}): Ending => ({
  async endIn(tx, author, { orgId, actorId: creatorId }) {
    for (const { id, repo_id } of await store.revokeCreatedBy(tx, { orgId, creatorId, now: clock() }))
      await events.append(tx, { ...author, scope: repoScope(repo_id), type: 'invite.revoked', subject: id })
    for (const { id } of await store.listRevealedBy(tx, { orgId, creatorId }))
      await tokens.endIn(tx, author, { orgId, actorId: id })
  },
})
