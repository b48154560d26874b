import { type MovedRef, SortedRefs } from '../git/protocol/sorted-refs.ts'
import { createRecent } from '../platform/recent.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Db, Tx } from '../schema.ts'
import * as refStore from './ref-store.ts'

/** All refs of a repository as of a version, or of a later one. */
interface KnownRefs {
  version: number
  refs: SortedRefs
}

interface Entry extends KnownRefs {
  /** The moves that led here, the last of all of them. */
  steps: readonly { version: number; moved: readonly MovedRef[] }[]
}

interface Moves {
  moved: readonly MovedRef[]
  /** How many more there are then, or fewer. */
  added: number
  /** How many there were before, if that was counted. */
  counted?: number | undefined
}

/** Refs that are kept in memory, over all repositories; one without any takes some room too. */
const CACHED_REFS = 500_000
const CACHED_REPOSITORIES = 100_000
/** Of moves that are kept for a repository. */
const KEPT_STEPS = 100
/** Whoever moves more at once has them read anew. */
const MOST_MOVED = 100

export type RefLists = ReturnType<typeof createRefLists>

/**
 * The refs of repositories, in memory. Polling is most of what clients do, so they are read from the database once, and
 * when this process has moved some, only these change.
 */
export function createRefLists({ db }: { db: Db }) {
  const entries = createRecent<string, Entry>({
    maxEntries: CACHED_REPOSITORIES,
    weight: { of: ({ refs }) => refs.length, max: CACHED_REFS },
  })
  /** How many there are, also where nobody asks which: to count many takes longer than to make one more. */
  const counts = createRecent<string, { version: number; count: number }>({ maxEntries: CACHED_REPOSITORIES })

  /** Those of a later version may be given too: whoever asks has read the row a while ago. */
  function recall(repo: RepoRow): KnownRefs | undefined {
    const known = entries.get(repo.id)
    return known && known.version >= repo.refs_version ? known : undefined
  }

  return {
    /** At once, if they are in memory. */
    recall,

    async of(repo: RepoRow): Promise<KnownRefs> {
      const known = recall(repo)
      if (known) return known
      const refs = SortedRefs.of(await refStore.listRefs(db, repo.id))
      const read = { version: repo.refs_version, refs, steps: [] }
      entries.set(repo.id, read)
      return read
    },

    /** Call it when the transaction is over that counted this version. */
    noteMoved(repoId: string, version: number, { moved, added, counted }: Moves): void {
      const last = counts.get(repoId)
      const before = last?.version === version - 1 ? last.count : counted
      if (before !== undefined) counts.set(repoId, { version, count: before + added })
      const known = entries.get(repoId)
      // What has been read meanwhile may have some of these moves already; none of it is older than they are.
      if (known?.version !== version - 1 || moved.length > MOST_MOVED) return
      const steps = [...known.steps, { version, moved }].slice(-KEPT_STEPS)
      entries.set(repoId, { version, refs: known.refs.with(moved), steps })
    },

    /** What has moved since then; undefined when that is not known any more. */
    movedSince(repoId: string, { from, to }: { from: number; to: number }): MovedRef[] | undefined {
      const steps = entries.get(repoId)?.steps.filter(({ version }) => version > from && version <= to)
      return steps?.length === to - from ? steps.flatMap(({ moved }) => moved) : undefined
    },

    /** How many there are in a repository that is locked, whose last version is this. */
    async countIn(tx: Tx, repoId: string, version: number): Promise<number> {
      const known = entries.get(repoId)
      if (known?.version === version) return known.refs.length
      const counted = counts.get(repoId)
      return counted?.version === version ? counted.count : refStore.countRefs(tx, repoId)
    },
  }
}
