import type { Handlers } from '../operations/handlers.ts'
import type { TokensService } from './service.ts'

export const tokensHandlers = (tokens: TokensService): Handlers['tokens'] => ({
  list: (input, { caller }) => tokens.list(caller, input),
  validate: (input) => tokens.validate(input),
  create: (input, { caller }) => tokens.create(caller, input),
  revoke: (input, { caller }) => tokens.revoke(caller, input),
})
