import { periodic } from '../background/periodic.ts'
import type { Work } from '../background/work.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import * as store from './store.ts'

const WRITE_EVERY_MS = 5_000

export interface KeyUsage {
  note(keyId: string): void
  /** Writes down what was noted since the last time. */
  write(): Promise<void>
  work: Work
}

/** Notes when keys were last used, and writes it down every few seconds rather than at every request. */
export function createKeyUsage({ database, clock }: { database: Database; clock: Clock }): KeyUsage {
  let used = new Map<string, number>()

  async function write(): Promise<void> {
    if (used.size === 0) return
    const batch = used
    // A note that is lost with a failure does no harm: the next use makes another.
    used = new Map()
    await database.transact(async (tx) => {
      for (const [id, at] of batch) await store.updateKey(tx, id, { last_used_at: at })
    })
  }

  return {
    note: (keyId) => void used.set(keyId, clock()),
    write,
    work: periodic({ name: 'key usage', everyMs: WRITE_EVERY_MS, where: 'each process', run: write }),
  }
}
