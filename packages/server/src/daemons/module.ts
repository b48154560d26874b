import { createBell } from '../background/bell.ts'
import type { EventsService, Subscriber } from '../events/service.ts'
import type { Base, Ground, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { ReposService } from '../repos/service.ts'
import type { RunsService } from '../runs/service.ts'
import type { Waking } from '../runs/waking.ts'
import { daemonsHandlers } from './handlers.ts'
import { createDaemonHearing } from './hearing.ts'
import { redateDaemons, wakeDaemons } from './looking.ts'
import { createDaemonMetrics } from './metrics.ts'
import { createDaemonsService } from './service.ts'
import { createDaemonWaking } from './waking.ts'

/** Each is a short transaction, and others write, too. */
const WAKES_AT_ONCE = 4

interface DaemonsNeeds extends Base {
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  waking: Waking
  /** Undefined where extensions are switched off. */
  runs: RunsService | undefined
  beginnings: DaemonBeginnings
}

type DaemonBeginnings = ReturnType<typeof createDaemonBeginnings>

/** What of daemons there must be before there are events: the one who hears of them. */
export function createDaemonBeginnings({ config, database, clock, waking }: Ground & { waking: Waking }) {
  const bell = createBell()
  const subscribers: Subscriber[] = config.extensions.enabled
    ? [createDaemonHearing({ database, clock, waking, wake: bell.ring })]
    : []
  return { bell, subscribers }
}

export function createDaemonsModule(needs: DaemonsNeeds) {
  const { config, database, clock, registry, runs, beginnings } = needs
  if (!runs) return { services: {}, handlers: { daemons: daemonsHandlers(undefined) } } satisfies Module
  const { bell } = beginnings
  const metrics = createDaemonMetrics({ registry, db: database.db, clock })
  const waking = createDaemonWaking({ ...needs, metrics })
  const daemons = createDaemonsService({ ...needs, runs, waking, wake: bell.ring })
  const { concurrency, leaseMs } = config.runs
  // Who runs nothing wakes nobody either.
  const looking = { ...needs, waking, bell, leaseMs, concurrency: concurrency === 0 ? 0 : WAKES_AT_ONCE }
  return {
    services: {},
    handlers: { daemons: daemonsHandlers(daemons) },
    work: [wakeDaemons(looking), redateDaemons(looking)],
  } satisfies Module
}
