import { type Caller, requirePower } from '../access/caller.ts'
import type { ReposService } from '../repos/service.ts'
import { type EventScope, orgScope, repoScope } from './types.ts'

export type Logs = ReturnType<typeof createLogs>

/** The logs a caller may read: those of repositories, and without a name that of the acting organization. */
export const createLogs = ({ repos }: { repos: ReposService }) => ({
  async open(caller: Caller, name: string | undefined): Promise<EventScope> {
    if (name !== undefined) return repoScope((await repos.open(caller, name, 'repo:read')).id)
    requirePower(caller, 'org:read')
    return orgScope(caller.org.id)
  },
})
