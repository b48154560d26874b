import type { Daemon, Runtime } from '@trellis/contract'
import { createHints, hinted } from '../background/hinted.ts'
import { periodic } from '../background/periodic.ts'
import type { Landings } from '../code/landing.ts'
import type { Repositories } from '../code/repositories.ts'
import type { Revisions } from '../code/revisions.ts'
import type { EventsService } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import { createPlaces } from '../platform/places.ts'
import type { RecordMigrations } from '../records/promotion.ts'
import type { ReposService } from '../repos/service.ts'
import type { DeclaredWebhooks } from '../webhooks/declared.ts'
import { createBuilder } from './builder.ts'
import { createBuilds } from './builds.ts'
import { createBundleFiles } from './bundle-files.ts'
import { extensionsHandlers } from './handlers.ts'
import { createPromotionService, type FollowsPromotion } from './promotion.ts'
import { createRebuild } from './provenance.ts'
import { type ModulesInUse, pruneBuilds } from './pruning.ts'
import { publishedSchemas } from './published-schemas.ts'
import { createCommitReader } from './reading.ts'
import { createExtensionsService } from './service.ts'
import { createSurveys } from './surveys.ts'

const BUILDS_AT_ONCE = 3
const BUILDS_PER_ORG = 2
const BUILD_MS = 5_000
const PRUNE_EVERY_MS = 60 * 60_000
/** Which part of the room for bundles may be filled before somebody looks. */
const LOOK_AFTER_PART = 1 / 8
const SETTLE_MS = 1_000

interface ExtensionsNeeds extends Base {
  events: EventsService
  repos: ReposService
  landings: Landings
  repositories: Repositories
  revisions: Revisions
  recordMigrations: RecordMigrations
  declaredWebhooks: DeclaredWebhooks
  /** Those this server runs. */
  enabled: ReadonlySet<Runtime>
  following: readonly FollowsPromotion[]
  /** The daemons of the canonical commit. */
  daemonsOf(repoId: string): Promise<Daemon[]>
  /** Modules that are needed whatever is canonical. */
  modulesInUse: ModulesInUse
}

export function createExtensionsModule(needs: ExtensionsNeeds) {
  const { config, database, dataDir, repos, repositories, revisions } = needs
  if (!config.extensions.enabled)
    return {
      services: { descriptorSchemas: publishedSchemas, extensions: undefined },
      handlers: { extensions: extensionsHandlers(undefined) },
    } satisfies Module
  const bundles = createBundleFiles(dataDir)
  const builder = createBuilder({ timeoutMs: BUILD_MS })
  // One organization leaves room for others, however much it has to build.
  const pool = createPlaces({ size: BUILDS_AT_ONCE, perOwner: BUILDS_PER_ORG })
  const maxBytes = config.extensions.bundleCacheBytes
  const hints = createHints()
  let storedBytes = 0
  const onStored = (bytes: number) => {
    storedBytes += bytes
    if (storedBytes < maxBytes * LOOK_AFTER_PART) return
    storedBytes = 0
    hints.hint('bundles')
  }
  const prune = (signal: AbortSignal) => pruneBuilds({ ...needs, bundles, maxBytes }, signal)
  const builds = createBuilds({ ...needs, builder, bundles, pool, onStored })
  const surveys = createSurveys({ repositories, commits: createCommitReader() })
  const rebuild = createRebuild({ builds, bundles })
  const extensions = createExtensionsService({
    db: database.db,
    repos,
    revisions,
    surveys,
    builds,
    bundles,
    rebuild,
    daemonsOf: needs.daemonsOf,
    runtimes: needs.enabled,
  })

  const promotions = createPromotionService({ ...needs, surveys, rebuild })

  return {
    services: { descriptorSchemas: publishedSchemas, extensions },
    handlers: { extensions: extensionsHandlers({ extensions, promotions }) },
    work: [
      periodic({
        name: 'old builds',
        everyMs: PRUNE_EVERY_MS,
        where: 'one process',
        deletesByClock: true,
        run: prune,
      }),
      hinted({
        name: 'many builds',
        hints,
        settleMs: SETTLE_MS,
        longestBurstMs: 10 * SETTLE_MS,
        run: (_key, signal) => prune(signal),
      }),
    ],
    close: async () => builder.close(),
  } satisfies Module
}
