import type { Db } from '../schema.ts'
import { type KeptRoom, PROVISIONAL_SHARE } from './kept-room.ts'
import { countProposals } from './proposal-store.ts'
import * as queues from './queue-store.ts'

/** What a run is given is kept with it. */
export const MAX_INPUT_BYTES = 1024 * 1024

export type QueueRoom = ReturnType<typeof createQueueRoom>

interface QueueRoomDeps {
  queuedPerOrg: number
  /** Those that sleep among them: who leaves, or whose key is revoked, ends all of theirs in one transaction. */
  unendedPerOrg: number
  keptRoom: KeptRoom
}

/**
 * How many runs may still wait; none where those that have not ended keep more than may be. Looked at without a lock: those
 * who come at once may be a few too many.
 */
export const createQueueRoom = ({ queuedPerOrg, unendedPerOrg, keptRoom }: QueueRoomDeps) => ({
  async findIn(q: Db, { orgId, isProvisional }: { orgId: string; isProvisional: boolean }): Promise<number> {
    const most = (perOrg: number) =>
      isProvisional ? Math.max(1, Math.floor(perOrg * PROVISIONAL_SHARE)) : perOrg
    const { ready, keptBytes } = await queues.countInAll(q, orgId)
    if (await keptRoom.isTakenUp(q, { orgId, isProvisional, keptBytes })) return 0
    const proposed = await countProposals(q, orgId)
    const unended = await queues.countUnended(q, { orgId, upTo: most(unendedPerOrg) })
    return Math.max(0, Math.min(most(queuedPerOrg) - ready, most(unendedPerOrg) - unended) - proposed)
  },
})
