import type { Database } from '../schema.ts'

export interface TurnTables {
  background_turns: { name: string; due_at: number }
}

/**
 * Whether it is this process that does a job this time: of all that ask, the first after the job has come due. One that
 * dies over it is followed by another when the interval is over.
 */
export async function takeTurn(
  database: Database,
  { name, everyMs, now }: { name: string; everyMs: number; now: number },
): Promise<boolean> {
  // Most of the time it is not due, and looking costs nothing.
  const known = await database.db
    .selectFrom('background_turns')
    .select('due_at')
    .where('name', '=', name)
    .executeTakeFirst()
  if (known && !isDue(known.due_at, everyMs, now)) return false
  const due_at = now + everyMs
  const taken = await database.transact((tx) =>
    known
      ? tx
          .updateTable('background_turns')
          .set({ due_at })
          .where('name', '=', name)
          .where('due_at', '=', known.due_at)
          .returning('name')
          .executeTakeFirst()
      : tx
          .insertInto('background_turns')
          .values({ name, due_at })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .returning('name')
          .executeTakeFirst(),
  )
  return taken !== undefined
}

/**
 * Further ahead than this it can only have been put by a clock that was wrong. One interval is what it was put ahead,
 * the other is for clocks of several machines, which never agree: or each would take the turn after the others.
 */
const isDue = (dueAt: number, everyMs: number, now: number): boolean =>
  dueAt <= now || dueAt > now + 2 * everyMs
