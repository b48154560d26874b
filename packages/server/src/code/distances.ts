import type { Oid } from '../git/names.ts'
import type { ObjectReader } from '../git/objects/reader.ts'
import { countApart } from '../git/objects/walk/apart.ts'
import { createRecent } from '../platform/recent.ts'

/** How many commits one has and the other has not; null where it is too far to count. */
interface Distance {
  ahead: number | null
  behind: number | null
}

/** For one answer. They are read in a few seconds when none of them is in memory, and in less than half a second when all are. */
const MAX_COMMITS = 10_000
const KNOWN = 20_000

export type Distances = ReturnType<typeof createDistances>

/** How far commits are from each other. It never changes, so it is found once. */
export function createDistances() {
  const known = createRecent<string, Distance>({ maxEntries: KNOWN })

  return {
    /** Of each tip, how it stands to the base. */
    async from(
      objects: ObjectReader,
      { base, tips }: { base: Oid; tips: readonly Oid[] },
      signal: AbortSignal,
    ): Promise<ReadonlyMap<Oid, Distance>> {
      const keyOf = (tip: Oid) => `${base} ${tip}`
      const distances = new Map<Oid, Distance>()
      for (const tip of tips) {
        const distance = known.get(keyOf(tip))
        if (distance) distances.set(tip, distance)
      }
      const unknown = tips.filter((tip) => !distances.has(tip))
      if (unknown.length === 0) return distances
      const found = await countApart(objects, { base, tips: unknown, maxCommits: MAX_COMMITS, signal })
      for (const tip of unknown) {
        const distance = found.get(tip) ?? { ahead: null, behind: null }
        known.set(keyOf(tip), distance)
        distances.set(tip, distance)
      }
      return distances
    },
  }
}
