import type { Insertable, Selectable, Updateable } from 'kysely'
import type { Db, Tx } from '../schema.ts'

interface ApiKeysTable {
  id: string
  org_id: string
  user_id: string
  name: string
  prefix: string
  secret_hash: string
  /** Separated by spaces. */
  scopes: string
  enabled: number
  expires_at: number | null
  last_used_at: number | null
  created_at: number
}

export interface KeyTables {
  api_keys: ApiKeysTable
}

export type KeyRow = Selectable<ApiKeysTable>

/** Whose keys: a person's, in one organization. */
export interface KeyOwner {
  orgId: string
  userId: string
}

const keysOf = (q: Db, { orgId, userId }: KeyOwner) =>
  q.selectFrom('api_keys').selectAll().where('org_id', '=', orgId).where('user_id', '=', userId)

export const listKeys = (q: Db, owner: KeyOwner): Promise<KeyRow[]> =>
  keysOf(q, owner).orderBy('created_at', 'desc').orderBy('id', 'desc').execute()

export const findKey = (q: Db, owner: KeyOwner, id: string): Promise<KeyRow | undefined> =>
  keysOf(q, owner).where('id', '=', id).executeTakeFirst()

export const findKeyByHash = (q: Db, hash: string): Promise<KeyRow | undefined> =>
  q.selectFrom('api_keys').selectAll().where('secret_hash', '=', hash).executeTakeFirst()

export async function countKeys(q: Db, { orgId, userId }: KeyOwner): Promise<number> {
  const { count } = await q
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}

export const insertKey = (tx: Tx, row: Insertable<ApiKeysTable>): Promise<KeyRow> =>
  tx.insertInto('api_keys').values(row).returningAll().executeTakeFirstOrThrow()

/** Undefined when it is gone; as it was when nothing changes. */
export const updateKey = (
  tx: Tx,
  id: string,
  changes: Updateable<ApiKeysTable>,
): Promise<KeyRow | undefined> =>
  tx
    .updateTable('api_keys')
    .set({ ...changes, id })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

export const deleteKey = (tx: Tx, owner: KeyOwner, id: string): Promise<KeyRow | undefined> =>
  tx
    .deleteFrom('api_keys')
    .where('org_id', '=', owner.orgId)
    .where('user_id', '=', owner.userId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

export const deleteKeyOf = (tx: Tx, userId: string, id: string): Promise<KeyRow | undefined> =>
  tx
    .deleteFrom('api_keys')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

export const deleteAllKeysOf = (tx: Tx, userId: string): Promise<KeyRow[]> =>
  tx.deleteFrom('api_keys').where('user_id', '=', userId).returningAll().execute()

export const deleteKeysOf = (tx: Tx, owner: KeyOwner): Promise<KeyRow[]> =>
  tx
    .deleteFrom('api_keys')
    .where('org_id', '=', owner.orgId)
    .where('user_id', '=', owner.userId)
    .returningAll()
    .execute()
