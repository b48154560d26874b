import type { Stopwatch } from '../platform/clock.ts'
import { createRecent } from '../platform/recent.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Db } from '../schema.ts'
import * as store from './store.ts'

interface Listed {
  ids: readonly string[]
  states: readonly store.PackState[]
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
export function createPackLists({ db, stopwatch }: { db: Db; stopwatch: Stopwatch }) {
  const kept = createRecent<string, Listed & { readAt: number }>({
    maxEntries: KEPT_PACKS,
    weight: { of: ({ ids }) => ids.length + 1, max: KEPT_PACKS },
  })

  return {
    /** The last comes first. */
    async read(repo: RepoRow): Promise<Listed> {
      const readAt = stopwatch()
      const states = await store.listPackStates(db, repo.id)
      const listed = { ids: states.map(({ id }) => id), states }
      if (states.length <= MOST_PACKS) kept.set(keyOf(repo), { ...listed, readAt })
      return listed
    },

    /** As they were a moment ago, with what has landed here since. What is in none of them may be in another. */
    lately(repo: RepoRow): Listed | undefined {
      const known = kept.get(keyOf(repo))
      return known && stopwatch() - known.readAt < KEPT_MS ? known : undefined
    },

    /** Call it when the transaction is over that listed it. */
    noteAdded(repo: RepoRow, packId: string): void {
      const key = keyOf(repo)
      const known = kept.get(key)
      if (!known) return
      if (known.ids.length >= MOST_PACKS) kept.forget(key)
      else {
        const states = [{ id: packId, damage: null }, ...known.states]
        kept.set(key, { ids: [packId, ...known.ids], states, readAt: known.readAt })
      }
    },

    /** Some pack is not what it was said to be. */
    forgetAll: kept.clear,
  }
}
