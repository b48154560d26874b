import { type ColumnType, sql } from 'kysely'
import type { Db, Tx } from '../schema.ts'

/** SQLite keeps these as text and numbers, PostgreSQL as its own types; better-auth translates for both. */
type Instant = ColumnType<Date | string, Date | string, Date | string>
type Flag = ColumnType<boolean | number, boolean | number, boolean | number>

interface UsersTable {
  id: string
  name: string
  email: string
  email_verified: Flag
  image: string | null
  created_at: Instant
  updated_at: Instant
}

interface SessionsTable {
  id: string
  user_id: string
  token_hash: string
  expires_at: Instant
}

interface AccountsTable {
  id: string
  account_id: string
  provider_id: string
  user_id: string
  password: string | null
  created_at: Instant
  updated_at: Instant
}

export interface PeopleTables {
  users: UsersTable
  sessions: SessionsTable
  accounts: AccountsTable
}

interface NewUser {
  id: string
  name: string
  email: string
  now: number
}

export const findUser = (q: Db, id: string) =>
  q.selectFrom('users').select(['name', 'email', 'email_verified']).where('id', '=', id).executeTakeFirst()

export async function anyUserExists(q: Db): Promise<boolean> {
  return (await q.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** A person, as better-auth would write one. */
export async function insertUser(tx: Tx, user: NewUser): Promise<void> {
  const now = new Date(user.now).toISOString()
  await tx
    .insertInto('users')
    .values({
      id: user.id,
      name: user.name,
      email: user.email,
      email_verified: sql<number>`true`,
      image: null,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

/** A person's password, as better-auth would write it. */
export async function insertPassword(
  tx: Tx,
  account: { id: string; userId: string; passwordHash: string; now: number },
): Promise<void> {
  const now = new Date(account.now).toISOString()
  await tx
    .insertInto('accounts')
    .values({
      id: account.id,
      account_id: account.userId,
      provider_id: 'credential',
      user_id: account.userId,
      password: account.passwordHash,
      created_at: now,
      updated_at: now,
    })
    .execute()
}
