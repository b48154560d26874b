import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import * as store from './store.ts'

const WRITE_EVERY_MS = 5_000

export type KeyUsage = ReturnType<typeof createKeyUsage>

/** Notes when keys were last used, and writes it down every few seconds rather than at every request. */
export function createKeyUsage({ database, clock }: { database: Database; clock: Clock }) {
  let used = new Map<string, number>()

  async function write(): Promise<void> {
    if (used.size === 0) return
    const batch = used
    used = new Map()
    await database.transact(async (tx) => {
      for (const [id, at] of batch) await store.updateKey(tx, id, { last_used_at: at })
    })
  }

  // A lost note is no harm: the next use makes another.
  const tryWrite = () => write().catch(() => {})
  const timer = setInterval(tryWrite, WRITE_EVERY_MS).unref()

  return {
    note(keyId: string): void {
      used.set(keyId, clock())
    },
    write,
    async stop(): Promise<void> {
      clearInterval(timer)
      await tryWrite()
    },
  }
}
