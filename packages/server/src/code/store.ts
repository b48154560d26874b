import type { ExpressionBuilder, Generated, Selectable } from 'kysely'
import { prepared, preparedChange, preparedInsert, remembered } from '../db/prepared.ts'
import type { Oid } from '../git/names.ts'
import type { PackDamage, PackInfo } from '../git/packs/pack-store.ts'
import type { Db, Schema, Tx } from '../schema.ts'
import type { GitRefsTable } from './ref-store.ts'

interface PacksTable {
  id: string
  bytes: number
  objects: number
  created_at: number
  /** Since when no repository lists it. */
  unlisted_at: number | null
  /** When all of it was last read and compared. */
  checked_at: Generated<number>
  /** What was found then; null while nothing is known to be wrong. */
  damage: PackDamage | null
}

interface RepoPacksTable {
  repo_id: string
  pack_id: string
}

interface AbandonedTipsTable {
  repo_id: string
  /** Where a ref was that was deleted, or moved to where this is not part of its history. */
  oid: Oid
  since: number
}

export interface CodeTables {
  abandoned_tips: AbandonedTipsTable
  git_refs: GitRefsTable
  packs: PacksTable
  repo_packs: RepoPacksTable
}

export type PackRow = Selectable<PacksTable>

const packsOf = remembered(['repo_packs', 'packs'], (db: Db, { repoId }: { repoId: string }) =>
  db
    .selectFrom('repo_packs')
    .innerJoin('packs', 'packs.id', 'repo_packs.pack_id')
    .selectAll('packs')
    .where('repo_packs.repo_id', '=', repoId),
)

export const listPacks = (q: Db, repoId: string): Promise<readonly PackRow[]> => packsOf(q, { repoId })

export type PackState = Pick<PackRow, 'id' | 'damage'>

const statesOf = prepared((db: Db, { repoId }: { repoId: string }) =>
  db
    .selectFrom('repo_packs')
    .innerJoin('packs', 'packs.id', 'repo_packs.pack_id')
    .select(['packs.id', 'packs.damage'])
    .where('repo_packs.repo_id', '=', repoId)
    .orderBy('packs.created_at', 'desc'),
)

/** Only what a reader has to know of each, as it is now. The last comes first, since most want what is in it. */
export const listPackStates = (q: Db, repoId: string): Promise<readonly PackState[]> =>
  statesOf(q, { repoId })

const putPacks = preparedInsert<Schema, 'packs'>('packs')
const putListed = preparedInsert<Schema, 'repo_packs'>('repo_packs')

export async function insertPack(
  tx: Tx,
  repoId: string,
  { packId, bytes, objects }: PackInfo,
  now: number,
): Promise<void> {
  await putPacks(tx, [{ id: packId, bytes, objects, created_at: now, unlisted_at: null, damage: null }])
  await putListed(tx, [{ repo_id: repoId, pack_id: packId }])
}

const copyAllPacks = preparedChange((db: Db, { from, to }: { from: string; to: string }) =>
  db
    .insertInto('repo_packs')
    .columns(['repo_id', 'pack_id'])
    .expression((eb) =>
      eb
        .selectFrom('repo_packs')
        .select((ref) => [ref.val(to).as('repo_id'), 'pack_id'])
        .where('repo_id', '=', from),
    ),
)

/** Gives a new repository all packs of another, which must be locked. */
export async function copyPacks(tx: Tx, fromRepoId: string, toRepoId: string): Promise<void> {
  await copyAllPacks(tx, { from: fromRepoId, to: toRepoId })
}

const sumOf = prepared((q: Db, { repoId }: { repoId: string }) =>
  q
    .selectFrom('repo_packs')
    .innerJoin('packs', 'packs.id', 'repo_packs.pack_id')
    .select((eb) => eb.fn.sum<number | string | null>('packs.bytes').as('bytes'))
    .where('repo_packs.repo_id', '=', repoId),
)

export async function sumPacks(q: Db, repoId: string): Promise<number> {
  const [sum] = await sumOf(q, { repoId })
  return Number(sum?.bytes ?? 0)
}

/** Lists one pack in place of others. False when they are not all listed any more: somebody else was quicker. */
export async function replacePacks(
  tx: Tx,
  repoId: string,
  { folded, pack, now }: { folded: readonly string[]; pack: PackInfo | undefined; now: number },
): Promise<boolean> {
  const removed = await tx
    .deleteFrom('repo_packs')
    .where('repo_id', '=', repoId)
    .where('pack_id', 'in', [...folded])
    .returning('pack_id')
    .execute()
  if (removed.length !== folded.length) return false
  if (pack) await insertPack(tx, repoId, pack, now)
  await tx
    .updateTable('packs')
    .set({ unlisted_at: now })
    .where('id', 'in', [...folded])
    .where(isUnlisted)
    .execute()
  return true
}

/** Of a repository that is being deleted. */
export async function deleteSomePackEntries(tx: Tx, repoId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('repo_packs')
    .where('repo_id', '=', repoId)
    .where('pack_id', 'in', (eb) =>
      eb.selectFrom('repo_packs').select('pack_id').where('repo_id', '=', repoId).limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Repositories with the most packs, for maintenance. */
export const listFragmented = (
  q: Db,
  { minPacks, limit }: { minPacks: number; limit: number },
): Promise<{ repo_id: string }[]> =>
  q
    .selectFrom('repo_packs')
    .select('repo_id')
    .groupBy('repo_id')
    .having((eb) => eb.fn.countAll(), '>=', minPacks)
    .orderBy((eb) => eb.fn.countAll(), 'desc')
    .limit(limit)
    .execute()

const isUnlisted = ({ not, exists, selectFrom }: ExpressionBuilder<Schema, 'packs'>) =>
  not(exists(selectFrom('repo_packs').select('repo_id').whereRef('repo_packs.pack_id', '=', 'packs.id')))

/** Notes since when packs are listed by nobody, and forgets that of those that are listed again. */
export async function markUnlisted(tx: Tx, now: number): Promise<void> {
  await tx
    .updateTable('packs')
    .set({ unlisted_at: now })
    .where('unlisted_at', 'is', null)
    .where(isUnlisted)
    .execute()
  await tx
    .updateTable('packs')
    .set({ unlisted_at: null })
    .where('unlisted_at', 'is not', null)
    .where((eb) => eb.not(isUnlisted(eb)))
    .execute()
}

/** Forgets some of the packs nobody has listed since before `before`, and gives their ids: their files may go. */
export async function deleteUnlisted(
  tx: Tx,
  { before, limit }: { before: number; limit: number },
): Promise<string[]> {
  const deleted = await tx
    .deleteFrom('packs')
    .where('id', 'in', (eb) =>
      eb.selectFrom('packs').select('id').where('unlisted_at', '<', before).where(isUnlisted).limit(limit),
    )
    .returning('id')
    .execute()
  return deleted.map(({ id }) => id)
}

export async function listKnownPacks(q: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await q
    .selectFrom('packs')
    .select('id')
    .where('id', 'in', [...ids])
    .execute()
  return new Set(rows.map(({ id }) => id))
}
