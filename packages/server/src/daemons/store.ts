import type { RunStatus } from '@trellis/contract'
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { isNoLivingWorker } from '../background/workers.ts'
import { prepared } from '../db/prepared.ts'
import type { Database, Db, Tx } from '../schema.ts'

/** Why a daemon is woken. */
export type WakeReason = 'schedule' | 'events' | 'manual'

export type WakeOutcome =
  | 'dispatched'
  | 'succeeded'
  | 'failed'
  | 'skipped_running'
  | 'skipped_quarantined'
  | 'rejected'

interface DaemonsTable {
  id: string
  repo_id: string
  org_id: string
  /** Of the extension. */
  name: string
  canonical_sha: string
  module_hash: string
  descriptor_hash: string
  interval_minutes: number
  /** JSON: what it was granted. */
  capabilities: string
  /** JSON: names and patterns; null when only the clock wakes it. */
  event_types: string | null
  /** Wakes in a row that failed. */
  failures: number
  quarantined_until: number | null
  /** It is tried again then, and not before, whatever else is due. */
  retry_at: number | null
  /** When the clock wakes it next. */
  tick_at: number
  /** When somebody has to look at it: the first of all reasons. */
  due_at: number
  /** When these times were set, by the clock of then. */
  set_at: number
  /** Who has it in hand. */
  worker_id: string | null
  /** The wake that is under way. */
  run_id: string | null
  wake_reason: WakeReason | null
  /** What the last wake was told of: how many events, and up to which number. */
  wake_to: number | null
  wake_count: number
  last_wake_at: number | null
  last_wake_outcome: WakeOutcome | null
  last_wake_detail: string | null
  last_run_id: string | null
  last_run_status: Extract<RunStatus, 'succeeded' | 'failed' | 'cancelled'> | null
  last_run_ended_at: number | null
  /** When it last took events, and which. */
  consumed_at: number | null
  consumed_detail: string | null
  /** Where in the log the events begin that it has not taken yet, and how many there are. */
  pending_from: number | null
  pending_count: number
}

export interface DaemonTables {
  daemons: DaemonsTable
}

export type DaemonRow = Selectable<DaemonsTable>
export type DaemonChange = Updateable<DaemonsTable>

/** What daemons of a repository listen to. Every change of every repository asks this, and many listen to the same. */
export const listListening = prepared((db: Db, { repoId }: { repoId: string }) =>
  db
    .selectFrom('daemons')
    .select('event_types')
    .distinct()
    .where('repo_id', '=', repoId)
    .where('event_types', 'is not', null),
)

/** The one whose wake a run is. */
export const findByRun = (q: Db, runId: string): Promise<DaemonRow | undefined> =>
  q.selectFrom('daemons').selectAll().where('run_id', '=', runId).executeTakeFirst()

export const listOf = (q: Db, repoId: string): Promise<DaemonRow[]> =>
  q.selectFrom('daemons').selectAll().where('repo_id', '=', repoId).orderBy('name').execute()

export const findDaemon = (q: Db, id: string): Promise<DaemonRow | undefined> =>
  q.selectFrom('daemons').selectAll().where('id', '=', id).executeTakeFirst()

export const findByName = (q: Db, repoId: string, name: string): Promise<DaemonRow | undefined> =>
  q
    .selectFrom('daemons')
    .selectAll()
    .where('repo_id', '=', repoId)
    .where('name', '=', name)
    .executeTakeFirst()

