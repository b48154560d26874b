import type { Ending } from '../access/endings.ts'
import { periodic } from '../background/periodic.ts'
import type { EventsService } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { Throttles } from '../platform/throttles.ts'
import type { ReposService } from '../repos/service.ts'
import { createSealer } from '../secrets/sealing.ts'
import { createCodeHasher } from './codes.ts'
import { createGrants } from './grants.ts'
import { agentsHandlers } from './handlers.ts'
import { createRegistrationsService } from './registrations.ts'
import { createAgentsService } from './service.ts'
import { createSigningKeys } from './signing-keys.ts'

const EXPIRE_EVERY_MS = 10 * 60_000

interface AgentsNeeds extends Base {
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  people: PeopleService
  throttles: Throttles
  ending: Ending
}

export function createAgentsModule(needs: AgentsNeeds) {
  const { config, serverKey, people } = needs
  const shared = { ...needs, limits: config.limits }
  const codes = createCodeHasher(serverKey)
  const signingKeys = createSigningKeys({ ...shared, sealer: createSealer(serverKey, 'signing keys') })
  const grants = createGrants({ ...shared, signingKeys, issuer: needs.baseUrl, personOf: people.get })
  const registrations = createRegistrationsService({ ...shared, grants, codes })
  const agents = createAgentsService({ ...shared, codes })
  return {
    services: { agents, registrations, grants, signingKeys },
    handlers: { agents: agentsHandlers(agents) },
    work: [
      periodic({
        name: 'ended agents',
        everyMs: EXPIRE_EVERY_MS,
        where: 'one process',
        deletesByClock: true,
        run: registrations.deleteEnded,
      }),
    ],
  } satisfies Module
}
