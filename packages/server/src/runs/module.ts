import type { Runtime } from '@trellis/contract'
import { createBell } from '../background/bell.ts'
import { createDesk } from '../background/desk.ts'
import { createHints, hinted } from '../background/hinted.ts'
import { periodic } from '../background/periodic.ts'
import type { Work } from '../background/work.ts'
import type { BrowseService } from '../code/browse.ts'
import type { CommitsService } from '../code/commits.ts'
import type { RefsService } from '../code/refs.ts'
import type { Repositories } from '../code/repositories.ts'
import type { EventsService, Subscriber } from '../events/service.ts'
import type { ExtensionsService } from '../extensions/service.ts'
import type { Base, Ground, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Egress } from '../platform/egress.ts'
import type { RecordsService } from '../records/service.ts'
import type { RepoSecrets } from '../repo-secrets/service.ts'
import type { ReposService } from '../repos/service.ts'
import type { FoundRuntimes } from '../runtime/runtimes.ts'
import { createArrivals } from './arrivals.ts'
import { createBeginning } from './beginning.ts'
import { createCancels } from './cancels.ts'
import { createCheckOut } from './checking-out.ts'
import { createFetching } from './ctx/fetching.ts'
import { createGoingOn } from './ctx/going-on.ts'
import { createCtxHosts } from './ctx/host.ts'
import { eventMethods, recordMethods } from './ctx/others.ts'
import { repoMethods } from './ctx/repo.ts'
import { runMethods } from './ctx/runs.ts'
import { createDispatching } from './dispatching.ts'
import { createEndMarked } from './ending.ts'
import { createExecution } from './executing.ts'
import { runsHandlers } from './handlers.ts'
import { createJournals } from './journal.ts'
import { createKeptRoom } from './kept-room.ts'
import { lanesOf, lanesWithout } from './lanes.ts'
import { createRunLogs } from './logging.ts'
import { createRunMetrics } from './metrics.ts'
import { createJudging, createProposing } from './proposing.ts'
import { createQueueRoom } from './queue-room.ts'
import { createRetention } from './retention.ts'
import { runQueues } from './running.ts'
import { createSchemaChecks } from './schema-checks.ts'
import { createRunsService } from './service.ts'
import type { RunRow } from './store.ts'
import { createTaking } from './taking.ts'
import { takeOverAbandoned } from './taking-over.ts'
import { createTransitions } from './transitions.ts'
import { createTriggers } from './triggers.ts'
import { createWaiting } from './waiting.ts'
import { createWaking } from './waking.ts'

const PRUNE_EVERY_MS = 60 * 60_000
const SETTLE_MS = 1_000
const LOOK_EVERY_MS = 10_000

interface RunsNeeds extends Base {
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  records: RecordsService | undefined
  browse: BrowseService
  commits: CommitsService
  refs: RefsService
  repositories: Repositories
  secrets: RepoSecrets
  egress: Egress
  /** Undefined where extensions are switched off. */
  extensions: ExtensionsService | undefined
  /** What runs modules. */
  runtimes: FoundRuntimes
  enabled: ReadonlySet<Runtime>
  beginnings: RunBeginnings
}

type RunBeginnings = ReturnType<typeof createRunBeginnings>

/** What of runs there must be before there are events: those who hear of them, and what they write. */
export function createRunBeginnings({
  config,
  database,
  clock,
  newId,
  enabled,
}: Ground & { enabled: ReadonlySet<Runtime> }) {
  const bell = createBell()
  const arrivals = createArrivals(bell.ring)
  const waiting = createWaiting({ db: database.db })
  const hints = createHints()
  const keptRoom = createKeptRoom(config.runs)
  const queueRoom = createQueueRoom({ ...config.runs, keptRoom })
  const transitions = createTransitions({
    database,
    clock,
    newId,
    keptRoom,
    wake: bell.ring,
    onEnded: waiting.ended,
    onArrived: arrivals.tell,
    onOverfull: hints.hint,
  })
  const proposed = createHints()
  const marked = createHints()
  const proposing = createProposing({ database, newId, onProposed: proposed.hint })
  const subscribers: Subscriber[] = config.extensions.enabled
    ? [
        createTriggers({
          ...{ database, transitions, proposing, queueRoom, runtimes: enabled },
          onArrived: arrivals.tell,
        }),
      ]
    : []
  const checks = createSchemaChecks()
  const waking = createWaking({ transitions, queueRoom, runtimes: enabled, checks })
  return {
    bell,
    arrivals,
    waiting,
    hints,
    proposed,
    marked,
    checks,
    keptRoom,
    queueRoom,
    transitions,
    waking,
    subscribers,
  }
}

