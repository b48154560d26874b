import { setImmediate } from 'node:timers/promises'
import type { ExpressionBuilder, Generated, Selectable } from 'kysely'
import { prepared, preparedInsert } from '../db/prepared.ts'
import type { Oid, RefName } from '../git/names.ts'
import type { PackDamage, PackInfo } from '../git/packs/pack-store.ts'
import type { Ref } from '../git/protocol/advertisement.ts'
import type { Db, Schema, Tx } from '../schema.ts'

interface GitRefsTable {
  repo_id: string
  name: RefName
  oid: Oid
  /** What an annotated tag finally points to. */
  peeled: Oid | null
}

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

/** How many rows go into one statement. While it runs on SQLite, nobody else gets their turn. */
const BATCH = 100
const NAMES_READ = 500

function* batchesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += BATCH) yield items.slice(i, i + BATCH)
}

const allRefs = prepared((db: Db, { repoId }: { repoId: string }) =>
  db.selectFrom('git_refs').select(['name', 'oid', 'peeled']).where('repo_id', '=', repoId).orderBy('name'),
)

/** All refs in the order of their names, which is the order of their bytes. */
export const listRefs = (q: Db, repoId: string): Promise<Ref[]> => allRefs(q, { repoId })

const namesAfter = prepared(
  (db: Db, { repoId, after, limit }: { repoId: string; after: RefName; limit: number }) =>
    db
      .selectFrom('git_refs')
      .select('name')
      .where('repo_id', '=', repoId)
      .where('name', '>', after)
      .orderBy('name')
      .limit(limit),
)

/** In order, and read in pieces. */
export async function* eachRefName(q: Db, repoId: string): AsyncGenerator<RefName> {
  let after: RefName | undefined = '' as RefName
  while (after !== undefined) {
    const names: { name: RefName }[] = await namesAfter(q, { repoId, after, limit: NAMES_READ })
    for (const { name } of names) yield name
    after = names.length < NAMES_READ ? undefined : names.at(-1)?.name
  }
}

const oneRef = prepared((db: Db, { repoId, name }: { repoId: string; name: RefName }) =>
  db
    .selectFrom('git_refs')
    .select(['name', 'oid', 'peeled'])
    .where('repo_id', '=', repoId)
    .where('name', '=', name),
)

export async function findRef(q: Db, repoId: string, name: RefName): Promise<Ref | undefined> {
  const [ref] = await oneRef(q, { repoId, name })
  return ref
}

/** A page of the refs whose names begin with `prefix`, after the one named `after`. */
export const listRefsBelow = (
  q: Db,
  { repoId, prefix, after, limit }: { repoId: string; prefix: string; after: string; limit: number },
): Promise<Ref[]> =>
  q
    .selectFrom('git_refs')
    .select(['name', 'oid', 'peeled'])
    .where('repo_id', '=', repoId)
    .where('name', '>', (after > prefix ? after : prefix) as RefName)
    // The first name past the prefix: '0' follows '/'.
    .where('name', '<', `${prefix.slice(0, -1)}0` as RefName)
    .orderBy('name')
    .limit(limit)
    .execute()

const oneInside = prepared((db: Db, { repoId, from, to }: { repoId: string; from: RefName; to: RefName }) =>
  db
    .selectFrom('git_refs')
    .select('name')
    .where('repo_id', '=', repoId)
    .where('name', '>', from)
    .where('name', '<', to)
    .limit(1),
)

/** A ref for which `name` is a folder: a file system could not hold both. */
export async function findRefInside(q: Db, repoId: string, name: RefName): Promise<RefName | undefined> {
  const [found] = await oneInside(q, { repoId, from: `${name}/` as RefName, to: `${name}0` as RefName })
  return found?.name
}

const insertFree = preparedInsert<Schema, 'git_refs', { name: RefName }>('git_refs', (insert) =>
  insert.onConflict((conflict) => conflict.columns(['repo_id', 'name']).doNothing()).returning('name'),
)

/** The names that were free; the others have a ref already. */
export async function insertRefs(tx: Tx, repoId: string, refs: readonly Ref[]): Promise<Set<RefName>> {
  const rows = refs.map(({ name, oid, peeled }) => ({ repo_id: repoId, name, oid, peeled }))
  return new Set((await insertFree(tx, rows)).map(({ name }) => name))
}

interface RefMove {
  name: RefName
  /** Where it must be. */
  before: Oid
  /** Null deletes it. */
  after: Oid | null
  peeled: Oid | null
}

const putRefs = preparedInsert<Schema, 'git_refs'>('git_refs', (insert) =>
  insert.onConflict((conflict) =>
    conflict.columns(['repo_id', 'name']).doUpdateSet((eb) => ({
      oid: eb.ref('excluded.oid'),
      peeled: eb.ref('excluded.peeled'),
    })),
  ),
)

