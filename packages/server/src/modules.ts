import { together } from './access/endings.ts'
import { createAccessModule } from './access/module.ts'
import { createAgentEnding } from './agents/ending.ts'
import { createAgentsModule } from './agents/module.ts'
import { createRetiring } from './agents/retiring.ts'
import { createAnonymousModule } from './anonymous/module.ts'
import { periodic } from './background/periodic.ts'
import type { Work } from './background/work.ts'
import { createCodeModule } from './code/module.ts'
import { codeRemains } from './code/remains.ts'
import { createDaemonsFollowing } from './daemons/following.ts'
import { createDaemonBeginnings, createDaemonsModule } from './daemons/module.ts'
import { MOST_EVENTS } from './daemons/pending.ts'
import { listDaemons } from './daemons/presenting.ts'
import { daemonRemains } from './daemons/remains.ts'
import { createEventsModule } from './events/module.ts'
import { createEventsService } from './events/service.ts'
import { createTailing } from './events/tailing.ts'
import { createExtensionsModule } from './extensions/module.ts'
import { extensionRemains } from './extensions/remains.ts'
import { createInviteEnding } from './invites/ending.ts'
import { createInvitesModule } from './invites/module.ts'
import { createKeyEnding } from './keys/ending.ts'
import { createKeysModule } from './keys/module.ts'
import { createMailModule } from './mail/module.ts'
import { type Handlers, mergeHandlers } from './operations/handlers.ts'
import { createOperatorsModule } from './operators/module.ts'
import { createOrgsModule } from './orgs/module.ts'
import { createOverviewModule } from './overview/module.ts'
import { createPeopleModule } from './people/module.ts'
import type { Passwords } from './people/passwords.ts'
import { createPeopleService } from './people/service.ts'
import type { Clock, Stopwatch } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { createEgress } from './platform/egress.ts'
import type { NewId } from './platform/ids.ts'
import type { Log } from './platform/log.ts'
import type { Registry } from './platform/metrics.ts'
import type { Room } from './platform/room.ts'
import { SCRATCH_BEAT_MS, type Scratch } from './platform/scratch.ts'
import { createThrottles, type Throttles } from './platform/throttles.ts'
import { createRecordsModule } from './records/module.ts'
import { createRecordRemains } from './records/remains.ts'
import { createRepoSecretsModule } from './repo-secrets/module.ts'
import { secretRemains } from './repo-secrets/remains.ts'
import { createReposModule } from './repos/module.ts'
import { runBounds } from './runs/bounds.ts'
import { createRunEnding, createStartedEnding } from './runs/ending.ts'
import { listenAnew } from './runs/listening.ts'
import { createRunBeginnings, createRunsModule } from './runs/module.ts'
import { createRunRemains, listModulesInUse, triggerRemains } from './runs/remains.ts'
import type { FoundRuntimes } from './runtime/runtimes.ts'
import type { Database } from './schema.ts'
import type { ServerKey } from './secrets/server-key.ts'
import { createTokenEnding } from './tokens/ending.ts'
import { createTokensModule } from './tokens/module.ts'
import { tokenRemains } from './tokens/remains.ts'
import { createWebhooksFollowing, createWebhooksModule, createWebhooksSubscriber } from './webhooks/module.ts'

/** What every domain may stand on. */
export interface Base {
  config: Config
  database: Database
  serverKey: ServerKey
  dataDir: string
  scratch: Scratch
  /** Whether there is any in the data directory. */
  room: Room
  /** Where clients reach this server. */
  baseUrl: string
  clock: Clock
  stopwatch: Stopwatch
  newId: NewId
  log: Log
  registry: Registry
}

/** As much of it as what hears of events stands on. */
export type Ground = Pick<Base, 'config' | 'database' | 'clock' | 'newId' | 'log' | 'registry'>

/** What a domain gives to the whole. */
export interface Module {
  /** What other domains and the doors call. */
  services: object
  /** The operations it answers. */
  handlers?: Handlers
  /** What goes on beside the requests. */
  work?: readonly Work[]
  /** Lets go of what it holds, when no request and no work is under way any more. */
  close?(): Promise<void>
}

/** What every domain needs of the others: the log and all who hear of it, and what ends with an actor. */
export function createGroundwork({ enabled, ...base }: Ground & { enabled: FoundRuntimes['names'] }) {
  const { database, clock } = base
  const { bell, subscribers } = createWebhooksSubscriber(base)
  const beginnings = createRunBeginnings({ ...base, enabled })
  const daemonBeginnings = createDaemonBeginnings({ ...base, waking: beginnings.waking })
  const tailing = createTailing({ database })
  const events = createEventsService({
    ...base,
    subscribers: [
      ...subscribers,
      ...beginnings.subscribers,
      ...daemonBeginnings.subscribers,
      tailing.subscriber,
    ],
  })
  const endingOfRuns = { ...base, onMarked: beginnings.marked.hint }
  const credentialEnding = createStartedEnding(endingOfRuns)
  const tokenEnding = createTokenEnding({ events, credentialEnding, clock })
  /** What they handed out and set off; what they come in with themselves stays. */
  const doings = together([
    tokenEnding,
    createInviteEnding({ events, tokens: tokenEnding, clock }),
    createRunEnding(endingOfRuns),
  ])
  const handedOut = together([createKeyEnding({ events, credentialEnding }), doings])
  const retiring = createRetiring({ ...base, events, ending: handedOut })
  const ending = together([createAgentEnding(retiring), handedOut])
  return {
    bell,
    beginnings,
    daemonBeginnings,
    tailing,
    events,
    doings,
    ending,
    credentialEnding,
    tokenEnding,
    retiring,
  }
}

/**
 * Every domain, after those it needs. What several of them offer to one that comes before them is a list: those who
 * hear of events, what ends with an actor, and what is left of a repository.
 */
