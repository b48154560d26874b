import type { Handlers } from '../operations/handlers.ts'
import { Fault } from '../platform/fault.ts'
import type { RunsService } from './service.ts'

/** `service` is undefined where extensions are switched off. */
export const runsHandlers = (service: RunsService | undefined): Handlers['runs'] => {
  const on = () => {
    if (!service) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'extensions' })
    return service
  }
  return {
    dispatch: async (input, { caller, signal }) => on().dispatch(caller, input, signal),
    get: async (input, { caller, signal }) => on().get(caller, input, signal),
    list: async (input, { caller }) => on().list(caller, input),
    steps: async (input, { caller }) => on().steps(caller, input),
    logs: async (input, { caller }) => on().logs(caller, input),
    cancel: async (input, { caller }) => on().cancel(caller, input),
  }
}
