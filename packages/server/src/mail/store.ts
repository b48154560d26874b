import type { Insertable, Selectable } from 'kysely'
import { isNoLivingWorker } from '../background/workers.ts'
import type { Database, Db, Tx } from '../schema.ts'

interface LettersTable {
  id: string
  /** How often it was tried. */
  attempts: number
  due_at: number
  /** From then on what it says is of no use. */
  ends_at: number
  worker_id: string | null
  created_at: number
  /** Whom it is for and what it says. */
  sealed: string
}

export interface MailTables {
  letters: LettersTable
}

export type LetterRow = Selectable<LettersTable>

export async function insertLetter(tx: Tx, letter: Insertable<LettersTable>): Promise<void> {
  await tx.insertInto('letters').values(letter).execute()
}

interface Claim {
  workerId: string
  now: number
  /** How long a worker may be silent; the same in every process. */
  leaseMs: number
  /** Whatever is due later was put there by a clock that has been set back. */
  latest: number
  limit: number
}

/** Due, and in nobody's hands. */
const claimable = (q: Db, { now, leaseMs, latest, limit }: Claim) =>
  q
    .selectFrom('letters')
    .select('id')
    .where((eb) => eb.or([eb('due_at', '<=', now), eb('due_at', '>', latest)]))
    .where((eb) =>
      eb.or([eb('worker_id', 'is', null), isNoLivingWorker('letters.worker_id', { now, leaseMs })]),
    )
    .orderBy('due_at')
    .limit(limit)

/** Takes letters to send. First a look, which costs nothing: most of the time there is nothing to take. */
export async function claimLetters(database: Database, claim: Claim): Promise<LetterRow[]> {
  const [found] = await claimable(database.db, { ...claim, limit: 1 }).execute()
  if (!found) return []
  return database.transact((tx) => {
    const free = claimable(tx, claim)
    return (
      tx
        .updateTable('letters')
        .set({ worker_id: claim.workerId })
        // Somebody else may be taking them in this moment.
        .where('id', 'in', database.dialect === 'postgres' ? free.forUpdate().skipLocked() : free)
        .returningAll()
        .execute()
    )
  })
}

/** It could not be sent: it waits, in nobody's hands. */
export async function postpone(
  tx: Tx,
  { id, workerId, dueAt }: { id: string; workerId: string; dueAt: number },
): Promise<void> {
  await tx
    .updateTable('letters')
    .set((eb) => ({ worker_id: null, due_at: dueAt, attempts: eb('attempts', '+', eb.lit(1)) }))
    .where('id', '=', id)
    .where('worker_id', '=', workerId)
    .execute()
}

export async function giveBack(tx: Tx, ids: readonly string[], workerId: string): Promise<void> {
  await tx
    .updateTable('letters')
    .set({ worker_id: null })
    .where('id', 'in', ids)
    .where('worker_id', '=', workerId)
    .execute()
}

export async function deleteLetter(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('letters').where('id', '=', id).execute()
}
