import type { Repo } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { OrgsService } from '../orgs/service.ts'
import { Fault, forbidden } from '../platform/fault.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import * as store from './store.ts'

interface ForksDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  repos: ReposService
}

export type ForksService = ReturnType<typeof createForksService>

/** A fork lists the packs of its parent: no object is copied, and from then on each goes its own way. */
export function createForksService({ database, events, orgs, repos }: ForksDeps) {
  return {
    async fork(
      caller: Caller,
      { name, newName, toOrg }: { name: string; newName: string; toOrg?: string | undefined },
    ): Promise<Repo> {
      const parent = await repos.open(caller, name, 'repo:read')
      const inside = toOrg === undefined ? caller : await orgs.enter(caller, toOrg)
      if (!inside) throw forbidden('not_a_member')
      repos.requireMayCreate(inside)
      const source = `${caller.org.slug}/${name}`
      return database.transact(async (tx) => {
        const fork = await repos.createIn(tx, inside, {
          name: newName,
          defaultBranch: parent.default_branch,
          source,
          sizeBytes: parent.size_bytes,
        })
        if (!(await repos.lockIn(tx, parent.id))) throw new Fault('REPO_NOT_FOUND', { name })
        await store.copyAll(tx, parent.id, fork.id)
        // Somebody may have pushed to the parent since it was looked up.
        const sizeBytes = await store.sumPacks(tx, fork.id)
        await repos.setSizeIn(tx, fork, sizeBytes)
        await events.append(tx, {
          ...by(caller),
          scope: repoScope(parent.id),
          type: 'repo.forked',
          subject: `${inside.org.slug}/${newName}`,
          payload: { repoId: fork.id },
        })
        return repos.presenterFor(inside)({ ...fork, size_bytes: sizeBytes })
      })
    },
  }
}
