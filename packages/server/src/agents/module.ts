import { periodic } from '../background/periodic.ts'
import type { EventsService } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { Throttles } from '../platform/throttles.ts'
import type { ReposService } from '../repos/service.ts'
import { createSealer } from '../secrets/sealing.ts'
import { createAccessTokens } from './access-tokens.ts'
import { createCodeHasher } from './codes.ts'
import { createGrants } from './grants.ts'
import { agentsHandlers } from './handlers.ts'
import { createRefreshTokens } from './refresh-tokens.ts'
import { createRegistrationsService } from './registrations.ts'
import type { Retiring } from './retiring.ts'
import { createAgentsService } from './service.ts'
import { createSigningKeys } from './signing-keys.ts'
import { createAgentUsage } from './usage.ts'

const EXPIRE_EVERY_MS = 10 * 60_000

interface AgentsNeeds extends Base {
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  people: PeopleService
  throttles: Throttles
  retiring: Retiring
}

export function createAgentsModule(needs: AgentsNeeds) {
  const { config, serverKey, people, retiring } = needs
  const shared = { ...needs, limits: config.limits }
  const codes = createCodeHasher(serverKey)
  const signingKeys = createSigningKeys({ ...shared, sealer: createSealer(serverKey, 'signing keys') })
  const accessTokens = createAccessTokens(shared)
  const refreshTokens = createRefreshTokens({ ...shared, accessTokens })
  const grants = createGrants({
    ...shared,
    signingKeys,
    accessTokens,
    refreshTokens,
    issuer: needs.baseUrl,
    personOf: people.get,
  })
  const registrations = createRegistrationsService({ ...shared, grants, codes })
  const agents = createAgentsService({ ...shared, codes })
  const agentUsage = createAgentUsage(shared)
  return {
    services: { agents, registrations, grants, signingKeys, agentUsage },
    handlers: { agents: agentsHandlers(agents) },
    work: [
      periodic({
        name: 'ended agents',
        everyMs: EXPIRE_EVERY_MS,
        where: 'one process',
        deletesByClock: true,
        run: async (signal) => {
          await registrations.deleteEnded()
          await retiring.endIdle(signal)
        },
      }),
      agentUsage.work,
    ],
  } satisfies Module
}