export function createRunsModule(needs: RunsNeeds) {
  const { config, database, clock, log, extensions, beginnings } = needs
  if (!extensions)
    return { services: { runs: undefined }, handlers: { runs: runsHandlers(undefined) } } satisfies Module
  const { db } = database
  const { bell, arrivals, waiting, hints, proposed, marked, checks, transitions, keptRoom, queueRoom } =
    beginnings
  const complain = (message: string, about: object) => log.error(message, { ...about })
  const cancels = createCancels({ db })
  const fetching = createFetching(needs)
  const runtimes = needs.runtimes.open(createCheckOut({ ...needs, maxBytes: config.sandbox.treeBytes }))
  const lanes = lanesOf(config)
  const desk = createDesk<RunRow>()
  const taking = createTaking({ ...needs, transitions, lanes })
  const dispatching = createDispatching({
    ...needs,
    extensions,
    checks,
    beginning: createBeginning({ ...needs, transitions, taking, lanes, desk }),
    queueRoom,
    runtimes: needs.enabled,
    switchedOff: new Set(needs.runtimes.off.flatMap(({ names, isBySetting }) => (isBySetting ? names : []))),
  })
  const { hostFor } = createCtxHosts({
    ...needs,
    db,
    methods: {
      ...repoMethods({ ...needs, maxCommitBytes: config.limits.commitBodyBytes }),
      ...recordMethods(needs.records),
      ...eventMethods(needs),
      ...runMethods(dispatching),
      ...fetching.methods,
    },
    journals: createJournals({ database, clock, transitions }),
    goingOn: createGoingOn(needs),
    complain,
  })
  const logs = createRunLogs({
    ...needs,
    transitions,
    maxBytes: config.runs.logBytes,
    complain: (error) => complain('the logs of runs could not be written', { error }),
  })
  const metrics = createRunMetrics({ registry: needs.registry, db, clock })
  const execution = createExecution({
    ...needs,
    extensions,
    transitions,
    logs,
    checks,
    runtimes,
    timeoutMs: (runtime) => (runtime === 'sandbox' ? config.sandbox : config.runs).timeoutMs,
    hostFor,
    onEnded: metrics.ended,
    complain,
  })
  const runs = createRunsService({ ...needs, dispatching, transitions, waiting, cancels })
  const judging = createJudging({ ...needs, checks, transitions, hint: proposed.hint })
  const retention = createRetention({
    ...needs,
    transitions,
    retentionMs: config.runs.retentionMs,
    keptRoom,
  })
  // Told at once when the server stops: those who wait are answered.
  const waiters: Work = {
    name: 'waiting for runs',
    start: () => ({ stop: async () => waiting.close() }),
  }

  return {
    services: { runs },
    handlers: { runs: runsHandlers(runs) },
    work: [
      runQueues({
        ...needs,
        lanes,
        unserved: lanesWithout(needs.enabled),
        leaseMs: config.runs.leaseMs,
        transitions,
        taking,
        cancels,
        bell,
        desk,
        arrivals,
        execute: execution.run,
        takeOver: execution.takeOver,
      }),
      takeOverAbandoned({ db, clock, leaseMs: config.runs.leaseMs, takeOver: execution.takeOver }),
      waiters,
      periodic({
        name: 'old runs',
        everyMs: PRUNE_EVERY_MS,
        where: 'one process',
        deletesByClock: true,
        run: retention.pruneAll,
      }),
      hinted({
        name: 'proposed runs',
        hints: proposed,
        settleMs: 0,
        longestBurstMs: SETTLE_MS,
        run: judging.judge,
      }),
      periodic({
        name: 'proposed runs left behind',
        everyMs: LOOK_EVERY_MS,
        where: 'each process',
        atStart: true,
        run: judging.lookAround,
      }),
      hinted({
        name: 'runs of those who have left',
        hints: marked,
        settleMs: 0,
        longestBurstMs: SETTLE_MS,
        run: createEndMarked({ ...needs, transitions, cancels }),
      }),
      hinted({
        name: 'many runs',
        hints,
        settleMs: SETTLE_MS,
        longestBurstMs: 10 * SETTLE_MS,
        run: retention.pruneOrg,
      }),
    ],
    async close() {
      await Promise.all([checks.close(), fetching.close(), logs.flush()])
      for (const runtime of new Set(Object.values(runtimes))) await runtime.close()
    },
  } satisfies Module
}
