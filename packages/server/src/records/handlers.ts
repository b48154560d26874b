import type { Handlers } from '../operations/handlers.ts'
import { Fault } from '../platform/fault.ts'
import type { RecordsService } from './service.ts'

/** `records` is undefined where records are switched off. */
export const recordsHandlers = (records: RecordsService | undefined): Handlers['records'] => {
  const on = () => {
    if (!records) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'records' })
    return records
  }
  return {
    list: async (input, { caller, signal }) => on().list(caller, input, signal),
    collections: async (input, { caller }) => on().collections(caller, input),
    get: async (input, { caller }) => on().get(caller, input),
    create: async (input, { caller }) => on().create(caller, input),
    update: async (input, { caller }) => on().update(caller, input),
    delete: async (input, { caller }) => on().delete(caller, input),
  }
}
