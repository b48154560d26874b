import type { Handlers } from '../operations/handlers.ts'
import type { InvitationsService } from './invitations.ts'
import type { MembersService } from './members.ts'
import type { OrgsService } from './service.ts'

export const orgsHandlers = (orgs: OrgsService): Handlers['orgs'] => ({
  create: (input, { caller }) => orgs.create(caller, input),
  list: (input, { caller }) => orgs.list(caller, input),
  get: ({ orgSlug }, { caller }) => orgs.get(caller, orgSlug),
  update: (input, { caller }) => orgs.update(caller, input),
  delete: ({ orgSlug }, { caller }) => orgs.delete(caller, orgSlug),
})

export const membersHandlers = (
  members: MembersService,
  invitations: InvitationsService,
): Handlers['members'] => ({
  setRole: (input, { caller }) => members.setRole(caller, input),
  makeOwner: (input, { caller }) => members.makeOwner(caller, input),
  list: (input, { caller }) => members.list(caller, input),
  invite: (input, { caller }) => invitations.invite(caller, input),
  remove: (input, { caller }) => members.remove(caller, input),
})

export const invitationsHandlers = (invitations: InvitationsService): Handlers['invitations'] => ({
  list: (input, { caller }) => invitations.list(caller, input),
  accept: ({ invitationId }, { caller }) => invitations.accept(caller, invitationId),
  cancel: ({ invitationId }, { caller }) => invitations.cancel(caller, invitationId),
})
