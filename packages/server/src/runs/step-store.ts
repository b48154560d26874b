import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../schema.ts'
import { SHOWN_CHARACTERS } from './shown-steps.ts'

interface StepsTable {
  run_id: string
  /** Counts them in the order they were begun, from 0. */
  step: number
  name: string
  kind: 'do' | 'sleep' | 'sleepUntil' | 'waitForEvent'
  state: 'running' | 'waiting' | 'done' | 'failed'
  attempt: number
  /** Null of those from before this was kept. */
  begun_at: number | null
  /** When one that waits goes on by itself. */
  due_at: number | null
  /** Counts them in the order they ended, from 1. */
  place: number | null
  ended_at: number | null
  /** JSON: what the module asked for, and what of that is shown. */
  asked: string
  /** JSON: the event that it waited for. */
  arrived: string | null
  /** JSON; null when there is none. */
  result: string | null
  /** JSON, which begins with what is shown of it. */
  error: string | null
}

export interface RunStepTables {
  run_steps: StepsTable
}

export type StepRow = Selectable<StepsTable>

export const listSteps = (q: Db, runId: string): Promise<StepRow[]> =>
  q.selectFrom('run_steps').selectAll().where('run_id', '=', runId).orderBy('step').execute()

/** What can be shown of any of them: what they gave may be large. */
const OUTLINE = [
  'step',
  'name',
  'kind',
  'state',
  'attempt',
  'begun_at',
  'due_at',
  'ended_at',
  'asked',
] as const

export type StepOutline = Pick<StepRow, (typeof OUTLINE)[number] | 'error'>

export const listStepOutlines = (q: Db, runId: string): Promise<StepOutline[]> =>
  q
    .selectFrom('run_steps')
    .select(OUTLINE)
    .select(sql<string | null>`substr(error, 1, ${sql.lit(SHOWN_CHARACTERS)})`.as('error'))
    .where('run_id', '=', runId)
    .orderBy('step')
    .execute()

export async function putStep(tx: Tx, row: StepRow): Promise<void> {
  const { run_id: _, step: __, arrived: ___, ...rest } = row
  await tx
    .insertInto('run_steps')
    .values(row)
    .onConflict((conflict) => conflict.columns(['run_id', 'step']).doUpdateSet(rest))
    .execute()
}

export const findArrived = (
  q: Db,
  runId: string,
  step: number,
): Promise<{ arrived: string | null } | undefined> =>
  q
    .selectFrom('run_steps')
    .select('arrived')
    .where('run_id', '=', runId)
    .where('step', '=', step)
    .executeTakeFirst()

/** Whether there is something for a step that it does not know of. */
export const hasArrived = async (q: Db, runId: string): Promise<boolean> =>
  (await q
    .selectFrom('run_steps')
    .select('step')
    .where('run_id', '=', runId)
    .where('arrived', 'is not', null)
    .where('state', '=', sql.lit('waiting'))
    .limit(1)
    .executeTakeFirst()) !== undefined

/** What a step waited for has happened. The first is what it gets. */
export async function setArrived(tx: Tx, runId: string, step: number, event: string): Promise<void> {
  await tx
    .updateTable('run_steps')
    .set({ arrived: event })
    .where('run_id', '=', runId)
    .where('step', '=', step)
    .where('state', '=', 'waiting')
    .where('arrived', 'is', null)
    .execute()
}

/** When the first of those that wait goes on by itself; undefined when none does. */
export async function findNextDue(q: Db, runId: string): Promise<number | undefined> {
  const row = await q
    .selectFrom('run_steps')
    .select((eb) => eb.fn.min('due_at').as('due'))
    .where('run_id', '=', runId)
    .where('state', '=', 'waiting')
    .executeTakeFirst()
  return row?.due ?? undefined
}

export async function deleteSteps(tx: Tx, runId: string): Promise<void> {
  await tx.deleteFrom('run_steps').where('run_id', '=', runId).execute()
}
