import { periodic } from '../background/periodic.ts'
import type { Work } from '../background/work.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import * as tokenStore from './token-store.ts'

const WRITE_EVERY_MS = 5_000
/** In one statement. */
const TOGETHER = 500

export interface AgentUsage {
  /** Somebody has come with an access token. */
  note(tokenId: string): void
  work: Work
}

/** Notes which access tokens were used: with that their agent has shown that it got the answer they were in. */
export function createAgentUsage({ database, clock }: { database: Database; clock: Clock }): AgentUsage {
  let used = new Set<string>()

  async function write(): Promise<void> {
    if (used.size === 0) return
    const batch = [...used]
    // A note that is lost with a failure does no harm: the next use makes another.
    used = new Set()
    for (let i = 0; i < batch.length; i += TOGETHER)
      await database.transact((tx) => tokenStore.noteUsed(tx, batch.slice(i, i + TOGETHER), clock()))
  }

  return {
    note: (tokenId) => void used.add(tokenId),
    work: periodic({ name: 'agent usage', everyMs: WRITE_EVERY_MS, where: 'each process', run: write }),
  }
}
