import { periodic } from '../background/periodic.ts'
import type { EventsService } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import type { ReposService } from '../repos/service.ts'
import { recordsHandlers } from './handlers.ts'
import { createRecordMigrations } from './promotion.ts'
import { createRecordsService } from './service.ts'
import { tidyRecords } from './upkeep.ts'

const TIDY_EVERY_MS = 60_000

interface RecordsNeeds extends Base {
  events: EventsService
  repos: ReposService
}

export function createRecordsModule(needs: RecordsNeeds) {
  const { config } = needs
  // Schemas follow what is promoted also while nobody gets at the rows: what is in force would be wrong afterwards.
  const isOn = config.records.enabled && config.extensions.enabled
  const records = isOn ? createRecordsService({ ...needs, limits: config.limits }) : undefined
  return {
    services: { records, recordMigrations: createRecordMigrations(needs) },
    handlers: { records: recordsHandlers(records) },
    work: [
      periodic({
        name: 'record upkeep',
        everyMs: TIDY_EVERY_MS,
        where: 'one process',
        run: (signal) => tidyRecords(needs, signal),
      }),
    ],
  } satisfies Module
}
