import type { Selectable } from 'kysely'
import type { Db, Tx } from '../schema.ts'

interface RepoSecretsTable {
  repo_id: string
  name: string
  /** The value, encrypted. */
  sealed: string
  updated_at: number
}

export interface RepoSecretTables {
  repo_secrets: RepoSecretsTable
}

type SecretRow = Selectable<RepoSecretsTable>

export async function putSecret(tx: Tx, row: SecretRow): Promise<void> {
  const { sealed, updated_at } = row
  await tx
    .insertInto('repo_secrets')
    .values(row)
    .onConflict((conflict) => conflict.columns(['repo_id', 'name']).doUpdateSet({ sealed, updated_at }))
    .execute()
}

export const listNames = (q: Db, repoId: string): Promise<Pick<SecretRow, 'name' | 'updated_at'>[]> =>
  q
    .selectFrom('repo_secrets')
    .select(['name', 'updated_at'])
    .where('repo_id', '=', repoId)
    .orderBy('name')
    .execute()

export const listSealed = (
  q: Db,
  repoId: string,
  names: readonly string[],
): Promise<Pick<SecretRow, 'name' | 'sealed'>[]> =>
  q
    .selectFrom('repo_secrets')
    .select(['name', 'sealed'])
    .where('repo_id', '=', repoId)
    .where('name', 'in', [...names])
    .execute()

export async function deleteSecret(tx: Tx, repoId: string, name: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('repo_secrets')
    .where('repo_id', '=', repoId)
    .where('name', '=', name)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Of a repository that is being deleted; it has few. */
export async function deleteAll(tx: Tx, repoId: string): Promise<number> {
  await tx.deleteFrom('repo_secrets').where('repo_id', '=', repoId).execute()
  return 0
}
