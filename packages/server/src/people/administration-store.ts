import type { Db, Tx } from '../schema.ts'

// SQL for operators, who see everybody.

/** A person as operators see them. */
export interface ListedUser {
  id: string
  email: string
  name: string
  email_verified: boolean | number
  disabled_at: number | null
  created_at: Date | string
}

const listedUsers = (q: Db) =>
  q.selectFrom('users').select(['id', 'email', 'name', 'email_verified', 'disabled_at', 'created_at'])

/** In the order of their ids, which is that of their coming. */
export const listUsers = (q: Db, { after, limit }: { after: string; limit: number }): Promise<ListedUser[]> =>
  listedUsers(q).where('id', '>', after).orderBy('id').limit(limit).execute()

export async function countUsers(q: Db): Promise<number> {
  const { count } = await q
    .selectFrom('users')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** By id or address. */
export const findListedUser = (q: Db, who: string): Promise<ListedUser | undefined> =>
  listedUsers(q)
    .where((eb) => eb.or([eb('id', '=', who), eb('email', '=', who.toLowerCase())]))
    .executeTakeFirst()

export async function setDisabled(tx: Tx, id: string, disabledAt: number | null): Promise<void> {
  await tx.updateTable('users').set({ disabled_at: disabledAt }).where('id', '=', id).execute()
}

/** With it go their sessions, what they sign in with, their memberships and their keys. */
export async function deleteUser(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('users').where('id', '=', id).execute()
}
