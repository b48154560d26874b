import type { Clock } from '../platform/clock.ts'
import type { Database, Db } from '../schema.ts'
import type { DeclaredWebhooks } from '../webhooks/declared.ts'
import type { BundleFiles } from './bundle-files.ts'
import * as store from './store.ts'

const UNUSED_MS = 30 * 24 * 60 * 60_000
const BATCH = 50
/** A bundle is stored before the row that refers to it. */
const YOUNG_MS = 5 * 60_000

/** Those of the modules that somebody else still needs. */
export type ModulesInUse = (db: Db, hashes: readonly string[]) => Promise<string[]>

/** Forgets builds that nobody asks for any more, or that there are too many of, and then the bundles of none. */
export async function pruneBuilds(
  {
    database,
    bundles,
    clock,
    maxBytes,
    declaredWebhooks,
    modulesInUse,
  }: {
    database: Database
    bundles: BundleFiles
    clock: Clock
    maxBytes: number
    declaredWebhooks: DeclaredWebhooks
    modulesInUse: ModulesInUse
  },
  signal: AbortSignal,
): Promise<void> {
  const forget = (before: number) => database.transact((tx) => store.deleteOldBuilds(tx, before, BATCH))
  while (!signal.aborted && (await forget(clock() - UNUSED_MS)) > 0);
  while (!signal.aborted && (await store.sumBuilds(database.db)) > maxBytes) {
    const usedAt = await store.findUseOfNth(database.db, BATCH)
    if ((await forget((usedAt ?? clock()) + 1)) === 0) break
  }
  for await (const hashes of bundles.listOlderThan(Date.now() - YOUNG_MS)) {
    if (signal.aborted) return
    const used = await store.listUsedModules(database.db, hashes)
    for (const hash of await declaredWebhooks.modulesAmong(hashes)) used.add(hash)
    for (const hash of await modulesInUse(database.db, hashes)) used.add(hash)
    for (const hash of hashes) if (!used.has(hash)) await bundles.remove(hash)
  }
}
