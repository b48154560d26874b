import type { AccessScope, Role, Scope } from '@trellis/contract'
import { prepared } from '../db/prepared.ts'
import type { Db } from '../schema.ts'
import type { Caller } from './caller.ts'

/*
 * Every request with a key or a token comes through here, so each is a single query over the tables of several
 * domains, prepared. Undefined stands for a credential that is not, or no longer, good.
 */

const keyByHash = prepared((db: Db, { hash }: { hash: string }) =>
  // The join with members is what makes a key end with its owner's membership.
  db
    .selectFrom('api_keys')
    .innerJoin('orgs', 'orgs.id', 'api_keys.org_id')
    .innerJoin('members', (join) =>
      join.onRef('members.org_id', '=', 'api_keys.org_id').onRef('members.user_id', '=', 'api_keys.user_id'),
    )
    .select([
      'api_keys.id',
      'api_keys.user_id',
      'api_keys.scopes',
      'api_keys.enabled',
      'api_keys.expires_at',
      'api_keys.org_id',
      'orgs.slug',
      'orgs.frozen',
      'members.role',
    ])
    .where('api_keys.secret_hash', '=', hash),
)

export async function callerOfKey(db: Db, hash: string, now: number): Promise<Caller | undefined> {
  const [key] = await keyByHash(db, { hash })
  if (key?.enabled !== 1 || (key.expires_at !== null && key.expires_at <= now)) return undefined
  return {
    actor: { kind: 'user', id: key.user_id },
    credential: { kind: 'key', id: key.id },
    org: { id: key.org_id, slug: key.slug, frozen: key.frozen === 1 },
    role: key.role,
    scopes: key.scopes.split(' ') as Scope[],
  }
}

const liveTokenByHash = prepared((db: Db, { hash, now }: { hash: string; now: number }) =>
  db
    .selectFrom('repo_tokens')
    .innerJoin('repos', 'repos.id', 'repo_tokens.repo_id')
    .innerJoin('orgs', 'orgs.id', 'repos.org_id')
    .select([
      'repo_tokens.id',
      'repo_tokens.repo_id',
      'repo_tokens.scope',
      'repo_tokens.actor_kind',
      'repo_tokens.actor_id',
      'repos.org_id',
      'orgs.slug',
      'orgs.frozen',
    ])
    .where('repo_tokens.secret_hash', '=', hash)
    .where('repo_tokens.revoked_at', 'is', null)
    .where('repo_tokens.expires_at', '>', now)
    .where((eb) => eb.or([eb('repos.expires_at', 'is', null), eb('repos.expires_at', '>', now)])),
)

export async function callerOfToken(db: Db, hash: string, now: number): Promise<Caller | undefined> {
  const [token] = await liveTokenByHash(db, { hash, now })
  if (!token) return undefined
  return {
    actor: { kind: token.actor_kind, id: token.actor_id },
    credential: { kind: 'token', id: token.id },
    org: { id: token.org_id, slug: token.slug, frozen: token.frozen === 1 },
    role: tokenRole,
    scopes: tokenScopes[token.scope],
    onlyRepoId: token.repo_id,
  }
}

/** A token is bounded by its scope and its repository alone; it is nobody's membership. */
const tokenRole: Role = 'owner'
const tokenScopes: Record<AccessScope, Scope[]> = { read: ['repo:read'], write: ['repo:write'] }
