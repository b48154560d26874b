import type { Handlers } from '../operations/handlers.ts'
import { Fault } from '../platform/fault.ts'
import type { PromotionService } from './promotion.ts'
import type { ExtensionsService } from './service.ts'

/** `services` is undefined where extensions are switched off. */
export const extensionsHandlers = (
  services: { extensions: ExtensionsService; promotions: PromotionService } | undefined,
): Handlers['extensions'] => {
  const on = () => {
    if (!services) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'extensions' })
    return services
  }
  return {
    list: async (input, { caller, signal }) => on().extensions.list(caller, input, signal),
    plan: async (input, { caller, signal }) => on().promotions.plan(caller, input, signal),
    promote: async (input, { caller, signal }) => on().promotions.promote(caller, input, signal),
    get: async (input, { caller, signal }) => on().extensions.get(caller, input, signal),
  }
}
