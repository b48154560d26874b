import { PackMissing, type PackStore } from '../git/packs/pack-store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../schema.ts'
import * as healthStore from './health-store.ts'
import type { PackHealth } from './pack-health.ts'

interface ScrubDeps {
  database: Database
  packs: PackStore
  health: PackHealth
  clock: Clock
  log: Log
}

/** Slow on purpose: a disk that reads 150 MB in a second is busy with this for two seconds of a minute. */
const BYTES_A_TURN = 256 * 1024 * 1024
const PACKS_A_TURN = 1_000
const REST_MS = 5
/** What has been read is left alone for so long. */
const READ_EVERY_MS = 7 * 24 * 60 * 60_000

/**
 * Reads packs again and compares, those first whose last check is longest ago: what a turn has not reached is the first
 * of the next, whoever takes it. Packs that are known to be damaged are looked at every time, so that what was put right
 * is served again.
 */
export const createScrub = ({ database, packs, health, clock, log }: ScrubDeps) =>
  async function scrub(signal: AbortSignal): Promise<void> {
    const known = await healthStore.listDamaged(database.db, PACKS_A_TURN)
    const due = await healthStore.listDue(database.db, {
      before: clock() - READ_EVERY_MS,
      limit: PACKS_A_TURN,
    })
    let bytes = 0
    for (const pack of [...known, ...due.filter(({ damage }) => damage === null)]) {
      if (signal.aborted || bytes > BYTES_A_TURN) return
      bytes += pack.bytes
      try {
        await health.record(pack, await packs.examine(pack, { signal, restMs: REST_MS }))
      } catch (error) {
        if (signal.aborted) return
        // Perhaps this process looks in the wrong place, so nothing is said to the others: the survey tells of it.
        if (!(error instanceof PackMissing)) log.error('a pack could not be read', { pack: pack.id, error })
        // The next turn must get further all the same.
        await health.record(pack, pack.damage ?? undefined)
      }
    }
  }
