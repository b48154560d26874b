import type { Role } from '@trellis/contract'
import type { Generated, Insertable, Selectable, Updateable } from 'kysely'
import { prepared, preparedChange } from '../db/prepared.ts'
import type { Db, Tx } from '../schema.ts'

/** `team`, or one that an agent or somebody anonymous has to themselves until a person takes it over. */
export type OrgKind = 'team' | 'agent' | 'anonymous'

interface OrgsTable {
  id: string
  slug: string
  name: string
  /** Set on the organization made for a person at sign-up. */
  personal_user_id: string | null
  frozen: number
  /** Frozen by the operator: no owner thaws it. */
  held: Generated<number>
  repo_count: number
  /** Of all its repositories together. */
  size_bytes: Generated<number>
  /** What the operator allows it; null where the settings of the server hold. */
  max_repos: number | null
  max_bytes: number | null
  kind: OrgKind
  expires_at: number | null
  /** Where it was made from, as long as nobody has taken it over. */
  address: string | null
  created_at: number
  updated_at: number
}

interface MembersTable {
  id: string
  org_id: string
  user_id: string
  role: Role
  created_at: number
  /** Of the link that they joined with. */
  link_hash: Generated<string | null>
}

interface InvitationsTable {
  id: string
  org_id: string
  email: string
  role: Role
  invited_by: string
  created_at: number
  expires_at: number
  /** Of the one in its link; those made before there were links have none. */
  secret_hash: string | null
}

export interface OrgTables {
  orgs: OrgsTable
  members: MembersTable
  invitations: InvitationsTable
}

type OrgRow = Selectable<OrgsTable>
export type MemberRow = Selectable<MembersTable>
type InvitationRow = Selectable<InvitationsTable>

/** An organization as one of its members sees it. */
export type MembershipRow = OrgRow & { role: Role }

const memberships = (q: Db, userId: string) =>
  q
    .selectFrom('members')
    .innerJoin('orgs', 'orgs.id', 'members.org_id')
    .selectAll('orgs')
    .select('members.role')
    .where('members.user_id', '=', userId)

export const findMembership = (q: Db, userId: string, slug: string): Promise<MembershipRow | undefined> =>
  memberships(q, userId).where('orgs.slug', '=', slug).executeTakeFirst()

/** The personal organization; for someone who deleted it, the one they have been in the longest. */
export const findHomeMembership = (q: Db, userId: string): Promise<MembershipRow | undefined> =>
  memberships(q, userId)
    .orderBy((eb) => eb.case().when('orgs.personal_user_id', '=', userId).then(0).else(1).end())
    .orderBy('members.created_at')
    .orderBy('members.id')
    .limit(1)
    .executeTakeFirst()

export const listMemberships = (
  q: Db,
  userId: string,
  { after, limit, onlyOrgId }: { after: string; limit: number; onlyOrgId?: string | undefined },
): Promise<MembershipRow[]> =>
  memberships(q, userId)
    .where('orgs.slug', '>', after)
    .$if(onlyOrgId !== undefined, (query) => query.where('orgs.id', '=', onlyOrgId ?? ''))
    .orderBy('orgs.slug')
    .limit(limit)
    .execute()

/** How many organizations a person owns. Locks their memberships: until the transaction ends nobody else counts them. */
export async function countOwned(tx: Tx, userId: string): Promise<number> {
  await tx
    .updateTable('members')
    .set((eb) => ({ role: eb.ref('role') }))
    .where('user_id', '=', userId)
    .execute()
  const { count } = await tx
    .selectFrom('members')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow()
  return count
}

/** Undefined when the slug is taken, or the person has a personal organization already. */
export const insertOrg = (tx: Tx, row: Insertable<OrgsTable>): Promise<OrgRow | undefined> =>
  tx
    .insertInto('orgs')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()

export const updateOrg = (tx: Tx, id: string, changes: Updateable<OrgsTable>): Promise<OrgRow | undefined> =>
  tx.updateTable('orgs').set(changes).where('id', '=', id).returningAll().executeTakeFirst()

/** The row as it is now, locked until the transaction ends. */
export const lockOrg = (tx: Tx, id: string): Promise<OrgRow | undefined> =>
  tx
    .updateTable('orgs')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

const byId = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('orgs').selectAll().where('id', '=', id),
)

export async function findById(q: Db, id: string): Promise<OrgRow | undefined> {
  const [org] = await byId(q, { id })
  return org
}

export async function countReposFrom(q: Db, address: string): Promise<number> {
  const { count } = await q
    .selectFrom('orgs')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('repo_count'), eb.lit(0)).as('count'))
    .where('address', '=', address)
    .where('kind', '=', 'anonymous')
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Some of those whose time is over; gives how many. */
export async function deleteExpired(tx: Tx, now: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('orgs')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('orgs')
        .select('id')
        .where('expires_at', '<=', now)
        .where('repo_count', '=', 0)
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export async function deleteOrg(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('orgs').where('id', '=', id).execute()
}

const frozenById = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('orgs').select('frozen').where('id', '=', id),
)

export async function isFrozen(tx: Tx, id: string): Promise<boolean> {
  const [org] = await frozenById(tx, { id })
  return org?.frozen === 1
}

const countRepo = preparedChange((db: Db, { orgId, limit }: { orgId: string; limit: number }) =>
  db
    .updateTable('orgs')
    .set((eb) => ({ repo_count: eb('repo_count', '+', eb.lit(1)) }))
    .where('id', '=', orgId)
    .where((eb) => eb('repo_count', '<', eb.fn.coalesce('max_repos', eb.val(limit)))),
)

/** Counts one repository more; false when that would be more than it may have, which is `limit` if nothing else is set. */
export async function addRepo(tx: Tx, orgId: string, limit: number): Promise<boolean> {
  return (await countRepo(tx, { orgId, limit })) > 0
}