export async function countOf(q: Db, orgId: string): Promise<number> {
  const { count } = await q
    .selectFrom('daemons')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertDaemon(tx: Tx, row: Insertable<DaemonsTable>): Promise<void> {
  await tx.insertInto('daemons').values(row).execute()
}

export async function updateDaemon(tx: Tx, id: string, change: DaemonChange): Promise<void> {
  await tx.updateTable('daemons').set(change).where('id', '=', id).execute()
}

export async function deleteDaemon(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('daemons').where('id', '=', id).execute()
}

export async function deleteOf(tx: Tx, repoId: string): Promise<void> {
  await tx.deleteFrom('daemons').where('repo_id', '=', repoId).execute()
}

interface NewlyPending {
  repoId: string
  /** Those who listen to just this. */
  types: string
  /** The first of the events, and how many there are. */
  from: number
  count: number
  now: number
}

/** Events that daemons want to hear of. One that waits for nothing else is due at once. */
export async function addPending(tx: Tx, { repoId, types, from, count, now }: NewlyPending): Promise<void> {
  await tx
    .updateTable('daemons')
    .set((eb) => {
      const isFree = sql<boolean>`run_id is null and retry_at is null and quarantined_until is null and due_at > ${now}`
      return {
        pending_count: eb('pending_count', '+', count),
        pending_from: eb.fn.coalesce('pending_from', eb.val(from)),
        due_at: sql<number>`case when ${isFree} then ${now} else due_at end`,
        set_at: sql<number>`case when ${isFree} then ${now} else set_at end`,
      }
    })
    .where('repo_id', '=', repoId)
    .where('event_types', '=', types)
    .execute()
}

/** Organizations with daemons that are due, the one with the longest due first. Most of the time there is none. */
export async function listDueOrgs(q: Db, now: number): Promise<string[]> {
  const rows = await q
    .selectFrom('daemons')
    .select((eb) => ['org_id', eb.fn.min('due_at').as('since')])
    .where('due_at', '<=', now)
    .groupBy('org_id')
    .orderBy('since')
    .execute()
  return rows.map(({ org_id }) => org_id)
}

interface Claim {
  orgId: string
  workerId: string
  now: number
  /** How long a worker may be silent; the same in every process. */
  leaseMs: number
  limit: number
}

/** Due, and in nobody's hands. */
const claimable = (q: Db, { orgId, now, leaseMs, limit }: Claim) =>
  q
    .selectFrom('daemons')
    .select('id')
    .where('org_id', '=', orgId)
    .where('due_at', '<=', now)
    .where((eb) =>
      eb.or([eb('worker_id', 'is', null), isNoLivingWorker('daemons.worker_id', { now, leaseMs })]),
    )
    .orderBy('due_at')
    .limit(limit)

export type DueDaemon = Pick<DaemonRow, 'id' | 'repo_id' | 'org_id'>

/** Takes daemons of an organization to look at. First a look, which costs nothing: all may be in hand. */
export async function claimDue(database: Database, claim: Claim): Promise<DueDaemon[]> {
  const [found] = await claimable(database.db, { ...claim, limit: 1 }).execute()
  if (!found) return []
  return database.transact((tx) => {
    const free = claimable(tx, claim)
    return (
      tx
        .updateTable('daemons')
        .set({ worker_id: claim.workerId })
        // Somebody else may be taking them in this moment.
        .where('id', 'in', database.dialect === 'postgres' ? free.forUpdate().skipLocked() : free)
        .returning(['id', 'repo_id', 'org_id'])
        .execute()
    )
  })
}

export async function giveBack(tx: Tx, id: string, workerId: string): Promise<void> {
  await tx
    .updateTable('daemons')
    .set({ worker_id: null })
    .where('id', '=', id)
    .where('worker_id', '=', workerId)
    .execute()
}

/** Those whose times were set by a clock that is ahead of this one. */
export const listSetAfter = (q: Db, after: number, limit: number): Promise<DueDaemon[]> =>
  q
    .selectFrom('daemons')
    .select(['id', 'repo_id', 'org_id'])
    .where('set_at', '>', after)
    .limit(limit)
    .execute()

/** Each is counted in an index: there may be very many. */
export async function countByStatus(q: Db): Promise<{ active: number; quarantined: number }> {
  const count = q.selectFrom('daemons').select((eb) => eb.fn.countAll<number>().as('count'))
  const all = Number((await count.executeTakeFirstOrThrow()).count)
  const kept = await count.where('quarantined_until', 'is not', null).executeTakeFirstOrThrow()
  const quarantined = Number(kept.count)
  return { active: all - quarantined, quarantined }
}

/** When the first of all is due, or was. */
export async function findFirstDue(q: Db): Promise<number | undefined> {
  const row = await q.selectFrom('daemons').select('due_at').orderBy('due_at').limit(1).executeTakeFirst()
  return row?.due_at
}
