import type { Handlers } from '../operations/handlers.ts'
import type { OperatorsService } from './service.ts'

export const operatorsHandlers = (operators: OperatorsService): Handlers['admin'] => ({
  self: (_, { caller }) => operators.self(caller),
  overview: (_, { caller }) => operators.overview(caller),
  users: { list: (input, { caller }) => operators.listUsers(caller, input) },
})
