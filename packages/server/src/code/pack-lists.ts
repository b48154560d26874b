import type { Stopwatch } from '../platform/clock.ts'
import { createRecent } from '../platform/recent.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Db } from '../schema.ts'
import * as store from './store.ts'

interface Listed {
  ids: readonly string[]
  states: readonly store.PackState[]
}

interface Kept extends Listed {
  readAt: number
  /** The version of the repository's refs up to which every pack that came with them is in it. */
  version: number
}

/** So long another process may have found damage that is not heard of here. */
const KEPT_MS = 10_000
/** Over all repositories, and of one: to note one more means to write down all. */
const KEPT_PACKS = 100_000
const MOST_PACKS = 1_000

/** Anew after each pruning, which takes away what was listed. */
const keyOf = ({ id, prunes }: RepoRow): string => `${id}.${prunes}`

export type PackLists = ReturnType<typeof createPackLists>

/**
 * Which packs repositories have. Every commit adds one, and reads what the last have made: to list all of them anew each
 * time took a tenth of what a commit takes.
 */
export function createPackLists({
  db,
  repos,
  stopwatch,
}: {
  db: Db
  repos: Pick<ReposService, 'find'>
  stopwatch: Stopwatch
}) {
  const kept = createRecent<string, Kept>({
    maxEntries: KEPT_PACKS,
    weight: { of: ({ ids }) => ids.length + 1, max: KEPT_PACKS },
  })

  /** As they were a moment ago, with what has landed here since. What is in none of them may be in another. */
  function lately(repo: RepoRow): Kept | undefined {
    const known = kept.get(keyOf(repo))
    return known && stopwatch() - known.readAt < KEPT_MS ? known : undefined
  }

  /** The last comes first. The row of the repository must have been read before. */
  async function read(repo: RepoRow): Promise<Listed> {
    const readAt = stopwatch()
    const states = await store.listPackStates(db, repo.id)
    const listed = { ids: states.map(({ id }) => id), states }
    if (states.length <= MOST_PACKS) kept.set(keyOf(repo), { ...listed, readAt, version: repo.refs_version })
    return listed
  }

  return {
    read,
    lately,

    /** All of them, for whoever misses something. They are listed only if something has landed that is not known here. */
    async readMissed(repo: RepoRow): Promise<Listed> {
      const current = (await repos.find(repo.id)) ?? repo
      const known = lately(current)
      return known?.version === current.refs_version ? known : read(current)
    },

    /** Call it when the transaction is over that counted this version of the repository, and may have listed a pack. */
    noteLanded(repo: RepoRow, packId: string | undefined): void {
      const key = keyOf(repo)
      const known = kept.get(key)
      if (!known) return
      // Others may have landed between.
      const version = known.version === repo.refs_version - 1 ? repo.refs_version : known.version
      if (!packId) kept.set(key, { ...known, version })
      else if (known.ids.length >= MOST_PACKS) kept.forget(key)
      else {
        const states = [{ id: packId, damage: null }, ...known.states]
        kept.set(key, { ids: [packId, ...known.ids], states, readAt: known.readAt, version })
      }
    },

    /** Some pack is not what it was said to be. */
    forgetAll: kept.clear,
  }
}
