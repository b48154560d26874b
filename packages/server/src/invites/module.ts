import type { Ending } from '../access/endings.ts'
import type { AnonymousService } from '../anonymous/service.ts'
import type { EventsService } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import type { Throttles } from '../platform/throttles.ts'
import type { ReposService } from '../repos/service.ts'
import type { TokensService } from '../tokens/service.ts'
import { invitesHandlers } from './handlers.ts'
import { createInvitesService } from './service.ts'

interface InvitesNeeds extends Base {
  events: EventsService
  repos: ReposService
  tokens: TokensService
  /** Ends the clones that were taken from an invite. */
  tokenEnding: Ending
  anonymous: AnonymousService
  throttles: Throttles
}

export function createInvitesModule(needs: InvitesNeeds) {
  const invites = createInvitesService({
    ...needs,
    anonymousAccess: needs.config.anonymous,
    limits: needs.config.limits,
  })
  return { services: { invites }, handlers: { invites: invitesHandlers(invites) } } satisfies Module
}
