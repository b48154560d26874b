import { prepared } from '../db/prepared.ts'
import type { Db, Tx } from '../schema.ts'
import type { RepoRow } from './store.ts'

interface FormerRepoNamesTable {
  org_id: string
  name: string
  repo_id: string
  left_at: number
}

export interface RepoNameTables {
  former_repo_names: FormerRepoNamesTable
}

/** A repository is found by so many of the names it had, the last ones. */
const KEPT = 50

const byFormerName = prepared((db: Db, { orgId, name, now }: { orgId: string; name: string; now: number }) =>
  db
    .selectFrom('former_repo_names')
    .innerJoin('repos', 'repos.id', 'former_repo_names.repo_id')
    .selectAll('repos')
    .where('former_repo_names.org_id', '=', orgId)
    .where('former_repo_names.name', '=', name)
    .where((eb) => eb.or([eb('repos.expires_at', 'is', null), eb('repos.expires_at', '>', now)])),
)

/** The repository that had this name last. Ask it only of a name that no repository has now. */
export async function findByFormerName(
  q: Db,
  place: { orgId: string; name: string; now: number },
): Promise<RepoRow | undefined> {
  const [repo] = await byFormerName(q, place)
  return repo
}

/** Whoever had left the name before is not found by it any more. */
export async function leaveName(tx: Tx, { id, org_id, name }: RepoRow, now: number): Promise<void> {
  const left = { org_id, name, repo_id: id, left_at: now }
  await tx
    .insertInto('former_repo_names')
    .values(left)
    .onConflict((conflict) => conflict.columns(['org_id', 'name']).doUpdateSet(left))
    .execute()
  await tx
    .deleteFrom('former_repo_names')
    .where('repo_id', '=', id)
    .where('name', 'not in', (eb) =>
      eb
        .selectFrom('former_repo_names')
        .select('name')
        .where('repo_id', '=', id)
        .orderBy('left_at', 'desc')
        .orderBy('name')
        .limit(KEPT),
    )
    .execute()
}

/** A repository has this name now, so that nobody is found by it who had it before. */
export async function takeName(tx: Tx, { org_id, name }: Pick<RepoRow, 'org_id' | 'name'>): Promise<void> {
  await tx.deleteFrom('former_repo_names').where('org_id', '=', org_id).where('name', '=', name).execute()
}

/** Of a repository that is deleted. */
export async function forgetNames(tx: Tx, repoId: string): Promise<void> {
  await tx.deleteFrom('former_repo_names').where('repo_id', '=', repoId).execute()
}
