import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../schema.ts'

export type AgentKind = 'anonymous' | 'service_auth'

interface AgentRegistrationsTable {
  id: string
  kind: AgentKind
  org_id: string
  claim_token_hash: string
  claim_expires_at: number
  /** The account a service_auth agent asked for. */
  claim_email: string | null
  /** When the agent took its first token after the claim; the claim token is used up then. */
  claim_used_at: number | null
  claimed_by: string | null
  claimed_at: number | null
  revoked_at: number | null
  /** When a claimed agent ends that does not come back; null for those claimed before there were refresh tokens. */
  ends_at: number | null
  /** Tokens and assertions of an earlier one are void. */
  generation: number
  /** Of the beginning that all its refresh tokens have in common. */
  refresh_family: string | null
  /** The refresh token that counts, and the one it was got with; null when that was the claim token. */
  refresh_hash: string | null
  refresh_before_hash: string | null
  /** The access token that came with it, and when. */
  refresh_token_id: string | null
  refreshed_at: number | null
  /** What it calls itself; nobody has checked it. */
  agent_name: string | null
  polled_at: number | null
  poll_seconds: number
  address: string
  created_at: number
}

interface ClaimAttemptsTable {
  id: string
  registration_id: string
  token_hash: string
  code_hmac: string
  claim_email: string
  wrong_tries: number
  expires_at: number
  created_at: number
}

interface AgentTokensTable {
  id: string
  registration_id: string
  secret_hash: string
  generation: number
  created_at: number
  expires_at: number
  revoked_at: number | null
  /** For the first time. */
  used_at: number | null
}

interface SigningKeysTable {
  id: string
  public_jwk: string
  sealed_private_jwk: string
  created_at: number
}

export interface AgentTables {
  agent_registrations: AgentRegistrationsTable
  claim_attempts: ClaimAttemptsTable
  agent_tokens: AgentTokensTable
  signing_keys: SigningKeysTable
}

export type RegistrationRow = Selectable<AgentRegistrationsTable>
export type AttemptRow = Selectable<ClaimAttemptsTable>
export type SigningKeyRow = Selectable<SigningKeysTable>

export async function insertRegistration(tx: Tx, row: Insertable<AgentRegistrationsTable>): Promise<void> {
  await tx.insertInto('agent_registrations').values(row).execute()
}

export const findRegistration = (q: Db, id: string): Promise<RegistrationRow | undefined> =>
  q.selectFrom('agent_registrations').selectAll().where('id', '=', id).executeTakeFirst()

export const findByClaimToken = (q: Db, hash: string): Promise<RegistrationRow | undefined> =>
  q.selectFrom('agent_registrations').selectAll().where('claim_token_hash', '=', hash).executeTakeFirst()

/** With where it works, and what those are called who claimed it. */
export type ClaimedRow = RegistrationRow & { slug: string | null; claimer: string | null }

interface ClaimedPage {
  after: string
  limit: number
}

const claimedPage = (q: Db, { after, limit }: ClaimedPage) =>
  q
    .selectFrom('agent_registrations')
    .leftJoin('orgs', 'orgs.id', 'agent_registrations.org_id')
    .leftJoin('users', 'users.id', 'agent_registrations.claimed_by')
    .selectAll('agent_registrations')
    .select(['orgs.slug', 'users.name as claimer'])
    .where('agent_registrations.id', '>', after)
    .orderBy('agent_registrations.id')
    .limit(limit)

export const listClaimedBy = (q: Db, userId: string, page: ClaimedPage): Promise<ClaimedRow[]> =>
  claimedPage(q, page).where('claimed_by', '=', userId).execute()

/** Those that work in an organization. Found by its members: who leaves takes theirs along. */
export const listClaimedIn = (q: Db, orgId: string, page: ClaimedPage): Promise<ClaimedRow[]> =>
  claimedPage(q, page)
    .where('claimed_by', 'in', (eb) =>
      eb.selectFrom('members').select('user_id').where('members.org_id', '=', orgId),
    )
    .where('agent_registrations.org_id', '=', orgId)
    .execute()

export const listLiveClaimedBy = (q: Db, userId: string): Promise<{ id: string; orgId: string }[]> =>
  q
    .selectFrom('agent_registrations')
    .select(['id', 'org_id as orgId'])
    .where('claimed_by', '=', userId)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .execute()

