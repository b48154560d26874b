import type { Handlers } from '../operations/handlers.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoSecrets } from './service.ts'

/** `service` is undefined where extensions are switched off. */
export const secretsHandlers = (service: RepoSecrets | undefined): Handlers['secrets'] => {
  const on = () => {
    if (!service) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'extensions' })
    return service
  }
  return {
    set: async (input, { caller }) => on().set(caller, input),
    list: async (input, { caller }) => on().list(caller, input),
    delete: async (input, { caller }) => on().delete(caller, input),
  }
}
