import type { Module } from '../modules.ts'
import type { ReposService } from '../repos/service.ts'
import { eventsHandlers } from './handlers.ts'
import type { EventsService } from './service.ts'

interface EventsNeeds {
  /** Made before all domains, because each of them appends to it. */
  events: EventsService
  repos: ReposService
}

export function createEventsModule({ events, repos }: EventsNeeds) {
  return { services: { events }, handlers: { events: eventsHandlers(events, repos) } } satisfies Module
}
