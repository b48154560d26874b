import { type Caller, requireThawed } from '../access/caller.ts'
import { type Author, by, bySystem, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { PackStore } from '../git/packs/pack-store.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { Log } from '../platform/log.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import * as abandoned from './abandoned-tips.ts'
import { Outrun } from './outrun.ts'
import type { Reach, Reachability } from './reachability.ts'
import type { Repositories } from './repositories.ts'
import * as store from './store.ts'

interface PruningDeps {
  database: Database
  events: EventsService
  repos: ReposService
  repositories: Repositories
  withReach: Reachability
  packs: PackStore
  clock: Clock
  log: Log
  /** How long what a ref has left can be had back by its id. */
  graceMs: number
}

/** All of a repository is written anew: not for less than this part of it. */
const WORTHWHILE = 0.1
const REPOS_A_RUN = 100
const ATTEMPTS = 3

interface Prune {
  repo: RepoRow
  /** What refs left until then goes. */
  leftUntil: number
  isWorthIt(reach: Reach): boolean
  author: Author
  signal: AbortSignal
}

export type PruningService = ReturnType<typeof createPruningService>

/** Takes away what no ref leads to any more, so that deleting frees space. */
export function createPruningService(deps: PruningDeps) {
  const { database, events, repos, repositories, withReach, packs, clock, log, graceMs } = deps

  /** Gives the size it has then. Throws Outrun when somebody pushed meanwhile: then nothing has changed. */
  async function prune({ repo, leftUntil, isWorthIt, author, signal }: Prune): Promise<number> {
    const refs = await repositories.refs(repo)
    const wantedBack = await abandoned.listAfter(database.db, repo.id, leftUntil)
    const tips = [...new Set([...refs.map(({ oid }) => oid), ...wantedBack])]
    return withReach({ repo, tips, signal }, async (reach) => {
      if (reach.isAll || !isWorthIt(reach)) {
        await database.transact((tx) => abandoned.forget(tx, repo.id, leftUntil))
        return repo.size_bytes
      }
      const pack = await reach.pack()
      const replaced = database.transact(async (tx) => {
        const current = await repos.lockToResizeIn(tx, repo)
        // A ref that moved may lead to what is left out here.
        if (current?.refs_version !== repo.refs_version) throw new Outrun()
        if (!(await store.replacePacks(tx, repo.id, { folded: reach.packIds, pack, now: clock() })))
          throw new Outrun()
        const sizeBytes = pack?.bytes ?? 0
        await repos.setSizeIn(tx, current, sizeBytes)
        await repos.countPruneIn(tx, repo.id)
        await abandoned.forget(tx, repo.id, leftUntil)
        await events.append(tx, {
          ...author,
          scope: repoScope(repo.id),
          type: 'repo.purged',
          subject: current.name,
          payload: { freedBytes: freed(current.size_bytes, sizeBytes), sizeBytes },
        })
        return sizeBytes
      })
      return replaced.catch(async (error: unknown) => {
        if (error instanceof Outrun && pack) await packs.remove(pack.packId)
        throw error
      })
    })
  }

  return {
    /** Removes what nothing reaches now, whether or not somebody may want it back. */
    async purge(
      caller: Caller,
      { name }: { name: string },
      signal: AbortSignal,
    ): Promise<{ freedBytes: number; sizeBytes: number }> {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const repo = await repos.open(caller, name, 'repo:admin')
        requireThawed(caller)
        try {
          const asked = { leftUntil: Number.MAX_SAFE_INTEGER, isWorthIt: () => true, author: by(caller) }
          const sizeBytes = await prune({ repo, ...asked, signal })
          return { freedBytes: freed(repo.size_bytes, sizeBytes), sizeBytes }
        } catch (error) {
          if (!(error instanceof Outrun)) throw error
        }
      }
      throw new Fault('REPO_WORKSPACE_REQUIRED', { name }, { message: tooBusy })
    },

    /** Goes through the repositories whose refs left something longer ago than the grace. */
    async pruneAbandoned(signal: AbortSignal): Promise<void> {
      const leftUntil = clock() - graceMs
      for (const id of await abandoned.listRepos(database.db, leftUntil, REPOS_A_RUN)) {
        if (signal.aborted) return
        const repo = await repos.find(id)
        if (!repo) continue
        const isWorthIt = ({ wasted }: Reach) => wasted >= WORTHWHILE
        await prune({ repo, leftUntil, isWorthIt, author: bySystem, signal }).catch((error: unknown) => {
          // One that is busy, or damaged, keeps nobody else waiting.
          if (!signal.aborted) log.warn('a repository could not be pruned', { repo: id, error })
        })
      }
    },
  }
}

const tooBusy = 'The repository is being pushed to all the time: purge it when it is quieter'

const freed = (before: number, after: number): number => Math.max(0, before - after)
