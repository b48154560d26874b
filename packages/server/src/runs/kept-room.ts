import type { Db } from '../schema.ts'
import { ROW_BYTES } from './kept-bytes.ts'
import * as kept from './kept-store.ts'

/** Organizations that cost nothing to make may have so much less waiting, and keep so much less. */
export const PROVISIONAL_SHARE = 1 / 10

export type KeptRoom = ReturnType<typeof createKeptRoom>

/** How much may be kept of the runs of an organization. */
export function createKeptRoom({ keptBytesPerOrg }: { keptBytesPerOrg: number }) {
  const most = {
    provisional: Math.floor(keptBytesPerOrg * PROVISIONAL_SHARE),
    others: keptBytesPerOrg,
  }
  const mostOf = (isProvisional: boolean) => (isProvisional ? most.provisional : most.others)

  return {
    most,
    mostOf,

    /**
     * Whether runs that have not ended keep more than all may. What has ended is in nobody's way: it is removed for
     * others. Only as much of it is added up as has to go, which is little, because it goes soon.
     */
    async isTakenUp(q: Db, { orgId, isProvisional, keptBytes }: kept.Keeper): Promise<boolean> {
      const surplus = keptBytes - mostOf(isProvisional)
      if (surplus <= 0) return false
      const ended = Math.ceil(surplus / ROW_BYTES)
      return (await kept.sumWithoutOldestEnded(q, { orgId, ended })) > mostOf(isProvisional)
    },
  }
}

/** There is no room for what a run that goes on would keep. */
export class TooMuchKept extends Error {
  override readonly name = 'TooMuchKept'
  constructor(most: number) {
    super(`The runs of an organization that have not ended may keep ${most} bytes, all their steps among it`)
  }
}
