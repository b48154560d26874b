import type { Db } from '../schema.ts'
import { type KeptRoom, PROVISIONAL_SHARE } from './kept-room.ts'
import { countProposals } from './proposal-store.ts'
import * as queues from './queue-store.ts'

/** What a run is given is kept with it. */
export const MAX_INPUT_BYTES = 1024 * 1024

export type QueueRoom = ReturnType<typeof createQueueRoom>

/**
 * How many runs may still wait; none where those that have not ended keep more than may be. Looked at without a lock: those
 * who come at once may be a few too many.
 */
export const createQueueRoom = ({
  queuedPerOrg,
  keptRoom,
}: {
  queuedPerOrg: number
  keptRoom: KeptRoom
}) => ({
  async findIn(q: Db, { orgId, isProvisional }: { orgId: string; isProvisional: boolean }): Promise<number> {
    const most = isProvisional ? Math.max(1, Math.floor(queuedPerOrg * PROVISIONAL_SHARE)) : queuedPerOrg
    const { ready, keptBytes } = await queues.countInAll(q, orgId)
    if (await keptRoom.isTakenUp(q, { orgId, isProvisional, keptBytes })) return 0
    return Math.max(0, most - ready - (await countProposals(q, orgId)))
  },
})
