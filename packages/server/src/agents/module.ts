import type { Author, EventsService } from '../events/service.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { NewId } from '../platform/ids.ts'
import type { Throttles } from '../platform/throttles.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { createSealer } from '../secrets/sealing.ts'
import type { ServerKey } from '../secrets/server-key.ts'
import { createCodeHasher } from './codes.ts'
import { createGrants } from './grants.ts'
import { createRegistrationsService } from './registrations.ts'
import { createAgentsService } from './service.ts'
import { createSigningKeys } from './signing-keys.ts'

interface AgentsWiring {
  database: Database
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  people: PeopleService
  throttles: Throttles
  serverKey: ServerKey
  clock: Clock
  newId: NewId
  baseUrl: string
  limits: Config['limits']
  revokeCredentialsIn(tx: Tx, author: Author, orgId: string, actorId: string): Promise<void>
}

/** Everything about agents, put together. */
export function createAgents({ serverKey, people, ...shared }: AgentsWiring) {
  const codes = createCodeHasher(serverKey)
  const signingKeys = createSigningKeys({ ...shared, sealer: createSealer(serverKey, 'signing keys') })
  const grants = createGrants({ ...shared, signingKeys, issuer: shared.baseUrl, personOf: people.get })
  return {
    signingKeys,
    grants,
    registrations: createRegistrationsService({ ...shared, grants, codes }),
    agents: createAgentsService({ ...shared, people, codes }),
  }
}
