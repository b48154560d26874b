import type { Call, Handlers } from '../operations/handlers.ts'
import type { Asker, InvitesService } from './service.ts'

export const invitesHandlers = (invites: InvitesService): Handlers['invites'] => ({
  createAnonymous: (input, call) => invites.createAnonymous(askerOf(call), input),
  reveal: ({ id }) => invites.reveal(id),
  listAnonymous: (_input, call) => invites.listOwn(askerOf(call)),
  create: (input, { caller }) => invites.create(caller, input),
  list: (input, { caller }) => invites.list(caller, input),
  revoke: (input, call) => invites.revoke(askerOf(call), input),
})

const askerOf = ({ visitor, address, limitedAddress, anonymous }: Call): Asker => ({
  visitor,
  address,
  limitedAddress,
  anonymousSecret: anonymous.secret,
  remember: (secret) => anonymous.remember(secret),
})
