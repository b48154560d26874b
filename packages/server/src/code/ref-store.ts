import { setImmediate } from 'node:timers/promises'
import { prepared, preparedInsert, remembered } from '../db/prepared.ts'
import type { Oid, RefName } from '../git/names.ts'
import type { Ref } from '../git/protocol/advertisement.ts'
import { compareNames } from '../git/protocol/sorted-refs.ts'
import type { Db, Schema, Tx } from '../schema.ts'

export interface GitRefsTable {
  repo_id: string
  name: RefName
  oid: Oid
  /** What an annotated tag finally points to. */
  peeled: Oid | null
}

/** How many rows go into one statement. While it runs on SQLite, nobody else gets their turn. */
const BATCH = 100
const NAMES_READ = 500
const REFS_READ = 2_000

function* batchesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += BATCH) yield items.slice(i, i + BATCH)
}

const refsAfter = prepared(
  (db: Db, { repoId, after, limit }: { repoId: string; after: RefName; limit: number }) =>
    db
      .selectFrom('git_refs')
      .select(['name', 'oid', 'peeled'])
      .where('repo_id', '=', repoId)
      .where('name', '>', after)
      .orderBy('name')
      .limit(limit),
)

/**
 * All refs in the order of their names, which is the order of their bytes. Many are read in pieces, between which others
 * get their turn; one that moves meanwhile is given as it was or as it is.
 */
export async function listRefs(q: Db, repoId: string): Promise<Ref[]> {
  const refs: Ref[] = []
  for (let after: RefName | undefined = '' as RefName; after !== undefined; ) {
    const some: Ref[] = await refsAfter(q, { repoId, after, limit: REFS_READ })
    for (const ref of some) refs.push(ref)
    after = some.length < REFS_READ ? undefined : some.at(-1)?.name
    if (after !== undefined) await setImmediate()
  }
  return refs
}

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

const oneRef = remembered(['git_refs'], (db: Db, { repoId, name }: { repoId: string; name: RefName }) =>
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

async function oidsOf(tx: Tx, repoId: string, names: readonly RefName[]): Promise<ReadonlyMap<RefName, Oid>> {
  const [only] = names
  // Most moves are of one ref.
  if (only && names.length === 1) {
    const ref = await findRef(tx, repoId, only)
    return new Map(ref && [[ref.name, ref.oid]])
  }
  const there = await tx
    .selectFrom('git_refs')
    .select(['name', 'oid'])
    .where('repo_id', '=', repoId)
    .where('name', 'in', names)
    .execute()
  return new Map(there.map(({ name, oid }) => [name, oid]))
}

/** Moves and deletes refs, and gives the names of those that were at `before`. The repository must be locked. */
export async function moveRefs(
  tx: Tx,
  repoId: string,
  moves: readonly RefMove[],
): Promise<ReadonlySet<RefName>> {
  const moved = new Set<RefName>()
  for (const batch of batchesOf(moves)) {
    const current = await oidsOf(
      tx,
      repoId,
      batch.map(({ name }) => name),
    )
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

const copySomeRefs = prepared((db: Db, { from, to, after }: { from: string; to: string; after: RefName }) =>
  db
    .insertInto('git_refs')
    .columns(['repo_id', 'name', 'oid', 'peeled'])
    .expression((eb) =>
      eb
        .selectFrom('git_refs')
        .select((ref) => [ref.val(to).as('repo_id'), 'name', 'oid', 'peeled'])
        .where('repo_id', '=', from)
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
    .returning('name'),
)

/** Gives a new repository all refs of another, which must be locked. */
export async function copyRefs(tx: Tx, fromRepoId: string, toRepoId: string): Promise<void> {
  for (let after = '' as RefName; ; ) {
    const copied = await copySomeRefs(tx, { from: fromRepoId, to: toRepoId, after })
    if (copied.length < BATCH) return
    // In no order that could be relied on.
    after = copied.map(({ name }) => name).reduce((a, b) => (compareNames(a, b) > 0 ? a : b))
    await setImmediate()
  }
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
