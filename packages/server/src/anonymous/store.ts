import type { Tx } from '../schema.ts'

export interface AnonymousTables {
  anonymous_callers: { id: string; secret_hash: string; org_id: string; created_at: number }
}

export async function insertCaller(
  tx: Tx,
  row: { id: string; secret_hash: string; org_id: string; created_at: number },
): Promise<void> {
  await tx.insertInto('anonymous_callers').values(row).execute()
}

/** Forgets a caller and gives the organization they had; undefined when somebody else took it over first. */
export const takeCaller = (tx: Tx, secretHash: string): Promise<{ id: string; org_id: string } | undefined> =>
  tx
    .deleteFrom('anonymous_callers')
    .where('secret_hash', '=', secretHash)
    .returning(['id', 'org_id'])
    .executeTakeFirst()
