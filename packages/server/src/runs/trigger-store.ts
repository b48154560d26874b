import type { Selectable } from 'kysely'
import { prepared } from '../db/prepared.ts'
import type { Db, Tx } from '../schema.ts'

interface TriggersTable {
  repo_id: string
  extension: string
  /** Of a workflow that waits for an event, and its step; empty and 0 for an extension that is started by one. */
  run_id: string
  step: number
  /** JSON: a subscription to pushes, and one to events. */
  on_push: string | null
  on_event: string | null
  /** The record it declares, and which of its changes it wants to hear of. */
  record_name: string | null
  on_create: number
  on_transition: number
}

export interface RunTriggerTables {
  run_triggers: TriggersTable
}

export type TriggerRow = Selectable<TriggersTable>

/** Every change of every repository asks this. */
export const listTriggers = prepared((db: Db, { repoId }: { repoId: string }) =>
  db.selectFrom('run_triggers').selectAll().where('repo_id', '=', repoId).orderBy('extension'),
)

/** Of the extensions; workflows go on waiting for what they wait for. */
export async function replaceTriggers(tx: Tx, repoId: string, rows: readonly TriggerRow[]): Promise<void> {
  await tx.deleteFrom('run_triggers').where('repo_id', '=', repoId).where('run_id', '=', '').execute()
  for (let i = 0; i < rows.length; i += 50)
    await tx
      .insertInto('run_triggers')
      .values(rows.slice(i, i + 50))
      .execute()
}

export async function insertTrigger(tx: Tx, row: TriggerRow): Promise<void> {
  await tx.insertInto('run_triggers').values(row).execute()
}

export async function countWaits(q: Db, repoId: string): Promise<number> {
  const { count } = await q
    .selectFrom('run_triggers')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('repo_id', '=', repoId)
    .where('run_id', '!=', '')
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Of a workflow, or of one of its steps. */
export async function deleteWaits(
  tx: Tx,
  { repoId, runId, step }: { repoId: string; runId: string; step?: number },
): Promise<void> {
  let query = tx.deleteFrom('run_triggers').where('repo_id', '=', repoId).where('run_id', '=', runId)
  if (step !== undefined) query = query.where('step', '=', step)
  await query.execute()
}

export async function deleteTriggers(tx: Tx, repoId: string): Promise<void> {
  await tx.deleteFrom('run_triggers').where('repo_id', '=', repoId).execute()
}

/** What has to be known of a repository to run something for it. */
interface Place {
  org_id: string
  name: string
  read_only: number
  expires_at: number | null
  frozen: number
}

export const findPlace = (q: Db, repoId: string): Promise<Place | undefined> =>
  q
    .selectFrom('repos')
    .innerJoin('orgs', 'orgs.id', 'repos.org_id')
    .select(['repos.org_id', 'repos.name', 'repos.read_only', 'repos.expires_at', 'orgs.frozen'])
    .where('repos.id', '=', repoId)
    .executeTakeFirst()
