import { setImmediate } from 'node:timers/promises'
import type { Oid } from '../git/names.ts'
import type { Db, Tx } from '../schema.ts'

const BATCH = 500

/** Notes where refs were until now. Whoever left the same place before has left it anew. */
export async function note(tx: Tx, repoId: string, oids: readonly Oid[], since: number): Promise<void> {
  const distinct = [...new Set(oids)]
  for (let i = 0; i < distinct.length; i += BATCH) {
    await tx
      .insertInto('abandoned_tips')
      .values(distinct.slice(i, i + BATCH).map((oid) => ({ repo_id: repoId, oid, since })))
      .onConflict((conflict) => conflict.columns(['repo_id', 'oid']).doUpdateSet({ since }))
      .execute()
    await setImmediate()
  }
}

/** Those that may still be wanted back. */
export const listAfter = async (q: Db, repoId: string, moment: number): Promise<Oid[]> =>
  (
    await q
      .selectFrom('abandoned_tips')
      .select('oid')
      .where('repo_id', '=', repoId)
      .where('since', '>', moment)
      .execute()
  ).map(({ oid }) => oid)

/** The repositories with something that nobody has wanted back since `moment`. */
export const listRepos = async (q: Db, moment: number, limit: number): Promise<string[]> =>
  (
    await q
      .selectFrom('abandoned_tips')
      .select('repo_id')
      .where('since', '<=', moment)
      .groupBy('repo_id')
      .orderBy((eb) => eb.fn.min('since'))
      .limit(limit)
      .execute()
  ).map(({ repo_id }) => repo_id)

export async function forget(tx: Tx, repoId: string, moment: number): Promise<void> {
  await tx.deleteFrom('abandoned_tips').where('repo_id', '=', repoId).where('since', '<=', moment).execute()
}

/** Of a repository that is being deleted. */
export async function deleteSome(tx: Tx, repoId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('abandoned_tips')
    .where('repo_id', '=', repoId)
    .where('oid', 'in', (eb) =>
      eb.selectFrom('abandoned_tips').select('oid').where('repo_id', '=', repoId).limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
