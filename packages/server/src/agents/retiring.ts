import type { Ending } from '../access/endings.ts'
import { type Author, bySystem, type EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Db, Tx } from '../schema.ts'
import * as store from './store.ts'
import * as tokenStore from './token-store.ts'

/** Why an agent ended that no person has revoked. */
type EndReason = 'idle' | 'refresh_token_reused' | 'given_back' | 'claimer_left' | 'organization_deleted'

/** Short transactions: each ends what one agent has handed out. */
const IDLE_TOGETHER = 100

export type Retiring = ReturnType<typeof createRetiring>

/** The end of an agent: of every credential it has, and with it of all that it has handed out. */
export function createRetiring({
  database,
  events,
  ending,
  clock,
}: {
  database: Database
  events: EventsService
  ending: Ending
  clock: Clock
}) {
  /** Once; whoever comes later changes nothing. */
  async function endIn(tx: Tx, author: Author, registrationId: string, reason?: EndReason): Promise<void> {
    const ended = await store.revoke(tx, registrationId, clock())
    if (!ended) return
    await ending.endIn(tx, author, { orgId: ended.org_id, actorId: registrationId })
    await events.append(tx, {
      ...author,
      scope: orgScope(ended.org_id),
      type: 'agent.revoked',
      subject: registrationId,
      payload: { ...(ended.agent_name !== null && { name: ended.agent_name }), ...(reason && { reason }) },
    })
  }

  return {
    endIn,

    /** Agents that a person has claimed and that have not ended. */
    listClaimedBy: (q: Db, userId: string): Promise<{ id: string; orgId: string }[]> =>
      store.listLiveClaimedBy(q, userId),

    /** Ends the agents that have not come back for too long. */
    async endIdle(signal: AbortSignal): Promise<void> {
      for (const { id } of await store.listIdle(database.db, clock(), IDLE_TOGETHER)) {
        if (signal.aborted) return
        await database.transact(async (tx) => {
          // It may have come back in the meantime.
          const current = await tokenStore.lockRegistration(tx, id)
          if (current?.ends_at && current.ends_at <= clock()) await endIn(tx, bySystem, id, 'idle')
        })
      }
    },
  }
}
