import type { Module } from '../modules.ts'
import { overviewHandlers } from './handlers.ts'
import { createOverviewService, type OverviewDeps } from './service.ts'

export function createOverviewModule(needs: OverviewDeps) {
  return {
    services: {},
    handlers: { repos: overviewHandlers(createOverviewService(needs)) },
  } satisfies Module
}
