import type { Handlers } from '../operations/handlers.ts'
import type { KeysService } from './service.ts'

export const keysHandlers = (keys: KeysService): Handlers['keys'] => ({
  list: (_input, { caller }) => keys.list(caller),
  create: (input, { caller }) => keys.create(caller, input),
  update: (input, { caller }) => keys.update(caller, input),
  revoke: ({ id }, { caller }) => keys.revoke(caller, id),
})
