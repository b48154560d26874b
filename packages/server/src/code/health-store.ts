import type { PackDamage } from '../git/packs/pack-store.ts'
import type { Db, Tx } from '../schema.ts'
import type { PackRow } from './store.ts'

/** Packs that at least one repository lists. The others count for nothing and go by themselves. */
const listedPacks = (q: Db) =>
  q
    .selectFrom('packs')
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('repo_packs').select('repo_id').whereRef('repo_packs.pack_id', '=', 'packs.id')),
    )

/** A page of them in the order of their ids. */
export const listListed = (q: Db, { after, limit }: { after: string; limit: number }): Promise<PackRow[]> =>
  listedPacks(q).selectAll().where('id', '>', after).orderBy('id').limit(limit).execute()

/** Their ids alone, which are all in an index. */
export async function listListedIds(
  q: Db,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await q
    .selectFrom('repo_packs')
    .select('pack_id')
    .distinct()
    .where('pack_id', '>', after)
    .orderBy('pack_id')
    .limit(limit)
    .execute()
  return rows.map(({ pack_id }) => pack_id)
}

/** Those whose last check is longest ago, if it was before `before`. */
export const listDue = (q: Db, { before, limit }: { before: number; limit: number }): Promise<PackRow[]> =>
  listedPacks(q).selectAll().where('checked_at', '<', before).orderBy('checked_at').limit(limit).execute()

export const listDamaged = (q: Db, limit: number): Promise<PackRow[]> =>
  listedPacks(q).selectAll().where('damage', 'is not', null).limit(limit).execute()

export async function countDamaged(q: Db): Promise<number> {
  const { count } = await listedPacks(q)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('damage', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** What some of all packs take, listed or not, and which of them is the last; null when there are no more. */
export async function sumBytes(
  q: Db,
  { after, limit }: { after: string; limit: number },
): Promise<{ bytes: number; last: string | null }> {
  const { bytes, last } = await q
    .selectFrom((eb) =>
      eb
        .selectFrom('packs')
        .select(['id', 'bytes'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .as('some'),
    )
    .select((eb) => [eb.fn.sum<number | null>('some.bytes').as('bytes'), eb.fn.max('some.id').as('last')])
    .executeTakeFirstOrThrow()
  return { bytes: Number(bytes ?? 0), last }
}

/** Which of these are listed. */
export async function listListedOf(q: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await listedPacks(q)
    .select('id')
    .where('id', 'in', [...ids])
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Some of the repositories that list a pack. */
export async function listReposWith(q: Db, packId: string, limit: number): Promise<string[]> {
  const rows = await q
    .selectFrom('repo_packs')
    .select('repo_id')
    .where('pack_id', '=', packId)
    .orderBy('repo_id')
    .limit(limit)
    .execute()
  return rows.map(({ repo_id }) => repo_id)
}

export async function recordCheck(
  tx: Tx,
  packId: string,
  { checkedAt, damage }: { checkedAt: number; damage: PackDamage | null },
): Promise<void> {
  await tx.updateTable('packs').set({ checked_at: checkedAt, damage }).where('id', '=', packId).execute()
}

/** What is due first. */
export async function hastenCheck(tx: Tx, packIds: readonly string[]): Promise<void> {
  if (packIds.length === 0) return
  await tx
    .updateTable('packs')
    .set({ checked_at: 0 })
    .where('id', 'in', [...packIds])
    .execute()
}

/** What repositories are said to have, and what their packs have together, in one moment. */
export async function listSizes(
  q: Db,
  repoIds: readonly string[],
): Promise<{ id: string; said: number; bytes: number }[]> {
  const rows = await q
    .selectFrom('repos')
    .leftJoin('repo_packs', 'repo_packs.repo_id', 'repos.id')
    .leftJoin('packs', 'packs.id', 'repo_packs.pack_id')
    .select((eb) => [
      'repos.id',
      'repos.size_bytes as said',
      eb.fn.coalesce(eb.fn.sum<number>('packs.bytes'), eb.lit(0)).as('bytes'),
    ])
    .where('repos.id', 'in', [...repoIds])
    .groupBy(['repos.id', 'repos.size_bytes'])
    .execute()
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }))
}
