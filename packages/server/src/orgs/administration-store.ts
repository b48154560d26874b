import type { Role } from '@trellis/contract'
import type { Db, Tx } from '../schema.ts'
import type { OrgKind } from './store.ts'

// SQL for operators, who see all organizations.

/** An organization as operators see it. */
export interface ListedOrg {
  id: string
  slug: string
  name: string
  kind: OrgKind
  personal_user_id: string | null
  frozen: number
  held: number
  repo_count: number
  size_bytes: number
  max_repos: number | null
  max_bytes: number | null
  created_at: number
  members: number
}

const listedOrgs = (q: Db) =>
  q
    .selectFrom('orgs')
    .select([
      'orgs.id',
      'slug',
      'name',
      'kind',
      'personal_user_id',
      'frozen',
      'held',
      'repo_count',
      'size_bytes',
      'max_repos',
      'max_bytes',
      'orgs.created_at',
    ])
    .select((eb) =>
      eb
        .selectFrom('members')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .whereRef('members.org_id', '=', 'orgs.id')
        .$asScalar()
        .$notNull()
        .as('members'),
    )

/** In the order of their slugs. */
export const listOrgs = (q: Db, { after, limit }: { after: string; limit: number }): Promise<ListedOrg[]> =>
  listedOrgs(q).where('slug', '>', after).orderBy('slug').limit(limit).execute()

export const findListedOrg = (q: Db, slug: string): Promise<ListedOrg | undefined> =>
  listedOrgs(q).where('slug', '=', slug).executeTakeFirst()

/** What somebody is in an organization, and what it would be without them. */
export interface Standing {
  memberId: string
  orgId: string
  slug: string
  role: Role
  personalUserId: string | null
  repoCount: number
  /** Beside them. */
  otherMembers: number
  otherOwners: number
}

/** Of all organizations that a person is in, in the order in which whoever locks several locks them. */
export async function listStandings(q: Db, userId: string): Promise<Standing[]> {
  const rows = await q
    .selectFrom('members')
    .innerJoin('orgs', 'orgs.id', 'members.org_id')
    .leftJoin('members as others', (join) =>
      join.onRef('others.org_id', '=', 'orgs.id').on('others.user_id', '!=', userId),
    )
    .select(['members.id as memberId', 'orgs.id as orgId', 'orgs.slug', 'members.role'])
    .select(['orgs.personal_user_id as personalUserId', 'orgs.repo_count as repoCount'])
    .select((eb) => [
      eb.fn.count<number>('others.id').as('otherMembers'),
      eb.fn
        .count<number>(eb.case().when('others.role', '=', 'owner').then(eb.ref('others.id')).end())
        .as('otherOwners'),
    ])
    .where('members.user_id', '=', userId)
    .groupBy(['members.id', 'orgs.id', 'orgs.slug', 'members.role'])
    .groupBy(['orgs.personal_user_id', 'orgs.repo_count'])
    .orderBy('orgs.id')
    .execute()
  return rows.map((row) => ({
    ...row,
    otherMembers: Number(row.otherMembers),
    otherOwners: Number(row.otherOwners),
  }))
}

/** Invitations that a person has sent and nobody has taken. */
export async function deleteInvitationsBy(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('invitations').where('invited_by', '=', userId).execute()
}

/** Of the whole server. */
export async function countAll(q: Db): Promise<{ organizations: number; repositories: number }> {
  const { organizations, repositories } = await q
    .selectFrom('orgs')
    .select((eb) => [
      eb.fn.countAll<number>().as('organizations'),
      eb.fn.sum<number | null>('repo_count').as('repositories'),
    ])
    .executeTakeFirstOrThrow()
  return { organizations: Number(organizations), repositories: Number(repositories ?? 0) }
}
