import type { Handlers } from '../operations/handlers.ts'
import type { AgentsService } from './service.ts'

export const agentsHandlers = (agents: AgentsService): Handlers['agents'] => ({
  list: (input, { caller }) => agents.list(caller, input),
  claimView: async ({ claimAttemptToken }, { caller }) => {
    // The page alone shows when and where from, and what it calls itself.
    const {
      createdAt: _,
      address: __,
      agentName: ___,
      ...view
    } = await agents.claimView(caller, claimAttemptToken)
    return view
  },
  claimComplete: (input, { caller, limitedAddress }) => agents.claimComplete(caller, input, limitedAddress),
  revoke: ({ registrationId }, { caller }) => agents.revoke(caller, registrationId),
})
