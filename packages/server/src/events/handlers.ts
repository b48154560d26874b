import type { Handlers } from '../operations/handlers.ts'
import type { Logs } from './logs.ts'
import type { EventsService } from './service.ts'

export const eventsHandlers = (events: EventsService, logs: Logs): Handlers['events'] => ({
  list: async ({ name, ...page }, { caller }) =>
    events.list({ ...page, scope: await logs.open(caller, name) }),
  counts: async ({ name, ...span }, { caller, signal }) =>
    events.count({ ...span, scope: await logs.open(caller, name) }, signal),
})
