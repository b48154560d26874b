import type { AccessScope, ActorKind } from '@trellis/contract'
import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../schema.ts'

interface RepoTokensTable {
  id: string
  repo_id: string
  /** The token's id in the object store. */
  store_token_id: string
  prefix: string
  secret_hash: string
  scope: AccessScope
  /** JSON: patterns of the refs it may move; null for all. */
  refs: string | null
  op: string
  actor_kind: ActorKind
  actor_id: string
  created_at: number
  expires_at: number
  revoked_at: number | null
}

export interface TokenTables {
  repo_tokens: RepoTokensTable
}

export type TokenRow = Selectable<RepoTokensTable>

const unrevoked = (q: Db, repoId: string) =>
  q.selectFrom('repo_tokens').where('repo_id', '=', repoId).where('revoked_at', 'is', null)

/** All that are alive. */
export const listLive = (q: Db, repoId: string, now: number): Promise<TokenRow[]> =>
  unrevoked(q, repoId).selectAll().where('expires_at', '>', now).execute()

/** How many are alive; counted no further than `limit`. */
export async function countLive(q: Db, repoId: string, now: number, limit: number): Promise<number> {
  const { count } = await q
    .selectFrom(
      unrevoked(q, repoId).select('expires_at').where('expires_at', '>', now).limit(limit).as('live'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Some that ended after a time, in one way and in the other, each the latest first. */
export async function listEnded(
  q: Db,
  repoId: string,
  { after, now, limit }: { after: number; now: number; limit: number },
): Promise<TokenRow[]> {
  const [expired, revoked] = await Promise.all([
    unrevoked(q, repoId)
      .selectAll()
      .where('expires_at', '>', after)
      .where('expires_at', '<=', now)
      .orderBy('expires_at', 'desc')
      .limit(limit)
      .execute(),
    q
      .selectFrom('repo_tokens')
      .selectAll()
      .where('repo_id', '=', repoId)
      .where('revoked_at', '>', after)
      .orderBy('revoked_at', 'desc')
      .limit(limit)
      .execute(),
  ])
  return [...expired, ...revoked]
}

export const findTokenByHash = (
  q: Db,
  hash: string,
): Promise<(TokenRow & { artifact_id: string; repo_expires_at: number | null }) | undefined> =>
  q
    .selectFrom('repo_tokens')
    .innerJoin('repos', 'repos.id', 'repo_tokens.repo_id')
    .selectAll('repo_tokens')
    .select(['repos.artifact_id', 'repos.expires_at as repo_expires_at'])
    .where('secret_hash', '=', hash)
    .executeTakeFirst()

export const insertToken = (tx: Tx, row: Insertable<RepoTokensTable>): Promise<TokenRow> =>
  tx.insertInto('repo_tokens').values(row).returningAll().executeTakeFirstOrThrow()

/** Undefined when the repository has no such token, or it was revoked before. */
export const revokeToken = (tx: Tx, repoId: string, id: string, now: number): Promise<TokenRow | undefined> =>
  tx
    .updateTable('repo_tokens')
    .set({ revoked_at: now })
    .where('repo_id', '=', repoId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returningAll()
    .executeTakeFirst()

export const revokeTokensMintedBy = (
  tx: Tx,
  { orgId, actorId, now }: { orgId: string; actorId: string; now: number },
): Promise<TokenRow[]> =>
  tx
    .updateTable('repo_tokens')
    .set({ revoked_at: now })
    .where('actor_id', '=', actorId)
    .where('revoked_at', 'is', null)
    .where('repo_id', 'in', (eb) => eb.selectFrom('repos').select('id').where('org_id', '=', orgId))
    .returningAll()
    .execute()

/** Of a repository that is being deleted. */
export async function deleteSomeTokens(tx: Tx, repoId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('repo_tokens')
    .where('id', 'in', (eb) =>
      eb.selectFrom('repo_tokens').select('id').where('repo_id', '=', repoId).limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
