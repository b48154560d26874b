import type { Daemon, Run } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import { rejected } from '../runs/dispatching.ts'
import { presentRun } from '../runs/presenting.ts'
import type { RunsService } from '../runs/service.ts'
import type { Database, Db, Tx } from '../schema.ts'
import { listDaemons, presentDaemon } from './presenting.ts'
import { dueAfter } from './scheduling.ts'
import * as store from './store.ts'
import type { DaemonWaking } from './waking.ts'

interface DaemonsDeps {
  database: Database
  events: EventsService
  repos: ReposService
  runs: Pick<RunsService, 'get'>
  clock: Clock
  waking: DaemonWaking
  /** Something may be due. */
  wake(): void
}

interface Named {
  name: string
  daemon: string
}

export type DaemonsService = ReturnType<typeof createDaemonsService>

export function createDaemonsService(deps: DaemonsDeps) {
  const { database, events, repos, runs, clock, waking } = deps

  async function openWritable(caller: Caller, { name, daemon }: Named): Promise<RepoRow> {
    const repo = await repos.open(caller, name, 'repo:admin', (repo) => find(database.db, repo, daemon))
    repos.requireWritable(caller, repo)
    return repo
  }

  /** Nobody else changes it until the transaction ends. */
  async function findLockedIn(tx: Tx, repo: RepoRow, daemon: string): Promise<store.DaemonRow> {
    await events.lockIn(tx, repoScope(repo.id))
    return find(tx, repo, daemon)
  }

  async function find(q: Db, repo: RepoRow, daemon: string): Promise<store.DaemonRow> {
    const found = await store.findByName(q, repo.id, daemon)
    if (!found) throw new Fault('EXTENSION_NOT_FOUND', { name: repo.name, extension: daemon })
    return found
  }

  return {
    async list(caller: Caller, { name }: { name: string }): Promise<{ items: Daemon[] }> {
      const repo = await repos.open(caller, name, 'repo:read')
      return { items: await listDaemons(database.db, repo.id) }
    },

    async wake(caller: Caller, { name, daemon }: Named, signal: AbortSignal): Promise<{ run: Run }> {
      const repo = await openWritable(caller, { name, daemon })
      const place = {
        id: repo.id,
        orgId: repo.org_id,
        isProvisional: repo.expires_at !== null,
        isFrozen: false,
      }
      const woken = await waking.judged(place, (judge) =>
        database.transact(async (tx) => {
          const found = await findLockedIn(tx, repo, daemon)
          return waking.wakeNowIn(tx, found, { place, asker: by(caller), judge })
        }),
      )
      if ('reason' in woken) throw rejected(woken.reason)
      // One wake at a time: whoever asks for another is shown the one that is under way.
      if ('runId' in woken) return runs.get(caller, { id: woken.runId }, signal)
      return { run: presentRun(woken.run, repo.name) }
    },

    /** Forgets its failures. What is due then is done at once. */
    async resume(caller: Caller, { name, daemon }: Named): Promise<Daemon> {
      const repo = await openWritable(caller, { name, daemon })
      return database.transact(async (tx) => {
        const before = await findLockedIn(tx, repo, daemon)
        const now = clock()
        const after = { ...before, failures: 0, quarantined_until: null, retry_at: null, set_at: now }
        const due_at = dueAfter(after, now)
        await store.updateDaemon(tx, before.id, {
          failures: 0,
          quarantined_until: null,
          retry_at: null,
          set_at: now,
          due_at,
        })
        if (before.quarantined_until !== null)
          await events.append(tx, {
            ...by(caller),
            scope: repoScope(repo.id),
            type: 'daemon.resumed',
            subject: daemon,
            payload: { daemon, why: 'asked' },
          })
        database.afterCommit(tx, deps.wake)
        return presentDaemon({ ...after, due_at })
      })
    },
  }
}