export async function createModules({
  passwords,
  runtimes,
  ...base
}: Base & { passwords: Passwords; runtimes: FoundRuntimes }) {
  const { database, config, clock } = base
  const enabled = runtimes.names
  const groundwork = createGroundwork({ ...base, enabled })
  const { bell, beginnings, daemonBeginnings, tailing, events } = groundwork
  const { ending, credentialEnding, tokenEnding, retiring } = groundwork
  const { transitions, waking } = beginnings
  const people = createPeopleService({ db: database.db })
  const throttles = createThrottles({ database, clock })
  const egress = createEgress(config.egressAllow)
  const shared = { ...base, events, ending, credentialEnding, people, throttles, egress }

  const mailModule = createMailModule(shared)
  const { mail } = mailModule.services
  const orgsModule = createOrgsModule({ ...shared, mail })
  const { orgs, invitations } = orgsModule.services
  const accessModule = createAccessModule({ ...shared, orgs })
  const keysModule = createKeysModule({ ...shared, orgs })
  const { keys } = keysModule.services
  const peopleModule = await createPeopleModule({ ...shared, orgs, invitations, keys, passwords, mail })
  const remains = [
    ...createRunRemains({ events, transitions }),
    ...codeRemains,
    ...tokenRemains,
    ...extensionRemains,
    ...secretRemains,
    ...triggerRemains,
    ...daemonRemains,
    ...createRecordRemains({ orgs }),
  ]
  const reposModule = createReposModule({ ...shared, orgs, remains })
  const { repos } = reposModule.services
  const eventsModule = createEventsModule({ events, tailing, repos })
  const codeModule = await createCodeModule({ ...shared, orgs, repos })
  const tokensModule = createTokensModule({ ...shared, orgs, repos })
  const { tokens } = tokensModule.services
  const anonymousModule = createAnonymousModule({ ...shared, orgs, repos })
  const { anonymous } = anonymousModule.services
  const invitesModule = createInvitesModule({ ...shared, repos, tokens, tokenEnding, anonymous })
  const agentsModule = createAgentsModule({ ...shared, orgs, repos, retiring })
  const recordsModule = createRecordsModule({ ...shared, repos })
  const { signing, declaredWebhooks } = createWebhooksFollowing(shared)
  const followWithDaemons = createDaemonsFollowing({ ...shared, maxPerOrg: config.limits.daemonsPerOrg })
  const daemonsOf = (repoId: string) => listDaemons(database.db, repoId)
  const extensionsModule = createExtensionsModule({
    ...shared,
    ...codeModule.services,
    ...recordsModule.services,
    declaredWebhooks,
    repos,
    enabled,
    following: [listenAnew, followWithDaemons],
    daemonsOf,
    modulesInUse: listModulesInUse,
  })
  const webhooksModule = createWebhooksModule({
    ...shared,
    ...extensionsModule.services,
    repos,
    runtimes,
    signing,
    bell,
  })
  const secretsModule = createRepoSecretsModule({ ...shared, repos })
  const runsModule = createRunsModule({
    ...shared,
    ...codeModule.services,
    ...recordsModule.services,
    ...secretsModule.services,
    ...extensionsModule.services,
    orgs,
    repos,
    runtimes,
    enabled,
    beginnings,
  })

  const daemonsModule = createDaemonsModule({
    ...shared,
    ...runsModule.services,
    orgs,
    repos,
    waking,
    beginnings: daemonBeginnings,
  })
  const overviewModule = createOverviewModule({
    ...codeModule.services,
    ...recordsModule.services,
    ...extensionsModule.services,
    ...runsModule.services,
    repos,
    daemonsOf,
  })
  const operatorsModule = createOperatorsModule({ ...shared, ...codeModule.services, orgs, runtimes })
  const modules: Module[] = [
    mailModule,
    orgsModule,
    accessModule,
    keysModule,
    peopleModule,
    reposModule,
    eventsModule,
    codeModule,
    tokensModule,
    anonymousModule,
    invitesModule,
    agentsModule,
    recordsModule,
    extensionsModule,
    webhooksModule,
    secretsModule,
    runsModule,
    daemonsModule,
    overviewModule,
    operatorsModule,
  ]
  return {
    services: {
      ...orgsModule.services,
      ...keysModule.services,
      ...peopleModule.services,
      ...reposModule.services,
      ...codeModule.services,
      ...anonymousModule.services,
      ...invitesModule.services,
      ...agentsModule.services,
      ...recordsModule.services,
      ...extensionsModule.services,
      ...eventsModule.services,
      ...runsModule.services,
    },
    /** What is no setting and yet for callers to know. */
    bounds: { ...runBounds, daemon: { eventsPerWake: MOST_EVENTS } },
    handlers: mergeHandlers(modules.flatMap(({ handlers }) => handlers ?? [])),
    work: [
      ...scratchUpkeep(base.scratch),
      forgetThrottles(throttles),
      ...modules.flatMap(({ work }) => work ?? []),
    ],
    /** The last to be made is the first to go. */
    async close(): Promise<void> {
      for (const { close } of modules.toReversed()) await close?.()
    },
  }
}

const forgetThrottles = ({ sweep }: Throttles): Work =>
  periodic({ name: 'old throttles', everyMs: 10 * 60_000, where: 'one process', run: sweep })

function scratchUpkeep({ beat, sweep }: Scratch): Work[] {
  return [
    periodic({ name: 'scratch beat', everyMs: SCRATCH_BEAT_MS, where: 'each process', run: beat }),
    periodic({
      name: 'abandoned scratch',
      everyMs: 15 * 60_000,
      where: 'one process',
      atStart: true,
      deletesByClock: true,
      run: sweep,
    }),
  ]
}
