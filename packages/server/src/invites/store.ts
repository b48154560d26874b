import type { AccessScope } from '@trellis/contract'
import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../schema.ts'

interface InvitesTable {
  /** Public: it opens nothing. */
  id: string
  secret_hash: string
  secret_prefix: string
  management_hash: string
  repo_id: string
  org_id: string
  /** The actor who made it. */
  creator_id: string
  scope: AccessScope
  grant_ttl_seconds: number
  max_reveals: number | null
  reveal_count: number
  expires_at: number
  revoked_at: number | null
  created_at: number
}

export interface InviteTables {
  invites: InvitesTable
}

type InviteRow = Selectable<InvitesTable>

/** An invite with what is left of the repository it is for. */
export type InviteWithRepo = InviteRow & {
  repo_name: string | null
  repo_expires_at: number | null
  org_slug: string | null
  org_name: string | null
}

const withRepos = (q: Db) =>
  q
    .selectFrom('invites')
    .leftJoin('repos', 'repos.id', 'invites.repo_id')
    .leftJoin('orgs', 'orgs.id', 'invites.org_id')
    .selectAll('invites')
    .select([
      'repos.name as repo_name',
      'repos.expires_at as repo_expires_at',
      'orgs.slug as org_slug',
      'orgs.name as org_name',
    ])

export async function insertInvite(tx: Tx, row: Insertable<InvitesTable>): Promise<void> {
  await tx.insertInto('invites').values(row).execute()
}

export const findBySecret = (q: Db, hash: string): Promise<InviteWithRepo | undefined> =>
  withRepos(q).where('invites.secret_hash', '=', hash).executeTakeFirst()

export const findByManagement = (q: Db, hash: string): Promise<InviteWithRepo | undefined> =>
  withRepos(q).where('invites.management_hash', '=', hash).executeTakeFirst()

export const findById = (q: Db, id: string): Promise<InviteWithRepo | undefined> =>
  withRepos(q).where('invites.id', '=', id).executeTakeFirst()

/** Whose invites: all that somebody made, or those of an organization, or of a repository. */
export interface Made {
  creatorId: string
  orgId?: string
  repoId?: string
}

function madeBy(q: Db, { creatorId, orgId, repoId }: Made) {
  let query = withRepos(q).where('invites.creator_id', '=', creatorId)
  if (orgId) query = query.where('invites.org_id', '=', orgId)
  if (repoId) query = query.where('invites.repo_id', '=', repoId)
  return query
}

/** All that are neither revoked nor expired. */
export const listUnended = (q: Db, made: Made, now: number): Promise<InviteWithRepo[]> =>
  madeBy(q, made).where('invites.revoked_at', 'is', null).where('invites.expires_at', '>', now).execute()

/** How many are neither; counted no further than `limit`. */
export async function countUnended(q: Db, creatorId: string, now: number, limit: number): Promise<number> {
  const { count } = await q
    .selectFrom((eb) =>
      eb
        .selectFrom('invites')
        .select('expires_at')
        .where('creator_id', '=', creatorId)
        .where('revoked_at', 'is', null)
        .where('expires_at', '>', now)
        .limit(limit)
        .as('unended'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Some that ended after a time, in one way and in the other, each the latest first. */
export async function listEnded(
  q: Db,
  made: Made,
  { after, now, limit }: { after: number; now: number; limit: number },
): Promise<InviteWithRepo[]> {
  const [expired, revoked] = await Promise.all([
    madeBy(q, made)
      .where('invites.revoked_at', 'is', null)
      .where('invites.expires_at', '>', after)
      .where('invites.expires_at', '<=', now)
      .orderBy('invites.expires_at', 'desc')
      .limit(limit)
      .execute(),
    madeBy(q, made)
      .where('invites.revoked_at', '>', after)
      .orderBy('invites.revoked_at', 'desc')
      .limit(limit)
      .execute(),
  ])
  return [...expired, ...revoked]
}

export const listByRepo = (
  q: Db,
  repoId: string,
  { after, limit }: { after: string; limit: number },
): Promise<InviteWithRepo[]> =>
  withRepos(q)
    .where('invites.repo_id', '=', repoId)
    .where('invites.id', '>', after)
    .orderBy('invites.id')
    .limit(limit)
    .execute()

/** Counts one reveal, if one is left and the invite is live; of many at once exactly as many as are left. */
export async function countReveal(tx: Tx, id: string, now: number): Promise<boolean> {
  const counted = await tx
    .updateTable('invites')
    .set((eb) => ({ reveal_count: eb('reveal_count', '+', eb.lit(1)) }))
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .where((eb) => eb.or([eb('max_reveals', 'is', null), eb('reveal_count', '<', eb.ref('max_reveals'))]))
    .returning('id')
    .executeTakeFirst()
  return counted !== undefined
}

export async function revoke(tx: Tx, id: string, now: number): Promise<boolean> {
  const revoked = await tx
    .updateTable('invites')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return revoked !== undefined
}

export const revokeCreatedBy = (
  tx: Tx,
  { orgId, creatorId, now }: { orgId: string; creatorId: string; now: number },
): Promise<{ id: string; repo_id: string }[]> =>
  tx
    .updateTable('invites')
    .set({ revoked_at: now })
    .where('creator_id', '=', creatorId)
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .returning(['id', 'repo_id'])
    .execute()

/** The invites of somebody that were opened, live or not. */
export const listRevealedBy = (
  q: Db,
  { orgId, creatorId }: { orgId: string; creatorId: string },
): Promise<{ id: string }[]> =>
  q
    .selectFrom('invites')
    .select('id')
    .where('creator_id', '=', creatorId)
    .where('org_id', '=', orgId)
    .where('reveal_count', '>', 0)
    .execute()
