import type { Db } from '../schema.ts'
import { countProposals } from './proposal-store.ts'
import * as queues from './queue-store.ts'

/** What a run is given is kept with it. */
export const MAX_INPUT_BYTES = 1024 * 1024

/** Organizations that cost nothing to make may have so much less waiting. */
const PROVISIONAL_SHARE = 1 / 10

export type QueueRoom = ReturnType<typeof createQueueRoom>

/** How many runs may still wait. Looked at without a lock: those who come at once may be a few too many. */
export const createQueueRoom = ({ queuedPerOrg }: { queuedPerOrg: number }) => ({
  async findIn(q: Db, { orgId, isProvisional }: { orgId: string; isProvisional: boolean }): Promise<number> {
    const most = isProvisional ? Math.max(1, Math.floor(queuedPerOrg * PROVISIONAL_SHARE)) : queuedPerOrg
    return Math.max(0, most - (await queues.countReady(q, orgId)) - (await countProposals(q, orgId)))
  },
})