/** Makes `userId` the one who claimed it, unless somebody else was first or it has ended. */
export const claim = (
  tx: Tx,
  id: string,
  { userId, now, endsAt }: { userId: string; now: number; endsAt: number },
): Promise<RegistrationRow | undefined> =>
  tx
    .updateTable('agent_registrations')
    .set((eb) => ({
      claimed_by: userId,
      claimed_at: now,
      ends_at: endsAt,
      generation: eb('generation', '+', eb.lit(1)),
    }))
    .where('id', '=', id)
    .where('claimed_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('claim_expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()

export const revoke = (tx: Tx, id: string, now: number): Promise<RegistrationRow | undefined> =>
  tx
    .updateTable('agent_registrations')
    .set((eb) => ({ revoked_at: now, generation: eb('generation', '+', eb.lit(1)) }))
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returningAll()
    .executeTakeFirst()

/** Those a person claimed that work in an organization. */
export const listLiveClaimedIn = (
  q: Db,
  { orgId, userId }: { orgId: string; userId: string },
): Promise<{ id: string }[]> =>
  q
    .selectFrom('agent_registrations')
    .select('id')
    .where('claimed_by', '=', userId)
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .execute()

/** Some of the claimed agents that have not come back in time. */
export const listIdle = (q: Db, now: number, limit: number): Promise<{ id: string }[]> =>
  q
    .selectFrom('agent_registrations')
    .select('id')
    .where('ends_at', '<=', now)
    .where('revoked_at', 'is', null)
    .limit(limit)
    .execute()

/** Notes a poll; true when it came early, and every later one has to wait longer. */
export async function notePoll(
  tx: Tx,
  { id, polled_at, poll_seconds }: RegistrationRow,
  now: number,
): Promise<boolean> {
  // A poll in the future was noted by a clock that has been set back since.
  const early = polled_at !== null && polled_at <= now && now - polled_at < poll_seconds * 1000
  await tx
    .updateTable('agent_registrations')
    .set({ polled_at: now, poll_seconds: early ? poll_seconds + 5 : poll_seconds })
    .where('id', '=', id)
    .execute()
  return early
}

/** A new attempt ends the ones before it; of several at once, each waits for the one before. */
export async function insertAttempt(tx: Tx, row: Insertable<ClaimAttemptsTable>): Promise<void> {
  await tx
    .updateTable('agent_registrations')
    .set((eb) => ({ generation: eb.ref('generation') }))
    .where('id', '=', row.registration_id)
    .execute()
  // Whoever asks again and again would leave a row each time that nobody looks at.
  await tx.deleteFrom('claim_attempts').where('registration_id', '=', row.registration_id).execute()
  await tx.insertInto('claim_attempts').values(row).execute()
}

export const findAttempt = (q: Db, tokenHash: string): Promise<AttemptRow | undefined> =>
  q.selectFrom('claim_attempts').selectAll().where('token_hash', '=', tokenHash).executeTakeFirst()

export const findCurrentAttempt = (q: Db, registrationId: string): Promise<AttemptRow | undefined> =>
  q.selectFrom('claim_attempts').selectAll().where('registration_id', '=', registrationId).executeTakeFirst()

/** Counts a try before it is compared, so that many at once are not more than many in a row. */
export const countTry = (tx: Tx, id: string): Promise<AttemptRow | undefined> =>
  tx
    .updateTable('claim_attempts')
    .set((eb) => ({ wrong_tries: eb('wrong_tries', '+', eb.lit(1)) }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

export const listSigningKeys = (q: Db, madeAfter: number): Promise<SigningKeyRow[]> =>
  q
    .selectFrom('signing_keys')
    .selectAll()
    .where('created_at', '>', madeAfter)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

export async function insertSigningKey(tx: Tx, row: Insertable<SigningKeysTable>): Promise<void> {
  await tx.insertInto('signing_keys').values(row).execute()
}

/** Registrations nobody claimed go some time after their end, with their links. */
export async function deleteUnclaimed(tx: Tx, unclaimedBefore: number): Promise<void> {
  await tx
    .deleteFrom('agent_registrations')
    .where('claimed_at', 'is', null)
    .where('claim_expires_at', '<=', unclaimedBefore)
    .execute()
}
