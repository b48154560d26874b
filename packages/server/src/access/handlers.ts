import type { Handlers } from '../operations/handlers.ts'
import type { SelfService } from './self.ts'

export const credentialsHandlers = (self: SelfService): Handlers['credentials'] => ({
  self: (_input, { caller }) => self.describe(caller),
})
