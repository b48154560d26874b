import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../schema.ts'

interface CanonicalCommitsTable {
  repo_id: string
  commit_oid: string
  promoted_at: number
}

interface CanonicalExtensionsTable {
  repo_id: string
  name: string
  /** JSON, as it was written. */
  descriptor: string
  descriptor_hash: string
  module_path: string
  module_hash: string
  bundler_version: string
  /** JSON: the capabilities it was given, sorted. */
  granted: string
  grant_hash: string
  /** The record it declares, and the hash of its schema. */
  record_name: string | null
  schema_hash: string | null
}

interface BuildsTable {
  /** A hash of everything in the folder of a module, where it is and what it is built for. */
  folder: string
  /** A hash of `outside`. */
  variant: string
  /** JSON: what was found at each path outside of the folder that the module looked at. */
  outside: string
  module_hash: string | null
  bytes: number
  /** With the source map. */
  stored_bytes: number
  /** JSON: why it cannot be built. */
  problems: string | null
  /** From when on it is worth another try; null when it will always end like this. */
  retry_at: number | null
  used_at: number
}

export interface ExtensionTables {
  canonical_commits: CanonicalCommitsTable
  canonical_extensions: CanonicalExtensionsTable
  extension_builds: BuildsTable
}

export type CanonicalExtensionRow = Selectable<CanonicalExtensionsTable>
export type BuildRow = Selectable<BuildsTable>

export interface Canonical {
  commit: string | undefined
  extensions: CanonicalExtensionRow[]
}

/** What is canonical in a repository, all of one promotion; with `names`, of the extensions only those. */
export async function readCanonical(q: Db, repoId: string, names?: readonly string[]): Promise<Canonical> {
  const rows = await q
    .selectFrom('canonical_commits')
    .leftJoin('canonical_extensions', (join) => {
      const own = join.onRef('canonical_extensions.repo_id', '=', 'canonical_commits.repo_id')
      return names ? own.on('canonical_extensions.name', 'in', [...names]) : own
    })
    .selectAll('canonical_extensions')
    .select('canonical_commits.commit_oid')
    .where('canonical_commits.repo_id', '=', repoId)
    .orderBy('canonical_extensions.name')
    .execute()
  // A commit without extensions is one row without any.
  const extensions = rows.filter(({ name }) => name !== null) as CanonicalExtensionRow[]
  return { commit: rows[0]?.commit_oid, extensions }
}

export async function findCanonicalCommit(q: Db, repoId: string): Promise<string | undefined> {
  const found = await q
    .selectFrom('canonical_commits')
    .select('commit_oid')
    .where('repo_id', '=', repoId)
    .executeTakeFirst()
  return found?.commit_oid
}

/** What is in force in a repository, and how much it is. Undefined before the first promotion. */
export async function countCanonical(
  q: Db,
  repoId: string,
): Promise<{ commit: string; extensions: number } | undefined> {
  const found = await q
    .selectFrom('canonical_commits')
    .select('commit_oid')
    .select((eb) =>
      eb
        .selectFrom('canonical_extensions')
        .select((inner) => inner.fn.countAll<number>().as('extensions'))
        .whereRef('canonical_extensions.repo_id', '=', 'canonical_commits.repo_id')
        .as('extensions'),
    )
    .where('repo_id', '=', repoId)
    .executeTakeFirst()
  return found && { commit: found.commit_oid, extensions: Number(found.extensions) }
}

/** Puts something else in force. The repository must be locked. */
export async function replaceCanonical(
  tx: Tx,
  {
    commit,
    extensions,
  }: { commit: Selectable<CanonicalCommitsTable>; extensions: readonly CanonicalExtensionRow[] },
): Promise<void> {
  await tx
    .insertInto('canonical_commits')
    .values(commit)
    .onConflict((conflict) =>
      conflict
        .column('repo_id')
        .doUpdateSet({ commit_oid: commit.commit_oid, promoted_at: commit.promoted_at }),
    )
    .execute()
  await tx.deleteFrom('canonical_extensions').where('repo_id', '=', commit.repo_id).execute()
  for (let i = 0; i < extensions.length; i += 50)
    await tx
      .insertInto('canonical_extensions')
      .values(extensions.slice(i, i + 50))
      .execute()
}

/** Newest use first. */
export const listBuilds = (q: Db, folders: readonly string[]): Promise<BuildRow[]> =>
  q
    .selectFrom('extension_builds')
    .selectAll()
    .where('folder', 'in', [...folders])
    .orderBy('used_at', 'desc')
    .execute()

/** How many variants of a folder are remembered. */
const VARIANTS = 8

export async function putBuild(tx: Tx, row: Insertable<BuildsTable>): Promise<void> {
  const { folder, variant, ...rest } = row
  await tx
    .insertInto('extension_builds')
    .values(row)
    .onConflict((conflict) => conflict.columns(['folder', 'variant']).doUpdateSet(rest))
    .execute()
  const surplus = await tx
    .selectFrom('extension_builds')
    .select('variant')
    .where('folder', '=', folder)
    .where('variant', '!=', variant)
    .orderBy('used_at', 'desc')
    .offset(VARIANTS - 1)
    .limit(100)
    .execute()
  if (surplus.length === 0) return
  await tx
    .deleteFrom('extension_builds')
    .where('folder', '=', folder)
    .where(
      'variant',
      'in',
      surplus.map((other) => other.variant),
    )
    .execute()
}

export async function touchBuilds(tx: Tx, folders: readonly string[], now: number): Promise<void> {
  await tx
    .updateTable('extension_builds')
    .set({ used_at: now })
    .where('folder', 'in', [...folders])
    .execute()
}

/** Forgets up to `limit` builds that nobody has used since before `before`. */
export async function deleteOldBuilds(tx: Tx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('extension_builds')
    .where('folder', 'in', (eb) =>
      eb.selectFrom('extension_builds').select('folder').where('used_at', '<', before).limit(limit),
    )
    .where('used_at', '<', before)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export async function sumBuilds(q: Db): Promise<number> {
  const { bytes } = await q
    .selectFrom('extension_builds')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('stored_bytes'), eb.lit(0)).as('bytes'))
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

/** When the build was last used that so many others have been used after. */
export async function findUseOfNth(q: Db, n: number): Promise<number | undefined> {
  const found = await q
    .selectFrom('extension_builds')
    .select('used_at')
    .orderBy('used_at')
    .offset(n)
    .limit(1)
    .executeTakeFirst()
  return found?.used_at
}

/** Those of the hashes that a build or something canonical still refers to. */
export async function listUsedModules(q: Db, hashes: readonly string[]): Promise<Set<string>> {
  const built = await q
    .selectFrom('extension_builds')
    .select('module_hash')
    .where('module_hash', 'in', [...hashes])
    .execute()
  const canonical = await q
    .selectFrom('canonical_extensions')
    .select('module_hash')
    .where('module_hash', 'in', [...hashes])
    .execute()
  return new Set([...built, ...canonical].flatMap(({ module_hash }) => module_hash ?? []))
}

/** Of a repository that is being deleted. */
export async function deleteSomeCanonical(tx: Tx, repoId: string): Promise<number> {
  await tx.deleteFrom('canonical_extensions').where('repo_id', '=', repoId).execute()
  await tx.deleteFrom('canonical_commits').where('repo_id', '=', repoId).execute()
  return 0
}
