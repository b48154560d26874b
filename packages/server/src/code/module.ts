import { join } from 'node:path'
import type { Registry } from 'prom-client'
import type { EventsService } from '../events/service.ts'
import { createCloneCache } from '../git/clones/cache.ts'
import { createLocalPackStore } from '../git/packs/pack-store.ts'
import { createWorkingDirectories } from '../git/packs/working-directory.ts'
import { createGit } from '../git/process/command.ts'
import { createLaunchers } from '../git/process/launchers.ts'
import { createProcessPool } from '../git/process/pool.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import { createEgress } from '../platform/egress.ts'
import type { Log } from '../platform/log.ts'
import type { Scratch } from '../platform/scratch.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import { createBrowseService } from './browse.ts'
import { createCommitsService } from './commits.ts'
import { createFetchService } from './fetch.ts'
import { createForksService } from './forks.ts'
import { createImportsService } from './imports.ts'
import { createLandings } from './landing.ts'
import { createMaintenance } from './maintenance.ts'
import { createCloneCounter, watchGit } from './metrics.ts'
import { createPushService } from './push.ts'
import { createRefsService } from './refs.ts'
import { createRepositories } from './repositories.ts'
import { createRevisions } from './revisions.ts'
import { createSigners } from './signers.ts'

interface CodeDeps {
  config: Config
  dataDir: string
  scratch: Scratch
  database: Database
  events: EventsService
  orgs: OrgsService
  people: PeopleService
  repos: ReposService
  clock: Clock
  log: Log
  registry: Registry
}

/** Everything about what is in repositories, put together. */
export function createCode({ config, dataDir, scratch, registry, ...shared }: CodeDeps) {
  const { database, events, orgs, people, repos, clock, log } = shared
  const { limits } = config
  const pool = createProcessPool({ size: config.git.processes })
  const launchers = createLaunchers()
  const git = createGit({ pool, launchers })
  const packs = createLocalPackStore(dataDir)
  const directories = createWorkingDirectories()
  const cache = createCloneCache({
    dir: join(scratch.path, 'clones'),
    maxBytes: config.git.cloneCacheBytes,
    onRead: createCloneCounter(registry),
  })
  watchGit(registry, { pool, cache })
  const quarantineDir = join(scratch.path, 'quarantine')

  const repositories = createRepositories({
    db: database.db,
    git,
    packs,
    directories,
    workDir: join(scratch.path, 'work'),
    quarantineDir,
  })
  const revisions = createRevisions({ repositories })
  const landings = createLandings({ database, events, orgs, repos, clock })
  const signers = createSigners({ people, clock })
  const maintenance = createMaintenance({
    database,
    repos,
    repositories,
    directories,
    packs,
    scratch,
    clock,
    log,
  })
  const onLanded = ({ id }: RepoRow) => maintenance.hint(id)

  return {
    fetches: createFetchService({ repositories, cache }),
    pushes: createPushService({ repositories, landings, repos, packs, limits, onLanded }),
    refs: createRefsService({ db: database.db, repos, repositories, revisions, landings }),
    commits: createCommitsService({ repos, repositories, revisions, landings, packs, signers, onLanded }),
    browse: createBrowseService({ repos, repositories, revisions }),
    forks: createForksService({ database, events, orgs, repos }),
    imports: createImportsService({
      database,
      events,
      repos,
      egress: createEgress(config.egressAllow),
      git,
      packs,
      clock,
      scratchDir: quarantineDir,
      limits,
    }),
    async stop(): Promise<void> {
      await maintenance.stop()
      cache.close()
      launchers.close()
    },
  }
}
