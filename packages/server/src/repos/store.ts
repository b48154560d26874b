import type { ExpressionBuilder, Generated, Insertable, Selectable } from 'kysely'
import { prepared, preparedChange, remembered } from '../db/prepared.ts'
import type { Db, Schema, Tx } from '../schema.ts'

interface ReposTable {
  id: string
  org_id: string
  name: string
  /** The set of git objects behind the repository. */
  artifact_id: string
  default_branch: string
  read_only: number
  size_bytes: number
  last_push_at: number | null
  /** Where it was imported or forked from. */
  source: string | null
  /** Past it the repository is gone. Zero: it was deleted, and what belongs to it is being removed. */
  expires_at: number | null
  /** Counts every change of the refs. */
  refs_version: Generated<number>
  /** Counts how often objects that nothing reaches were taken away. */
  prunes: Generated<number>
  /** JSON: what is refused on which refs; null for what every repository starts with. */
  ref_rules: string | null
  created_at: number
  updated_at: number
}

export interface RepoTables {
  repos: ReposTable
}

export type RepoRow = Selectable<ReposTable>

/** What a listing shows. */
const LISTED = [
  'name',
  'org_id',
  'default_branch',
  'artifact_id',
  'read_only',
  'size_bytes',
  'last_push_at',
  'source',
  'created_at',
  'updated_at',
] as const

export type ListedRepo = Pick<RepoRow, (typeof LISTED)[number]>

/** A repository past its end is gone, even before it is swept away. */
const liveRepos = (q: Db, orgId: string, now: number) =>
  q
    .selectFrom('repos')
    .where('org_id', '=', orgId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))

const byName = remembered(['repos'], (db: Db, { orgId, name }: { orgId: string; name: string }) =>
  db.selectFrom('repos').selectAll().where('org_id', '=', orgId).where('name', '=', name),
)

export async function findByName(
  q: Db,
  { orgId, name, now }: { orgId: string; name: string; now: number },
): Promise<RepoRow | undefined> {
  const [repo] = await byName(q, { orgId, name })
  return repo && (repo.expires_at === null || repo.expires_at > now) ? repo : undefined
}

const byId = prepared((db: Db, { id, now }: { id: string; now: number }) =>
  db
    .selectFrom('repos')
    .selectAll()
    .where('id', '=', id)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
)

export async function findById(q: Db, id: string, now: number): Promise<RepoRow | undefined> {
  const [repo] = await byId(q, { id, now })
  return repo
}

/** Those that were deleted but not removed, too. */
export const listExpired = (q: Db, now: number): Promise<{ id: string; org_id: string }[]> =>
  q.selectFrom('repos').select(['id', 'org_id']).where('expires_at', '<=', now).limit(1000).execute()

const DELETED = 0

const isNotDeleted = ({ or, eb }: ExpressionBuilder<Schema, 'repos'>) =>
  or([eb('expires_at', 'is', null), eb('expires_at', '>', DELETED)])

interface RepoPage {
  orgId: string
  now: number
  after: string
  limit: number
}

export const listByName = prepared((db: Db, { orgId, now, after, limit }: RepoPage) =>
  liveRepos(db, orgId, now).select(LISTED).where('name', '>', after).orderBy('name').limit(limit),
)

/** All names, those of repositories that are gone too: nothing but the index is read. */
export const listNamesAfter = prepared((db: Db, { orgId, after, limit }: Omit<RepoPage, 'now'>) =>
  db
    .selectFrom('repos')
    .select('name')
    .where('org_id', '=', orgId)
    .where('name', '>', after)
    .orderBy('name')
    .limit(limit),
)

/** Those whose names lie between. */
export const listBeginning = prepared(
  (db: Db, { orgId, now, prefix, end, after, limit }: RepoPage & { prefix: string; end: string }) =>
    liveRepos(db, orgId, now)
      .select(LISTED)
      .where('name', '>=', prefix)
      .where('name', '<', end)
      .where('name', '>', after)
      .orderBy('name')
      .limit(limit),
)

export const listNamed = (
  q: Db,
  { orgId, now, names }: Pick<RepoPage, 'orgId' | 'now'> & { names: readonly string[] },
): Promise<ListedRepo[]> =>
  liveRepos(q, orgId, now)
    .select(LISTED)
    .where('name', 'in', [...names])
    .orderBy('name')
    .execute()

/** The page of a caller who may see this one repository. */
export const listOnly = prepared((db: Db, { id, orgId, now, after, limit }: RepoPage & { id: string }) =>
  liveRepos(db, orgId, now).select(LISTED).where('id', '=', id).where('name', '>', after).limit(limit),
)

type NewRow = Required<Omit<Insertable<ReposTable>, 'refs_version' | 'prunes' | 'ref_rules'>>

/** What no repository begins with otherwise. */
const AT_FIRST = { refs_version: 0, prunes: 0, ref_rules: null }

const insertOne = preparedChange((db: Db, row: NewRow) =>
  db
    .insertInto('repos')
    .values({
      id: row.id,
      org_id: row.org_id,
      name: row.name,
      artifact_id: row.artifact_id,
      default_branch: row.default_branch,
      read_only: row.read_only,
      size_bytes: row.size_bytes,
      last_push_at: row.last_push_at,
      source: row.source,
      expires_at: row.expires_at,
      created_at: row.created_at,
      updated_at: row.updated_at,
      ...AT_FIRST,
    })
    .onConflict((conflict) => conflict.columns(['org_id', 'name']).doNothing()),
)

