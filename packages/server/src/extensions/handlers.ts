import type { Handlers } from '../operations/handlers.ts'
import { Fault } from '../platform/fault.ts'
import type { ExtensionsService } from './service.ts'

/** `services` is undefined where extensions are switched off. */
export const extensionsHandlers = (
  services: { extensions: ExtensionsService } | undefined,
): Handlers['extensions'] => {
  const on = () => {
    if (!services) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'extensions' })
    return services
  }
  return {
    list: async (input, { caller, signal }) => on().extensions.list(caller, input, signal),
    get: async (input, { caller, signal }) => on().extensions.get(caller, input, signal),
  }
}
