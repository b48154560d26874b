import type { Runtime } from '@trellis/contract'
import { periodic } from '../background/periodic.ts'
import type { Landings } from '../code/landing.ts'
import type { Repositories } from '../code/repositories.ts'
import type { Revisions } from '../code/revisions.ts'
import type { EventsService } from '../events/service.ts'
import { createProcessPool } from '../git/process/pool.ts'
import type { Base, Module } from '../modules.ts'
import type { ReposService } from '../repos/service.ts'
import { createBuilder } from './builder.ts'
import { createBuilds } from './builds.ts'
import { createBundleFiles } from './bundle-files.ts'
import { extensionsHandlers } from './handlers.ts'
import { createPromotionService } from './promotion.ts'
import { createRebuild } from './provenance.ts'
import { pruneBuilds } from './pruning.ts'
import { publishedSchemas } from './published-schemas.ts'
import { createCommitReader } from './reading.ts'
import { createExtensionsService } from './service.ts'
import { createSurveys } from './surveys.ts'

const BUILDS_AT_ONCE = 2
const BUILD_MS = 5_000
const PRUNE_EVERY_MS = 60 * 60_000

interface ExtensionsNeeds extends Base {
  events: EventsService
  repos: ReposService
  landings: Landings
  repositories: Repositories
  revisions: Revisions
}

export function createExtensionsModule(needs: ExtensionsNeeds) {
  const { config, database, dataDir, clock, stopwatch, repos, repositories, revisions } = needs
  if (!config.extensions.enabled)
    return {
      services: { descriptorSchemas: publishedSchemas },
      handlers: { extensions: extensionsHandlers(undefined) },
    } satisfies Module
  const bundles = createBundleFiles(dataDir)
  const builder = createBuilder({ timeoutMs: BUILD_MS })
  const pool = createProcessPool({ size: BUILDS_AT_ONCE })
  const builds = createBuilds({ database, repositories, builder, bundles, pool, clock, stopwatch })
  const surveys = createSurveys({ repositories, readCommit: createCommitReader() })
  const runtimes = new Set<Runtime>([
    'worker',
    'workflow',
    ...(config.extensions.sandbox ? ['sandbox' as const] : []),
  ])
  const extensions = createExtensionsService({
    db: database.db,
    repos,
    revisions,
    surveys,
    builds,
    runtimes,
  })

  const promotions = createPromotionService({
    ...needs,
    surveys,
    rebuild: createRebuild({ builds, bundles }),
    records: undefined,
    followers: [],
  })

  return {
    services: { descriptorSchemas: publishedSchemas },
    handlers: { extensions: extensionsHandlers({ extensions, promotions }) },
    work: [
      periodic({
        name: 'old builds',
        everyMs: PRUNE_EVERY_MS,
        where: 'one process',
        deletesByClock: true,
        run: (signal) =>
          pruneBuilds({ database, bundles, clock, maxBytes: config.extensions.bundleCacheBytes }, signal),
      }),
    ],
    close: async () => builder.close(),
  } satisfies Module
}
