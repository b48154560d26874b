import type { ActorKind, RunStatus, RunTrigger, Runtime } from '@trellis/contract'
import { type Insertable, type Selectable, sql } from 'kysely'
import { prepared, preparedInsert } from '../db/prepared.ts'
import type { Database, Db, Schema, Tx } from '../schema.ts'
import type { Lane } from './lanes.ts'

interface RunsTable {
  id: string
  repo_id: string
  org_id: string
  extension: string
  trigger_kind: RunTrigger
  status: RunStatus
  runtime: Runtime
  /** Where it waits: `lanes.ts`. */
  lane: Lane
  actor_kind: ActorKind
  actor_id: string
  ref: string
  before_oid: string | null
  after_oid: string | null
  /** What it reads, unless told otherwise. */
  commit_sha: string | null
  canonical_commit: string | null
  /** Where its module comes from, to build it again. */
  module_commit: string
  module_hash: string
  descriptor_hash: string | null
  grant_hash: string | null
  cause_event_id: string | null
  root_event_id: string | null
  depth: number
  token_id: string | null
  /** Who runs it. */
  worker_id: string | null
  /** Whether somebody may take it: it waits in its queue. */
  ready: number
  /** When somebody took it out of its queue last. */
  taken_at: number | null
  /** Of a workflow that sleeps: when it goes on by itself. */
  due_at: number | null
  cancel_requested_at: number | null
  exit_code: number | null
  created_at: number
  started_at: number | null
  ended_at: number | null
  /** What is kept of it, its log included. */
  bytes: number
  log_bytes: number
  error: string | null
  /** JSON: the runs it came from, the first one first. */
  ancestors: string
  /** JSON: what its descriptor asks for, and what it may do. */
  capabilities: string
  effective: string
  /** JSON. */
  input_schema: string | null
  output_schema: string | null
  input: string
  output: string | null
}

export interface RunTables {
  runs: RunsTable
}

export type RunRow = Selectable<RunsTable>
export type NewRunRow = Insertable<RunsTable>

export const insertRuns = preparedInsert<Schema, 'runs'>('runs')

const byId = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('runs').selectAll().where('id', '=', id),
)

export async function findRun(q: Db, id: string): Promise<RunRow | undefined> {
  const [run] = await byId(q, { id })
  return run
}

/** What a page is chosen by. */
interface RunOutline extends Pick<RunRow, 'id' | 'extension' | 'status' | 'trigger_kind'> {
  /** What it was given and gave: its log and its steps are kept, too, and not shown with it. */
  shown_bytes: number
}

/** Of these the database knows how long they are without reading them. */
const shownBytes = sql<number>`octet_length(input) + coalesce(octet_length(output), 0)`

/** Newest first, without anything that may be large. */
export function listOutlines(
  q: Db,
  { repoId, extension, below, limit }: { repoId: string; extension?: string; below?: string; limit: number },
): Promise<RunOutline[]> {
  let query = q
    .selectFrom('runs')
    .select(['id', 'extension', 'status', 'trigger_kind', shownBytes.as('shown_bytes')])
    .where('repo_id', '=', repoId)
    .orderBy('id', 'desc')
    .limit(limit)
  if (extension !== undefined) query = query.where('extension', '=', extension)
  if (below !== undefined) query = query.where('id', '<', below)
  return query.execute()
}

type LatestRun = Pick<RunRow, 'id' | 'extension' | 'trigger_kind' | 'status' | 'created_at' | 'ended_at'>

/** Newest first, without anything that may be large. */
export const listLatest = (q: Db, repoId: string, limit: number): Promise<LatestRun[]> =>
  q
    .selectFrom('runs')
    .select(['id', 'extension', 'trigger_kind', 'status', 'created_at', 'ended_at'])
    .where('repo_id', '=', repoId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

export const listRuns = (q: Db, ids: readonly string[]): Promise<RunRow[]> =>
  q
    .selectFrom('runs')
    .selectAll()
    .where('id', 'in', [...ids])
    .orderBy('id', 'desc')
    .execute()

/** Where runs came from, without anything that may be large. */
export const listLineages = (
  q: Db,
  ids: readonly string[],
): Promise<Pick<RunRow, 'id' | 'extension' | 'trigger_kind' | 'ancestors'>[]> =>
  q
    .selectFrom('runs')
    .select(['id', 'extension', 'trigger_kind', 'ancestors'])
    .where('id', 'in', [...ids])
    .execute()

/** Whose it is, and whether it has ended. */
export type RunPlace = Pick<RunRow, 'id' | 'org_id' | 'repo_id' | 'ended_at'>

export const findPlaceOf = (q: Db, id: string): Promise<RunPlace | undefined> =>
  q.selectFrom('runs').select(['id', 'org_id', 'repo_id', 'ended_at']).where('id', '=', id).executeTakeFirst()

export async function findEnd(q: Db, id: string): Promise<number | null> {
  const run = await q.selectFrom('runs').select('ended_at').where('id', '=', id).executeTakeFirst()
  return run?.ended_at ?? null
}

/** Those of the runs that have ended, or are no more. */
export async function listOver(q: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await q
    .selectFrom('runs')
    .select('id')
    .where('id', 'in', [...ids])
    .where('ended_at', 'is', null)
    .execute()
  const going = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => !going.has(id))
}

