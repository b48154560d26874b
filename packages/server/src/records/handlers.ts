import type { Handlers } from '../operations/handlers.ts'
import type { RecordsService } from './service.ts'

export const recordsHandlers = (records: RecordsService): Handlers['records'] => ({
  list: (input, { caller, signal }) => records.list(caller, input, signal),
  get: (input, { caller }) => records.get(caller, input),
  create: (input, { caller }) => records.create(caller, input),
  update: (input, { caller }) => records.update(caller, input),
  delete: (input, { caller }) => records.delete(caller, input),
})
