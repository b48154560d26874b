import type { Ending } from '../access/endings.ts'
import { periodic } from '../background/periodic.ts'
import type { EventsService } from '../events/service.ts'
import type { MailService } from '../mail/service.ts'
import type { Base, Module } from '../modules.ts'
import type { PeopleService } from '../people/service.ts'
import { invitationsHandlers, membersHandlers, orgsHandlers } from './handlers.ts'
import { createInvitationsService } from './invitations.ts'
import { createMembersService } from './members.ts'
import { createOrgsService } from './service.ts'

const EXPIRE_EVERY_MS = 10 * 60_000

interface OrgsNeeds extends Base {
  events: EventsService
  people: PeopleService
  /** Undefined where no mail can be sent. */
  mail: MailService | undefined
  ending: Ending
}

export function createOrgsModule(needs: OrgsNeeds) {
  const orgs = createOrgsService({ ...needs, limits: needs.config.limits })
  const members = createMembersService({ ...needs, orgs })
  const invitations = createInvitationsService({ ...needs, orgs })
  return {
    services: { orgs, invitations },
    handlers: {
      orgs: orgsHandlers(orgs),
      members: membersHandlers(members, invitations),
      invitations: invitationsHandlers(invitations),
    },
    work: [
      periodic({
        name: 'expired organizations',
        everyMs: EXPIRE_EVERY_MS,
        where: 'one process',
        deletesByClock: true,
        run: orgs.deleteExpired,
      }),
    ],
  } satisfies Module
}
