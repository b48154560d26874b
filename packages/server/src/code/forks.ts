import type { Repo } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { PackStore } from '../git/packs/pack-store.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault, forbidden } from '../platform/fault.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { Outrun } from './outrun.ts'
import type { Reachability } from './reachability.ts'
import * as refStore from './ref-store.ts'
import type { Repositories } from './repositories.ts'
import * as store from './store.ts'

interface ForksDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  repositories: Repositories
  withReach: Reachability
  packs: PackStore
  clock: Clock
}

/** What is asked for, by whom, once it is known that it may be. */
interface NewFork {
  caller: Caller
  parent: RepoRow
  newName: string
  /** The caller in the organization where the fork shall be. */
  inside: Caller
}

export type ForksService = ReturnType<typeof createForksService>

/** A fork lists the packs of its parent: no object is copied, and from then on each goes its own way. */
export function createForksService(deps: ForksDeps) {
  const { database, events, orgs, repos, repositories, withReach, packs, clock } = deps

  async function createIn(tx: Tx, { caller, parent, newName, inside }: NewFork, sizeBytes: number) {
    const fork = await repos.createIn(tx, inside, {
      name: newName,
      defaultBranch: parent.default_branch,
      source: `${caller.org.slug}/${parent.name}`,
      sizeBytes,
    })
    const current = await repos.lockIn(tx, parent.id)
    if (!current) throw new Fault('REPO_NOT_FOUND', { name: parent.name })
    await events.append(tx, {
      ...by(caller),
      scope: repoScope(parent.id),
      type: 'repo.forked',
      subject: `${inside.org.slug}/${newName}`,
      payload: { repoId: fork.id },
    })
    return { fork, current }
  }

  /** With all that the parent has now; `isStill` may find that this is not what it had. */
  function share(wanted: NewFork, isStill: (parent: RepoRow) => boolean = () => true): Promise<Repo> {
    return database.transact(async (tx) => {
      const { fork, current } = await createIn(tx, wanted, wanted.parent.size_bytes)
      if (!isStill(current)) throw new Outrun()
      await refStore.copyRefs(tx, current.id, fork.id)
      await store.copyPacks(tx, current.id, fork.id)
      // Somebody may have pushed to the parent since it was looked up.
      const sizeBytes = await store.sumPacks(tx, fork.id)
      await repos.setSizeIn(tx, fork, sizeBytes)
      return repos.presenterFor(wanted.inside)({ ...fork, size_bytes: sizeBytes })
    })
  }

  /** In another organization nobody is to find what the refs of the parent do not lead to, such as what was deleted. */
  async function shareReachable(wanted: NewFork, signal: AbortSignal): Promise<Repo> {
    const { parent } = wanted
    const refs = await repositories.refs(parent)
    const tips = [...new Set(refs.map(({ oid }) => oid))]
    return withReach({ repo: parent, tips, signal }, async (reach) => {
      if (reach.isAll)
        try {
          return await share(wanted, ({ refs_version }) => refs_version === parent.refs_version)
        } catch (error) {
          if (!(error instanceof Outrun)) throw error
        }
      const pack = await reach.pack()
      const created = database.transact(async (tx) => {
        const { fork } = await createIn(tx, wanted, pack?.bytes ?? 0)
        await refStore.insertRefs(tx, fork.id, refs)
        if (pack) await store.insertPack(tx, fork.id, pack, clock())
        return repos.presenterFor(wanted.inside)(fork)
      })
      return created.catch(async (error: unknown) => {
        if (error instanceof Fault && pack) await packs.remove(pack.packId)
        throw error
      })
    })
  }

  return {
    async fork(
      caller: Caller,
      { name, newName, toOrg }: { name: string; newName: string; toOrg?: string | undefined },
      signal: AbortSignal,
    ): Promise<Repo> {
      const parent = await repos.open(caller, name, 'repo:read')
      const inside = toOrg === undefined ? caller : await orgs.enter(caller, toOrg)
      if (!inside) throw forbidden('not_a_member')
      repos.requireMayCreate(inside)
      const wanted = { caller, parent, newName, inside }
      if (inside.org.id === caller.org.id) return share(wanted)
      await repos.requireFree(inside, newName)
      return shareReachable(wanted, signal)
    },
  }
}