/** Undefined when the organization has a repository of that name. */
export async function insert(tx: Tx, row: NewRow): Promise<RepoRow | undefined> {
  return (await insertOne(tx, row)) > 0 ? { ...row, ...AT_FIRST } : undefined
}

type Changes = Partial<Pick<RepoRow, 'name' | 'default_branch' | 'read_only' | 'updated_at'>>

const updateOne = preparedChange((db: Db, row: RepoRow) =>
  db
    .updateTable('repos')
    .set({
      name: row.name,
      default_branch: row.default_branch,
      read_only: row.read_only,
      updated_at: row.updated_at,
    })
    .where('id', '=', row.id),
)

/** Changes a repository that is locked, as `before` shows it. */
export async function update(tx: Tx, before: RepoRow, changes: Changes): Promise<RepoRow> {
  const after = { ...before, ...changes }
  await updateOne(tx, after)
  return after
}

const lockOne = prepared((db: Db, { id }: { id: string }) =>
  db
    .updateTable('repos')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('id', '=', id)
    .where(isNotDeleted)
    .returningAll(),
)

/** The row as it is now, locked until the transaction ends. */
export const lock = async (tx: Tx, id: string): Promise<RepoRow | undefined> => (await lockOne(tx, { id }))[0]

export async function setRefRules(tx: Tx, id: string, ref_rules: string): Promise<void> {
  await tx.updateTable('repos').set({ ref_rules }).where('id', '=', id).execute()
}

/** What the packs it lists have together. */
export async function setSize(tx: Tx, id: string, size_bytes: number): Promise<void> {
  await tx.updateTable('repos').set({ size_bytes }).where('id', '=', id).execute()
}

export async function countPrune(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('repos')
    .set((eb) => ({ prunes: eb('prunes', '+', eb.lit(1)) }))
    .where('id', '=', id)
    .execute()
}

/** Takes a repository out of everybody's sight and frees its name. The row stays until nothing belongs to it any more. */
export async function markDeleted(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('repos')
    .set({ name: `~${id}`, expires_at: DELETED })
    .where('id', '=', id)
    .execute()
}

/** Undefined when somebody else has removed it. */
export const removeDeleted = (tx: Tx, id: string): Promise<RepoRow | undefined> =>
  tx
    .deleteFrom('repos')
    .where('id', '=', id)
    .where('expires_at', '=', DELETED)
    .returningAll()
    .executeTakeFirst()

const recordOne = prepared((db: Db, change: { id: string; addedBytes: number; pushedAt: number }) =>
  db
    .updateTable('repos')
    .set((eb) => ({
      refs_version: eb('refs_version', '+', eb.lit(1)),
      size_bytes: eb('size_bytes', '+', change.addedBytes),
      last_push_at: change.pushedAt,
      updated_at: change.pushedAt,
    }))
    .where('id', '=', change.id)
    .where(isNotDeleted)
    .returningAll(),
)

export async function recordChange(
  tx: Tx,
  id: string,
  change: { addedBytes: number; pushedAt: number },
): Promise<RepoRow | undefined> {
  const [repo] = await recordOne(tx, { id, ...change })
  return repo
}

/** Notes that refs changed without a push. */
export const recordServerChange = (tx: Tx, id: string, now: number): Promise<RepoRow | undefined> =>
  tx
    .updateTable('repos')
    .set((eb) => ({ refs_version: eb('refs_version', '+', eb.lit(1)), updated_at: now }))
    .where('id', '=', id)
    .where(isNotDeleted)
    .returningAll()
    .executeTakeFirst()

/** Nothing in the organization ends by itself any more. */
export async function liftExpiry(tx: Tx, orgId: string): Promise<void> {
  await tx
    .updateTable('repos')
    .set({ expires_at: null })
    .where('org_id', '=', orgId)
    .where('expires_at', '>', DELETED)
    .execute()
}

/** With the name of its organization. */
export type RegisteredRepo = RepoRow & { slug: string }

export const listRegistered = (
  q: Db,
  { after, limit }: { after: string; limit: number },
): Promise<RegisteredRepo[]> =>
  q
    .selectFrom('repos')
    .innerJoin('orgs', 'orgs.id', 'repos.org_id')
    .selectAll('repos')
    .select('orgs.slug')
    .where('repos.id', '>', after)
    // Of one that is being deleted some is gone already.
    .where((eb) => eb.or([eb('repos.expires_at', 'is', null), eb('repos.expires_at', '>', DELETED)]))
    .orderBy('repos.id')
    .limit(limit)
    .execute()

export const listNames = (
  q: Db,
  ids: readonly string[],
): Promise<{ id: string; slug: string; name: string }[]> =>
  q
    .selectFrom('repos')
    .innerJoin('orgs', 'orgs.id', 'repos.org_id')
    .select(['repos.id', 'orgs.slug', 'repos.name'])
    .where('repos.id', 'in', [...ids])
    .execute()
