import { type ColumnType, type Generated, sql } from 'kysely'
import { remembered } from '../db/prepared.ts'
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
  two_factor_enabled: Generated<boolean | number | null>
  created_at: Instant
  updated_at: Instant
  /** Since when an operator has shut them out. */
  disabled_at: number | null
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

/** Who was made at the first start, and the key they have from there. */
interface FirstOwnerTable {
  user_id: string
  key_id: string | null
}

/** Links that let a person in once. */
interface EntryLinksTable {
  secret_hash: string
  user_id: string
  created_at: number
  expires_at: number
}

interface VerificationsTable {
  id: string
  identifier: string
  value: string
  expires_at: Instant
}

export interface PeopleTables {
  users: UsersTable
  sessions: SessionsTable
  accounts: AccountsTable
  first_owner: FirstOwnerTable
  entry_links: EntryLinksTable
  verifications: VerificationsTable
  two_factors: { id: string; user_id: string }
  passkeys: { id: string; user_id: string }
}

interface NewUser {
  id: string
  name: string
  email: string
  now: number
}

const userOf = remembered(['users'], (db: Db, { id }: { id: string }) =>
  db.selectFrom('users').select(['name', 'email', 'email_verified']).where('id', '=', id),
)

export const findUser = async (q: Db, id: string) => (await userOf(q, { id }))[0]

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

/** Whose address it is. */
export const findUserByEmail = (q: Db, email: string): Promise<{ id: string } | undefined> =>
  q.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()

/** An address that an operator answers for. */
export async function updateAddress(tx: Tx, userId: string, email: string, now: number): Promise<void> {
  await tx
    .updateTable('users')
    .set({ email, email_verified: sql<number>`true`, updated_at: new Date(now).toISOString() })
    .where('id', '=', userId)
    .execute()
}

export async function verifyAddress(tx: Tx, userId: string, now: number): Promise<void> {
  await tx
    .updateTable('users')
    .set({ email_verified: sql<number>`true`, updated_at: new Date(now).toISOString() })
    .where('id', '=', userId)
    .execute()
}

const PASSWORD = 'credential'

/** A person's password, as better-auth would write it; another one than they had, if they had one. */
export async function setPassword(
  tx: Tx,
  account: { id: string; userId: string; passwordHash: string; now: number },
): Promise<void> {
  const now = new Date(account.now).toISOString()
  const { numUpdatedRows } = await tx
    .updateTable('accounts')
    .set({ password: account.passwordHash, updated_at: now })
    .where('user_id', '=', account.userId)
    .where('provider_id', '=', PASSWORD)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return
  await tx
    .insertInto('accounts')
    .values({
      id: account.id,
      account_id: account.userId,
      provider_id: PASSWORD,
      user_id: account.userId,
      password: account.passwordHash,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

/** Signing in asks for a password alone again, and no browser is trusted with the next second factor. */
export async function deleteSecondFactorOf(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('two_factors').where('user_id', '=', userId).execute()
  await tx
    .deleteFrom('verifications')
    .where('identifier', 'like', 'trust-device-%')
    .where('value', '=', userId)
    .execute()
  await tx
    .updateTable('users')
    .set({ two_factor_enabled: sql<number>`false` })
    .where('id', '=', userId)
    .execute()
}

export async function deletePasskeysOf(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('passkeys').where('user_id', '=', userId).execute()
}

export async function deleteSessionsOf(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

export type OwnerRow = FirstOwnerTable & { name: string; email: string }

export const findOwner = (q: Db): Promise<OwnerRow | undefined> =>
  q
    .selectFrom('first_owner')
    .innerJoin('users', 'users.id', 'first_owner.user_id')
    .select(['user_id', 'key_id', 'users.name', 'users.email'])
    .executeTakeFirst()

export async function insertOwner(tx: Tx, userId: string): Promise<void> {
  await tx.insertInto('first_owner').values({ user_id: userId, key_id: null }).execute()
}

export async function updateOwnerKey(tx: Tx, userId: string, keyId: string): Promise<void> {
  await tx.updateTable('first_owner').set({ key_id: keyId }).where('user_id', '=', userId).execute()
}

export async function insertEntryLink(tx: Tx, link: EntryLinksTable): Promise<void> {
  await tx.insertInto('entry_links').values(link).execute()
}

export async function deleteEntryLinksOf(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('entry_links').where('user_id', '=', userId).execute()
}

export async function findEntryLink(
  q: Db,
  hash: string,
  now: number,
): Promise<{ user_id: string; email: string; is_owner: boolean } | undefined> {
  const found = await q
    .selectFrom('entry_links')
    .innerJoin('users', 'users.id', 'entry_links.user_id')
    .leftJoin('first_owner', 'first_owner.user_id', 'entry_links.user_id')
    .select(['entry_links.user_id', 'users.email', 'first_owner.user_id as owner_id'])
    .where('entry_links.secret_hash', '=', hash)
    .where('entry_links.expires_at', '>', now)
    .executeTakeFirst()
  return found && { user_id: found.user_id, email: found.email, is_owner: found.owner_id !== null }
}

/** Uses it up; false when somebody else did, or its time is over. */
export async function takeEntryLink(tx: Tx, hash: string, now: number): Promise<boolean> {
  const taken = await tx
    .deleteFrom('entry_links')
    .where('secret_hash', '=', hash)
    .where('expires_at', '>', now)
    .returning('user_id')
    .executeTakeFirst()
  return taken !== undefined
}

/** Removes some of what has come to its end, and gives how many. */
export async function deleteEnded(
  tx: Tx,
  table: 'sessions' | 'verifications',
  ended: Date,
  limit: number,
): Promise<number> {
  const some = tx
    .selectFrom(table)
    .select('id')
    .where('expires_at', '<', ended.toISOString())
    .orderBy('expires_at')
    .limit(limit)
  const { numDeletedRows } = await tx.deleteFrom(table).where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}
