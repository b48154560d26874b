import type { Handlers } from '../operations/handlers.ts'
import { Fault } from '../platform/fault.ts'
import type { DeliveriesService } from './deliveries.ts'
import type { WebhooksService } from './service.ts'

/** `services` is undefined where webhooks are switched off. */
export const webhooksHandlers = (
  services: { webhooks: WebhooksService; deliveries: DeliveriesService } | undefined,
): Handlers['webhooks'] => {
  const on = () => {
    if (!services) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'webhooks' })
    return services
  }
  return {
    create: async (input, { caller }) => on().webhooks.create(caller, input),
    list: async (input, { caller }) => on().webhooks.list(caller, input),
    get: async (input, { caller }) => on().webhooks.get(caller, input),
    update: async (input, { caller }) => on().webhooks.update(caller, input),
    enable: async (input, { caller }) => on().webhooks.enable(caller, input),
    disable: async (input, { caller }) => on().webhooks.disable(caller, input),
    delete: async (input, { caller }) => on().webhooks.delete(caller, input),
    secret: async (input, { caller }) => on().webhooks.secret(caller, input),
    redeliver: async (input, { caller }) => on().deliveries.redeliver(caller, input),
    deliveries: {
      list: async (input, { caller }) => on().deliveries.list(caller, input),
      get: async (input, { caller }) => on().deliveries.get(caller, input),
    },
  }
}
