import type { Work } from '../background/work.ts'
import type { Module } from '../modules.ts'
import type { ReposService } from '../repos/service.ts'
import { eventsHandlers } from './handlers.ts'
import { createLogs } from './logs.ts'
import type { EventsService } from './service.ts'
import type { Tailing } from './tailing.ts'

interface EventsNeeds {
  /** Made before all domains, because each of them appends to it. */
  events: EventsService
  tailing: Tailing
  repos: ReposService
}

export function createEventsModule({ events, tailing, repos }: EventsNeeds) {
  const logs = createLogs({ repos })
  // Told at once when the server stops: those who listen are answers under way.
  const listeners: Work = {
    name: 'tails of logs',
    start: () => ({ stop: async () => tailing.close() }),
  }
  return {
    services: { events, logs, tailing },
    handlers: { events: eventsHandlers(events, logs) },
    work: [listeners],
  } satisfies Module
}
