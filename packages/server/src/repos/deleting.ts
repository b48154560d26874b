import { type Author, bySystem, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../schema.ts'
import * as names from './name-store.ts'
import { type RemoveSome, removeRemains } from './remains.ts'
import * as store from './store.ts'

interface DeletingDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  clock: Clock
  /** What other domains keep of a repository. */
  remains: readonly RemoveSome[]
}

/** The end of repositories: first nobody sees them any more, then piece by piece they go. */
export function createDeleting({ database, events, orgs, clock, remains }: DeletingDeps) {
  /** From then on it is gone for everybody; `removeDeleted` does the rest. False when there is nothing to delete. */
  async function markDeletedIn(
    tx: Tx,
    author: Author,
    id: string,
    isStillToGo: (repo: store.RepoRow) => boolean = () => true,
  ): Promise<boolean> {
    const repo = await store.lock(tx, id)
    if (!repo || !isStillToGo(repo)) return false
    // While it still has its name: those who hear of it are told by it.
    await events.append(tx, {
      ...author,
      scope: repoScope(repo.id),
      type: 'repo.deleted',
      subject: repo.name,
      payload: { name: repo.name },
    })
    await store.markDeleted(tx, id)
    await names.forgetNames(tx, id)
    // Nor does it lead to whoever had the name before.
    await names.takeName(tx, repo)
    return true
  }

  /** Removes what belongs to a deleted repository, then the repository. Counted against its organization until then. */
  async function removeDeleted({ id, org_id }: { id: string; org_id: string }): Promise<void> {
    await removeRemains(database, remains, id)
    await database.transact(async (tx) => {
      await orgs.lockIn(tx, org_id)
      const repo = await store.removeDeleted(tx, id)
      if (repo) await orgs.subtractRepoIn(tx, org_id, repo.size_bytes)
    })
  }

  return {
    markDeletedIn,
    removeDeleted,

    /** Removes the repositories whose time is over, and what a crash has left of deleted ones. */
    async deleteExpired(signal: AbortSignal): Promise<void> {
      for (const repo of await store.listExpired(database.db, clock())) {
        if (signal.aborted) return
        // Somebody may have made it last in the meantime.
        const isOver = ({ expires_at }: store.RepoRow) => expires_at !== null && expires_at <= clock()
        await database.transact((tx) => markDeletedIn(tx, bySystem, repo.id, isOver))
        await removeDeleted(repo)
      }
    },
  }
}