/** Those of the runs that are to go on, and in whose hands: nobody wants them to end, and they are not gone. */
export async function listGoingOn(q: Db, ids: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await q
    .selectFrom('runs')
    .select(['id', 'worker_id'])
    .where('id', 'in', [...ids])
    .where('status', '=', 'running')
    .where('cancel_requested_at', 'is', null)
    .execute()
  return new Map(rows.map(({ id, worker_id }) => [id, worker_id]))
}

/** How a run that somebody held has ended. */
export interface Ending {
  id: string
  workerId: string
  status: 'succeeded' | 'failed' | 'cancelled'
  error: string | null
  exitCode: number | null
  /** JSON. */
  output: string | null
  /** What is kept of it beyond what was. */
  grownBy: number
  logBytes: number
  now: number
}

const ending = prepared((db: Db, end: Ending) =>
  db
    .updateTable('runs')
    .set((eb) => ({
      status: end.status,
      error: end.error,
      exit_code: end.exitCode,
      output: end.output,
      bytes: eb('bytes', '+', end.grownBy),
      log_bytes: end.logBytes,
      ended_at: end.now,
      worker_id: null,
    }))
    .where('id', '=', end.id)
    .where('worker_id', '=', end.workerId)
    .where('status', '=', sql.lit('running'))
    .returningAll(),
)

/** Undefined when it is in other hands, has ended or is no more. */
export async function endRun(tx: Tx, end: Ending): Promise<RunRow | undefined> {
  const [run] = await ending(tx, end)
  return run
}

/** Those of the runs that this worker holds: nobody takes them from it before the transaction ends. */
export async function listHeld(
  tx: Tx,
  dialect: Database['dialect'],
  { ids, workerId }: { ids: readonly string[]; workerId: string },
): Promise<Set<string>> {
  const held = tx
    .selectFrom('runs')
    .select('id')
    .where('id', 'in', [...ids])
    .where('worker_id', '=', workerId)
    .where('status', '=', 'running')
  const rows = await (dialect === 'postgres' ? held.forShare() : held).execute()
  return new Set(rows.map(({ id }) => id))
}

/** Counts more that is kept of a run, which nobody takes then before the transaction ends. False when it is in other hands. */
export async function growHeld(
  tx: Tx,
  { id, workerId, grownBy }: { id: string; workerId: string; grownBy: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('runs')
    .set((eb) => ({ bytes: eb('bytes', '+', grownBy) }))
    .where('id', '=', id)
    .where('worker_id', '=', workerId)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Those of the modules that runs are still to be run with. */
export async function listUnended(q: Db, hashes: readonly string[]): Promise<string[]> {
  const rows = await q
    .selectFrom('runs')
    .select('module_hash')
    .distinct()
    .where('module_hash', 'in', [...hashes])
    .where('ended_at', 'is', null)
    .execute()
  return rows.map(({ module_hash }) => module_hash)
}

const REMOVABLE = ['id', 'org_id', 'lane', 'repo_id', 'ready', 'worker_id', 'bytes'] as const
export type Removable = Pick<RunRow, (typeof REMOVABLE)[number]>

export const listEndedBefore = (q: Db, before: number, limit: number): Promise<Removable[]> =>
  q
    .selectFrom('runs')
    .select(REMOVABLE)
    .where('ended_at', '<', before)
    .orderBy('ended_at')
    .limit(limit)
    .execute()

export const listOldestEnded = (q: Db, orgId: string, limit: number): Promise<Removable[]> =>
  q
    .selectFrom('runs')
    .select(REMOVABLE)
    .where('org_id', '=', orgId)
    .where('ended_at', 'is not', null)
    .orderBy('ended_at')
    .limit(limit)
    .execute()

export const findRunOf = (q: Db, repoId: string): Promise<Removable | undefined> =>
  q.selectFrom('runs').select(REMOVABLE).where('repo_id', '=', repoId).limit(1).executeTakeFirst()

/** Undefined when somebody else has removed it. */
export const deleteRun = (tx: Tx, id: string): Promise<Removable | undefined> =>
  tx.deleteFrom('runs').where('id', '=', id).returning(REMOVABLE).executeTakeFirst()

/** What waits in each lane that has any: how many, and since when. Counted in an index: there may be very many. */
export async function measureQueues(q: Db): Promise<Map<Lane, { count: number; oldest: number }>> {
  const queued = await q
    .selectFrom('runs')
    .select((eb) => ['lane', eb.fn.countAll<number>().as('count'), eb.fn.min('created_at').as('oldest')])
    .where('status', '=', sql.lit('queued'))
    .groupBy('lane')
    .execute()
  return new Map(queued.map(({ lane, count, oldest }) => [lane, { count: Number(count), oldest }]))
}

/** Those that a process has in hand, and workflows that wait for something. */
export async function countUnderWay(q: Db): Promise<{ running: number; sleeping: number }> {
  const running = q
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('status', '=', sql.lit('running'))
  const inHand = await running.where('worker_id', 'is not', null).executeTakeFirstOrThrow()
  const asleep = await running.where('worker_id', 'is', null).executeTakeFirstOrThrow()
  return { running: Number(inHand.count), sleeping: Number(asleep.count) }
}
