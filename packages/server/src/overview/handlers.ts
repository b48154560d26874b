import type { Handlers } from '../operations/handlers.ts'
import type { OverviewService } from './service.ts'

export const overviewHandlers = (
  overview: OverviewService,
): Pick<NonNullable<Handlers['repos']>, 'overview'> => ({
  overview: (input, { caller, signal }) => overview.read(caller, input, signal),
})
