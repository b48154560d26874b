import type { Bell } from '../background/bell.ts'
import { leased } from '../background/leased.ts'
import { periodic } from '../background/periodic.ts'
import type { Work } from '../background/work.ts'
import type { EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock, Stopwatch } from '../platform/clock.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import { earlier } from './scheduling.ts'
import * as store from './store.ts'
import { createTurns } from './turns.ts'
import type { DaemonPlace, DaemonWaking } from './waking.ts'

interface LookingDeps {
  database: Database
  events: EventsService
  repos: ReposService
  orgs: OrgsService
  clock: Clock
  stopwatch: Stopwatch
  waking: DaemonWaking
  /** Rung when one may have come due. */
  bell: Bell
  /** Wakes at once; none with 0. */
  concurrency: number
  leaseMs: number
}

const REDATE_EVERY_MS = 60_000
/** The clocks of several machines never agree. */
const DISAGREEMENT_MS = 60_000
const REDATED_AT_ONCE = 100

/** Looks for daemons that are due, and wakes them: each in the hands of one process at a time. */
export function wakeDaemons(deps: LookingDeps): Work {
  const { database, repos, orgs, clock, waking, bell, concurrency, leaseMs } = deps

  async function placeOf(repoId: string): Promise<DaemonPlace | undefined> {
    const repo = await repos.find(repoId)
    if (!repo) return undefined
    const org = await orgs.find(database.db, repo.org_id)
    return {
      id: repo.id,
      orgId: repo.org_id,
      isProvisional: repo.expires_at !== null,
      isFrozen: repo.read_only === 1 || org?.frozen === 1,
    }
  }

  const takeInTurn = createTurns({
    listDue: () => store.listDueOrgs(database.db, clock()),
    stopwatch: deps.stopwatch,
  })

  return leased<store.DueDaemon>({
    name: 'daemons',
    concurrency,
    leaseMs,
    bell,
    keyOf: ({ id }) => id,
    claim: ({ workerId, room }) =>
      takeInTurn(room, (orgId, limit) =>
        store.claimDue(database, { orgId, workerId, now: clock(), leaseMs, limit }),
      ),

    async work(due, hold) {
      const place = await placeOf(due.repo_id)
      // It goes with its repository, and is not in the way until then.
      if (place && hold.isHeld()) await waking.wakeDue(due, place)
    },

    async giveBack(ids, workerId) {
      for (const id of ids) await database.transact((tx) => store.giveBack(tx, id, workerId))
    },
  })
}

/** Has daemons be woken when the clock has been set back: their times would not come until it is there again. */
export function redateDaemons({ database, events, clock, bell }: LookingDeps): Work {
  return periodic({
    name: 'misdated daemons',
    everyMs: REDATE_EVERY_MS,
    where: 'one process',
    atStart: true,
    async run(signal) {
      for (let more = true; more && !signal.aborted; ) {
        const latest = clock() + DISAGREEMENT_MS
        const misdated = await store.listSetAfter(database.db, latest, REDATED_AT_ONCE)
        for (const { id, repo_id } of misdated)
          await database.transact(async (tx) => {
            await events.lockIn(tx, repoScope(repo_id))
            const daemon = await store.findDaemon(tx, id)
            if (!daemon || daemon.set_at <= latest) return
            const now = clock()
            await store.updateDaemon(tx, id, { ...earlier(daemon, daemon.set_at - now), set_at: now })
          })
        more = misdated.length === REDATED_AT_ONCE
      }
      bell.ring()
    },
  })
}
