import type { Handlers } from '../operations/handlers.ts'
import { Fault } from '../platform/fault.ts'
import type { DaemonsService } from './service.ts'

/** `service` is undefined where extensions are switched off. */
export const daemonsHandlers = (service: DaemonsService | undefined): Handlers['daemons'] => {
  const on = () => {
    if (!service) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'extensions' })
    return service
  }
  return {
    list: async (input, { caller }) => on().list(caller, input),
    wake: async (input, { caller, signal }) => on().wake(caller, input, signal),
    resume: async (input, { caller }) => on().resume(caller, input),
  }
}
