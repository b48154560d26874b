import type { Ending } from '../access/endings.ts'
import type { Retiring } from './retiring.ts'
import * as store from './store.ts'

/** Agents end with the membership of whoever claimed them: otherwise they would still be in through their agent. */
export const createAgentEnding = (retiring: Retiring): Ending => ({
  async endIn(tx, author, { orgId, actorId: userId }) {
    for (const { id } of await store.listLiveClaimedIn(tx, { orgId, userId }))
      await retiring.endIn(tx, author, id, 'claimer_left')
  },
})
