import { periodic } from '../background/periodic.ts'
import type { EventsService } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import { reposHandlers } from './handlers.ts'
import type { RemoveSome } from './remains.ts'
import { createReposService } from './service.ts'

const EXPIRE_EVERY_MS = 10 * 60_000

interface ReposNeeds extends Base {
  events: EventsService
  orgs: OrgsService
  remains: readonly RemoveSome[]
}

export function createReposModule(needs: ReposNeeds) {
  const repos = createReposService({ ...needs, limits: needs.config.limits })
  return {
    services: { repos },
    handlers: { repos: reposHandlers(repos) },
    work: [
      periodic({
        name: 'expired repositories',
        everyMs: EXPIRE_EVERY_MS,
        where: 'one process',
        deletesByClock: true,
        run: repos.deleteExpired,
      }),
    ],
  } satisfies Module
}
