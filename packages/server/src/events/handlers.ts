import { requirePower } from '../access/caller.ts'
import type { Handlers } from '../operations/handlers.ts'
import type { ReposService } from '../repos/service.ts'
import type { EventsService } from './service.ts'
import { orgScope, repoScope } from './types.ts'

export const eventsHandlers = (events: EventsService, repos: ReposService): Handlers['events'] => ({
  list: async ({ name, ...page }, { caller }) => {
    if (name !== undefined) {
      const { id } = await repos.open(caller, name, 'repo:read')
      return events.list({ ...page, scope: repoScope(id) })
    }
    requirePower(caller, 'org:read')
    return events.list({ ...page, scope: orgScope(caller.org.id) })
  },
})