/** Moves and deletes refs, and gives the names of those that were at `before`. The repository must be locked. */
export async function moveRefs(
  tx: Tx,
  repoId: string,
  moves: readonly RefMove[],
): Promise<ReadonlySet<RefName>> {
  const moved = new Set<RefName>()
  for (const batch of batchesOf(moves)) {
    const there = await tx
      .selectFrom('git_refs')
      .select(['name', 'oid'])
      .where('repo_id', '=', repoId)
      .where(
        'name',
        'in',
        batch.map(({ name }) => name),
      )
      .execute()
    const current = new Map(there.map(({ name, oid }) => [name, oid]))
    const fitting = batch.filter(({ name, before }) => current.get(name) === before)
    const gone = fitting.filter(({ after }) => after === null).map(({ name }) => name)
    const kept = fitting.flatMap(({ name, after, peeled }) => (after ? [{ name, oid: after, peeled }] : []))
    if (gone.length > 0)
      await tx.deleteFrom('git_refs').where('repo_id', '=', repoId).where('name', 'in', gone).execute()
    await putRefs(
      tx,
      kept.map((ref) => ({ repo_id: repoId, ...ref })),
    )
    for (const { name } of fitting) moved.add(name)
    if (batch.length === BATCH) await setImmediate()
  }
  return moved
}

const refCount = prepared((db: Db, { repoId }: { repoId: string }) =>
  db
    .selectFrom('git_refs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('repo_id', '=', repoId),
)

export async function countRefs(q: Db, repoId: string): Promise<number> {
  const [counted] = await refCount(q, { repoId })
  return Number(counted?.count ?? 0)
}

const packsOf = prepared((db: Db, { repoId }: { repoId: string }) =>
  db
    .selectFrom('repo_packs')
    .innerJoin('packs', 'packs.id', 'repo_packs.pack_id')
    .selectAll('packs')
    .where('repo_packs.repo_id', '=', repoId),
)

export const listPacks = (q: Db, repoId: string): Promise<PackRow[]> => packsOf(q, { repoId })

export async function insertPack(
  tx: Tx,
  repoId: string,
  { packId, bytes, objects }: PackInfo,
  now: number,
): Promise<void> {
  await tx
    .insertInto('packs')
    .values({ id: packId, bytes, objects, created_at: now, unlisted_at: null, damage: null })
    .execute()
  await tx.insertInto('repo_packs').values({ repo_id: repoId, pack_id: packId }).execute()
}

/** Gives a new repository all refs and packs of another, which must be locked. */
export async function copyAll(tx: Tx, fromRepoId: string, toRepoId: string): Promise<void> {
  for (let after: RefName | undefined = '' as RefName; after !== undefined; ) {
    after = await copyRefsAfter(tx, fromRepoId, toRepoId, after)
    await setImmediate()
  }
  await tx
    .insertInto('repo_packs')
    .columns(['repo_id', 'pack_id'])
    .expression((eb) =>
      eb
        .selectFrom('repo_packs')
        .select((ref) => [ref.val(toRepoId).as('repo_id'), 'pack_id'])
        .where('repo_id', '=', fromRepoId),
    )
    .execute()
}

export async function sumPacks(q: Db, repoId: string): Promise<number> {
  const { bytes } = await q
    .selectFrom('repo_packs')
    .innerJoin('packs', 'packs.id', 'repo_packs.pack_id')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('packs.bytes'), eb.lit(0)).as('bytes'))
    .where('repo_packs.repo_id', '=', repoId)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

/** Gives the last name that was copied; undefined when there may be no more. */
async function copyRefsAfter(
  tx: Tx,
  fromRepoId: string,
  toRepoId: string,
  after: RefName,
): Promise<RefName | undefined> {
  const copied = await tx
    .insertInto('git_refs')
    .columns(['repo_id', 'name', 'oid', 'peeled'])
    .expression((eb) =>
      eb
        .selectFrom('git_refs')
        .select((ref) => [ref.val(toRepoId).as('repo_id'), 'name', 'oid', 'peeled'])
        .where('repo_id', '=', fromRepoId)
        .where('name', '>', after)
        // What the server keeps below refs/trellis/ says something of the parent alone.
        .where((where) =>
          where.or([
            where('name', '<', 'refs/trellis/' as RefName),
            where('name', '>=', 'refs/trellis0' as RefName),
          ]),
        )
        .orderBy('name')
        .limit(BATCH),
    )
    .returning('name')
    .execute()
  if (copied.length < BATCH) return undefined
  // In no order that could be relied on.
  return copied
    .map(({ name }) => name)
    .reduce((a, b) => (Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0 ? a : b))
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
export async function deleteSomeRefs(tx: Tx, repoId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('git_refs')
    .where('repo_id', '=', repoId)
    .where('name', 'in', (eb) =>
      eb.selectFrom('git_refs').select('name').where('repo_id', '=', repoId).limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

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

/** Forgets the packs nobody has listed since before `before`, and gives their ids: their files may go. */
export async function deleteUnlisted(tx: Tx, before: number): Promise<string[]> {
  const deleted = await tx
    .deleteFrom('packs')
    .where('unlisted_at', '<', before)
    .where(isUnlisted)
    .returning('id')
    .execute()
  return deleted.map(({ id }) => id)
}

export async function listKnownPacks(q: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await q
    .selectFrom('packs')
    .select('id')
    .where('id', 'in', [...ids])
    .execute()
  return new Set(rows.map(({ id }) => id))
}
