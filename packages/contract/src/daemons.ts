import * as z from 'zod'
import { Daemon } from './daemon.ts'
import type { ErrorCode } from './errors.ts'
import { ExtensionName, RepoName } from './names.ts'
import { operation, unready } from './operation.ts'
import { listOf } from './paging.ts'
import { Run } from './runs.ts'

const tag = 'Daemons'
const named = z.object({ name: RepoName, daemon: ExtensionName })
const everyDaemon = [
  'REPO_NOT_FOUND',
  'FEATURE_UNAVAILABLE',
  'EXTENSION_NOT_FOUND',
] as const satisfies ErrorCode[]

export const daemons = {
  list: operation('/daemons/list', {
    summary: 'List the daemons of the canonical commit',
    tag,
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE', ...unready],
  })
    .input(z.object({ name: RepoName }))
    .output(listOf(Daemon)),
  wake: operation('/daemons/wake', {
    summary: 'Wake a daemon now',
    tag,
    needs: 'repo:admin',
    errors: [...everyDaemon, 'RUN_REJECTED', 'RUN_NOT_FOUND'],
  })
    .input(named)
    .output(z.object({ run: Run.describe('The wake; the one under way if there is one.') })),
  resume: operation('/daemons/resume', {
    summary: 'Forget the failures of a daemon, and end its quarantine',
    tag,
    needs: 'repo:admin',
    errors: everyDaemon,
  })
    .input(named)
    .output(Daemon),
}
