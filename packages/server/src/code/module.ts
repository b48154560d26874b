import { join } from 'node:path'
import { createHints, hinted } from '../background/hinted.ts'
import { periodic } from '../background/periodic.ts'
import type { EventsService } from '../events/service.ts'
import { createCloneCache } from '../git/clones/cache.ts'
import { createLocalPackStore } from '../git/packs/pack-store.ts'
import { createStoredObjects } from '../git/packs/stored-objects.ts'
import { createWorkingDirectories } from '../git/packs/working-directory.ts'
import { createGit } from '../git/process/command.ts'
import { createLaunchers } from '../git/process/launchers.ts'
import type { Base, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { PeopleService } from '../people/service.ts'
import { allAuthorities } from '../platform/authorities.ts'
import type { Egress } from '../platform/egress.ts'
import { createPlaces } from '../platform/places.ts'
import { createRepoRegister } from '../repos/register.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import { createBlamesService } from './blames.ts'
import { createBranchTurns } from './branch-turns.ts'
import { createBranchesService } from './branches.ts'
import { createBrowseService } from './browse.ts'
import { createCommitsService } from './commits.ts'
import { createDiffsService } from './diffs.ts'
import { createDistances } from './distances.ts'
import { createDownloadsService } from './downloads.ts'
import { createFetchService } from './fetch.ts'
import { createFilesService } from './files.ts'
import { createForksService } from './forks.ts'
import { createGrepsService } from './greps.ts'
import { gitHandlers, rulesHandlers, storageHandlers } from './handlers.ts'
import { createImportsService } from './imports.ts'
import { createIncomingRoom } from './incoming-room.ts'
import { createLandings } from './landing.ts'
import { createLastChangesService } from './last-changes.ts'
import { createLocatingService } from './locating.ts'
import { createMaintenance } from './maintenance.ts'
import { createMakers } from './makers.ts'
import { createMergePreviewsService } from './merge-previews.ts'
import { createCloneCounter, createGitCounter, watchGit, watchObjects, watchPacks } from './metrics.ts'
import { createPackHealth } from './pack-health.ts'
import { createPackLists } from './pack-lists.ts'
import { createPruningService } from './pruning.ts'
import { createPushService } from './push.ts'
import { createReachability } from './reachability.ts'
import { createRefLists } from './ref-lists.ts'
import { createRefSearch } from './ref-search.ts'
import { createRefsService } from './refs.ts'
import { createRepositories } from './repositories.ts'
import { createRevisions } from './revisions.ts'
import { createRulesService } from './rules-service.ts'
import { createScrub } from './scrub.ts'
import { createSigners } from './signers.ts'
import { createPackSurvey } from './survey.ts'

/** A burst of pushes is looked at once, when it is over or has lasted for long. */
const SETTLE_MS = 3_000
const LONGEST_BURST_MS = 30_000
/** Whoever reads looks through all packs. */
const LARGEST_BURST = 20
/** Most of it is to wait for the disk. */
const FOLDED_AT_ONCE = 4
const SWEEP_EVERY_MS = 15 * 60_000
const IDLE_DIRECTORIES_EVERY_MS = 5 * 60_000
/** Imports and upkeep have places of their own: they last, and nobody waits for them at a terminal. */
const SLOW_PROCESSES = 2
const PRUNE_EVERY_MS = 60 * 60_000
const SURVEY_EVERY_MS = 5 * 60_000
const SCRUB_EVERY_MS = 60_000

interface CodeNeeds extends Base {
  events: EventsService
  orgs: OrgsService
  people: PeopleService
  repos: ReposService
  egress: Egress
}

/** Everything about what is in repositories, put together. */
export async function createCodeModule(needs: CodeNeeds) {
  const { config, dataDir, scratch, room, registry, database, repos, egress } = needs
  const { limits } = config
  const pool = createPlaces({ size: config.git.processes })
  const launchers = createLaunchers({ directory: join(scratch.path, 'launchers') })
  const slowPool = createPlaces({ size: SLOW_PROCESSES })
  const git = createGit({ pool, slowPool, launchers, onStart: createGitCounter(registry) })
  const packs = createLocalPackStore(dataDir, { clock: needs.clock, keepsSpares: true })
  const objects = createStoredObjects({ store: packs, maxBytes: config.git.objectMemoryBytes })
  watchObjects(registry, objects)
  const directories = createWorkingDirectories()
  const cache = createCloneCache({
    dir: join(scratch.path, 'clones'),
    maxBytes: config.git.cloneCacheBytes,
    roomLeft: () => room.left(),
    onRead: createCloneCounter(registry),
  })
  watchGit(registry, { pool, cache })
  const quarantineDir = join(scratch.path, 'quarantine')

  const register = createRepoRegister({ db: database.db })
  const packLists = createPackLists({ ...needs, db: database.db })
  const health = createPackHealth({ ...needs, packs, packLists, register })
  const survey = createPackSurvey({ ...needs, packs, health })
  watchPacks(registry, survey)
  const scrub = createScrub({ ...needs, packs, health })
  // Before anybody is served: names are read, no files.
  await survey.look()

  const refLists = createRefLists({ db: database.db })
  const repositories = createRepositories({
    db: database.db,
    git,
    packs,
    objects,
    directories,
    refLists,
    packLists,
    health,
    room,
    workDir: join(scratch.path, 'work'),
    quarantineDir,
  })
  const revisions = createRevisions({ repositories })
  const makers = createMakers(room)
  const landings = createLandings({ ...needs, refLists, packLists, limits })
  const turns = createBranchTurns()
  const signers = createSigners(needs)
  const hints = createHints()
  const onLanded = ({ id }: RepoRow) => hints.hint(id)
  const maintenance = createMaintenance({ ...needs, repositories, directories, packs, hint: hints.hint })

  const refs = createRefsService({ db: database.db, repos, repositories, revisions, landings, turns })
  const commits = createCommitsService({
    repos,
    repositories,
    revisions,
    makers,
    landings,
    turns,
    packs,
    signers,
    onLanded,
  })
  const looking = { repos, repositories, revisions }
  const distances = createDistances()
  const browse = createBrowseService(looking)
  const withReach = createReachability({ db: database.db, repositories, packs, scratch })
  const forks = createForksService({ ...needs, repositories, withReach, packs })
  const pruning = createPruningService({
    ...needs,
    repositories,
    withReach,
    packs,
    graceMs: config.git.unreachableMs,
  })
  const authorities = config.authorities ? allAuthorities : undefined
  const imports = createImportsService({
    ...needs,
    egress,
    git,
    packs,
    scratchDir: quarantineDir,
    authorities,
    limits,
  })

  return {
    services: {
      fetches: createFetchService({ repositories, cache }),
      pushes: createPushService({
        repositories,
        makers,
        landings,
        repos,
        packs,
        incoming: createIncomingRoom(),
        limits,
        spoolDir: join(scratch.path, 'incoming'),
        onLanded,
      }),
      distances,
      downloads: createDownloadsService(looking),
      survey,
      landings,
      repositories,
      revisions,
      refs,
      commits,
      browse,
    },
    handlers: {
      git: gitHandlers({
        refs,
        branches: createBranchesService({ ...looking, distances }),
        commits,
        browse,
        lastChanges: createLastChangesService(looking),
        blames: createBlamesService(looking),
        diffs: createDiffsService(looking),
        files: createFilesService(looking),
        greps: createGrepsService(looking),
        mergePreviews: createMergePreviewsService(looking),
        locating: createLocatingService(looking),
        refSearch: createRefSearch(looking),
      }),
      rules: rulesHandlers(createRulesService(needs)),
      repos: storageHandlers(forks, imports, pruning),
    },
    work: [
      hinted({
        name: 'pack folding',
        hints,
        settleMs: SETTLE_MS,
        longestBurstMs: LONGEST_BURST_MS,
        largestBurst: LARGEST_BURST,
        atOnce: FOLDED_AT_ONCE,
        run: maintenance.tend,
      }),
      periodic({
        name: 'idle directories',
        everyMs: IDLE_DIRECTORIES_EVERY_MS,
        where: 'each process',
        run: maintenance.removeIdleDirectories,
      }),
      periodic({
        name: 'unlisted packs',
        everyMs: SWEEP_EVERY_MS,
        where: 'one process',
        atStart: true,
        deletesByClock: true,
        run: maintenance.sweep,
      }),
      periodic({
        name: 'pruning',
        everyMs: PRUNE_EVERY_MS,
        where: 'one process',
        deletesByClock: true,
        run: pruning.pruneAbandoned,
      }),
      periodic({
        name: 'pack survey',
        everyMs: SURVEY_EVERY_MS,
        where: 'each process',
        run: survey.look,
      }),
      periodic({
        name: 'pack scrub',
        everyMs: SCRUB_EVERY_MS,
        where: 'one process',
        async run(signal) {
          await scrub(signal)
          await survey.recount()
        },
      }),
    ],
    async close() {
      await packs.close()
      objects.close()
      cache.close()
      launchers.close()
      await git.stopAll()
    },
  } satisfies Module
}
