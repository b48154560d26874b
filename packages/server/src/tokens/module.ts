import type { CredentialEnding } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { ReposService } from '../repos/service.ts'
import { tokensHandlers } from './handlers.ts'
import { createTokensService } from './service.ts'

interface TokensNeeds extends Base {
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  credentialEnding: CredentialEnding
}

export function createTokensModule(needs: TokensNeeds) {
  const tokens = createTokensService({ ...needs, limits: needs.config.limits })
  return { services: { tokens }, handlers: { tokens: tokensHandlers(tokens) } } satisfies Module
}