export async function subtractRepo(tx: Tx, orgId: string, sizeBytes: number): Promise<void> {
  await tx
    .updateTable('orgs')
    .set((eb) => ({
      repo_count: eb('repo_count', '-', eb.lit(1)),
      size_bytes: eb('size_bytes', '-', sizeBytes),
    }))
    .where('id', '=', orgId)
    .execute()
}

const growBy = prepared((db: Db, { orgId, bytes }: { orgId: string; bytes: number }) =>
  db
    .updateTable('orgs')
    .set((eb) => ({ size_bytes: eb('size_bytes', '+', bytes) }))
    .where('id', '=', orgId)
    .returning(['size_bytes', 'max_bytes']),
)

/** Counts what a repository grew by and gives what all of them take now, and may. Locks the organization. */
export async function addBytes(
  tx: Tx,
  orgId: string,
  bytes: number,
): Promise<{ bytes: number; maxBytes: number | null }> {
  const [org] = await growBy(tx, { orgId, bytes })
  return { bytes: org?.size_bytes ?? bytes, maxBytes: org?.max_bytes ?? null }
}

/** A member with what is known of the person. */
export type MemberWithUser = MemberRow & { email: string; name: string; disabled_at?: number | null }

const membersWithUsers = (q: Db, orgId: string) =>
  q
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .selectAll('members')
    .select(['users.email', 'users.name', 'users.disabled_at'])
    .where('members.org_id', '=', orgId)

export const findMember = (q: Db, orgId: string, userId: string): Promise<MemberWithUser | undefined> =>
  membersWithUsers(q, orgId).where('members.user_id', '=', userId).executeTakeFirst()

export const findMemberByEmail = (q: Db, orgId: string, email: string): Promise<MemberWithUser | undefined> =>
  membersWithUsers(q, orgId).where('users.email', '=', email).executeTakeFirst()

export const listMembers = (
  q: Db,
  orgId: string,
  { after, limit }: { after: string; limit: number },
): Promise<MemberWithUser[]> =>
  membersWithUsers(q, orgId).where('members.id', '>', after).orderBy('members.id').limit(limit).execute()

/** False when the person is a member already. */
export async function insertMember(tx: Tx, row: Insertable<MembersTable>): Promise<boolean> {
  const inserted = await tx
    .insertInto('members')
    .values(row)
    .onConflict((conflict) => conflict.columns(['org_id', 'user_id']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** What somebody joined with a link; undefined when they did not, or have left. */
export const findJoinedWith = (
  q: Db,
  userId: string,
  hash: string,
): Promise<{ slug: string; name: string; role: Role } | undefined> =>
  q
    .selectFrom('members')
    .innerJoin('orgs', 'orgs.id', 'members.org_id')
    .select(['orgs.slug', 'orgs.name', 'members.role'])
    .where('members.link_hash', '=', hash)
    .where('members.user_id', '=', userId)
    .executeTakeFirst()

export async function updateRole(tx: Tx, memberId: string, role: Role): Promise<void> {
  await tx.updateTable('members').set({ role }).where('id', '=', memberId).execute()
}

export async function deleteMember(tx: Tx, memberId: string): Promise<void> {
  await tx.deleteFrom('members').where('id', '=', memberId).execute()
}

export async function countOwners(q: Db, orgId: string): Promise<number> {
  const { count } = await q
    .selectFrom('members')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow()
  return count
}

/** A second invitation for the same address replaces the first. */
export const upsertInvitation = (tx: Tx, row: Insertable<InvitationsTable>): Promise<InvitationRow> =>
  tx
    .insertInto('invitations')
    .values(row)
    .onConflict((conflict) => conflict.columns(['org_id', 'email']).doUpdateSet(row))
    .returningAll()
    .executeTakeFirstOrThrow()

export type InvitationWithOrg = InvitationRow & { slug: string; org_name: string }

const openInvitations = (q: Db, now: number) =>
  q
    .selectFrom('invitations')
    .innerJoin('orgs', 'orgs.id', 'invitations.org_id')
    .selectAll('invitations')
    .select(['orgs.slug', 'orgs.name as org_name'])
    .where('invitations.expires_at', '>', now)

export const findInvitation = (q: Db, id: string, now: number): Promise<InvitationWithOrg | undefined> =>
  openInvitations(q, now).where('invitations.id', '=', id).executeTakeFirst()

/** By the secret of its link. */
export const findInvitationBySecret = (
  q: Db,
  hash: string,
  now: number,
): Promise<InvitationWithOrg | undefined> =>
  openInvitations(q, now).where('invitations.secret_hash', '=', hash).executeTakeFirst()

export async function invitationExistsFor(q: Db, email: string, now: number): Promise<boolean> {
  const found = await openInvitations(q, now)
    .where('invitations.email', '=', email)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export const listInvitations = (
  q: Db,
  whose: { orgId: string } | { email: string },
  { now, after, offset = 0, limit }: { now: number; after: string; offset?: number; limit: number },
): Promise<InvitationWithOrg[]> => {
  const open = openInvitations(q, now)
    .where('invitations.id', '>', after)
    .orderBy('invitations.id')
    .limit(limit)
    .offset(offset)
  return 'orgId' in whose
    ? open.where('invitations.org_id', '=', whose.orgId).execute()
    : open.where('invitations.email', '=', whose.email).execute()
}

/** False when somebody else took or withdrew it first. */
export async function deleteInvitation(tx: Tx, id: string): Promise<boolean> {
  const deleted = await tx.deleteFrom('invitations').where('id', '=', id).returning('id').executeTakeFirst()
  return deleted !== undefined
}
