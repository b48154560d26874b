import type { AccessScope, Role, Scope } from '@trellis/contract'
import { remembered } from '../db/prepared.ts'
import type { Database, Db, Tx } from '../schema.ts'
import { type ActingOrg, actingOrg, type Caller } from './caller.ts'
import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from './powers.ts'

/*
 * Every request with a key, a token or a session comes through here, so each is a single query over the tables of
 * several domains, remembered until one of them changes. Undefined stands for a credential that is not known. People an operator has disabled are shut
 * out here: what belongs to them is as good as not there.
 */

/** Why a credential is not good any more that was once. */
export type Ended = 'expired' | 'revoked'

/** Rows are remembered, and so is what was made of one. */
function perRow<Row extends object, Made>(make: (row: Row) => Made): (row: Row) => Made {
  const kept = new WeakMap<Row, Made>()
  return (row) => {
    const known = kept.get(row)
    if (known) return known
    const made = make(row)
    kept.set(row, made)
    return made
  }
}

type RowOf<Query extends (...args: never[]) => Promise<readonly object[]>> = Awaited<
  ReturnType<Query>
>[number]

const hasPassed = (end: number | null, now: number): boolean => end !== null && end <= now

const keyByHash = remembered(['api_keys', 'orgs', 'members', 'users'], (db: Db, { hash }: { hash: string }) =>
  // The join with members is what makes a key end with its owner's membership.
  db
    .selectFrom('api_keys')
    .innerJoin('orgs', 'orgs.id', 'api_keys.org_id')
    .innerJoin('members', (join) =>
      join.onRef('members.org_id', '=', 'api_keys.org_id').onRef('members.user_id', '=', 'api_keys.user_id'),
    )
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select([
      'api_keys.id',
      'api_keys.user_id',
      'api_keys.scopes',
      'api_keys.enabled',
      'api_keys.expires_at',
      'api_keys.org_id',
      'orgs.slug',
      'orgs.frozen',
      'orgs.kind',
      'members.role',
    ])
    .where('api_keys.secret_hash', '=', hash)
    .where('users.disabled_at', 'is', null),
)

const callerOfKeyRow = perRow(
  (key: RowOf<typeof keyByHash>): Caller => ({
    actor: { kind: 'user', id: key.user_id },
    credential: { kind: 'key', id: key.id },
    org: actingOrg({ ...key, id: key.org_id }),
    role: key.role,
    scopes: key.scopes.split(' ') as Scope[],
    expiresAt: key.expires_at,
  }),
)

export async function callerOfKey(db: Db, hash: string, now: number): Promise<Caller | Ended | undefined> {
  const [key] = await keyByHash(db, { hash })
  if (!key) return undefined
  if (key.enabled !== 1) return 'revoked'
  if (hasPassed(key.expires_at, now)) return 'expired'
  return callerOfKeyRow(key)
}

const columnsOfSession = [
  'sessions.id',
  'sessions.user_id',
  'sessions.expires_at',
  'orgs.id as org_id',
  'orgs.slug',
  'orgs.frozen',
  'orgs.kind',
  'members.role',
] as const

/** In the personal organization, which is found without looking at those of others. */
const sessionAtHome = remembered(
  ['sessions', 'users', 'orgs', 'members'],
  (db: Db, { hash }: { hash: string }) =>
    db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .leftJoin('orgs', 'orgs.personal_user_id', 'sessions.user_id')
      .leftJoin('members', (join) =>
        join.onRef('members.org_id', '=', 'orgs.id').onRef('members.user_id', '=', 'sessions.user_id'),
      )
      .select(columnsOfSession)
      .where('sessions.token_hash', '=', hash)
      .where('users.disabled_at', 'is', null),
)

const sessionInOrg = remembered(
  ['sessions', 'users', 'orgs', 'members'],
  (db: Db, { hash, slug }: { hash: string; slug: string }) =>
    db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .leftJoin('orgs', (join) => join.on('orgs.slug', '=', slug))
      .leftJoin('members', (join) =>
        join.onRef('members.org_id', '=', 'orgs.id').onRef('members.user_id', '=', 'sessions.user_id'),
      )
      .select(columnsOfSession)
      .where('sessions.token_hash', '=', hash)
      .where('users.disabled_at', 'is', null),
)

/** A session, with the caller in the organization they named, or in their own; null when they have no place there. */
interface FoundSession {
  id: string
  userId: string
  expiresAt: number
  caller: Caller | null
}

const sessionOfRow = perRow((found: RowOf<typeof sessionAtHome>): FoundSession => {
  const { id, user_id: userId, org_id, slug, frozen, kind, role } = found
  const isMember = org_id !== null && slug !== null && frozen !== null && kind !== null && role !== null
  return {
    id,
    userId,
    expiresAt: new Date(found.expires_at).getTime(),
    caller: isMember ? callerOfSession({ id, userId }, { id: org_id, slug, frozen, kind, role }) : null,
  }
})

export async function findSession(
  db: Db,
  hash: string,
  slug: string | undefined,
): Promise<FoundSession | undefined> {
  const [found] =
    slug === undefined ? await sessionAtHome(db, { hash }) : await sessionInOrg(db, { hash, slug })
  return found && sessionOfRow(found)
}

export const callerOfSession = (
  { id, userId }: { id: string; userId: string },
  org: { id: string; slug: string; frozen: number; kind: string; role: Role },
): Caller => ({
  actor: { kind: 'user', id: userId },
  credential: { kind: 'session', id },
  org: actingOrg(org),
  role: org.role,
  scopes: ['*'],
  expiresAt: null,
})

const tokenByHash = remembered(['repo_tokens', 'repos', 'orgs'], (db: Db, { hash }: { hash: string }) =>
  db
    .selectFrom('repo_tokens')
    .innerJoin('repos', 'repos.id', 'repo_tokens.repo_id')
    .innerJoin('orgs', 'orgs.id', 'repos.org_id')
    .select([
      'repo_tokens.id',
      'repo_tokens.repo_id',
      'repo_tokens.scope',
      'repo_tokens.refs',
      'repo_tokens.actor_kind',
      'repo_tokens.actor_id',
      'repo_tokens.expires_at',
      'repo_tokens.revoked_at',
      'repos.expires_at as repo_expires_at',
      'repos.org_id',
      'orgs.slug',
      'orgs.frozen',
      'orgs.kind',
    ])
    .where('repo_tokens.secret_hash', '=', hash),
)

const callerOfTokenRow = perRow(
  (token: RowOf<typeof tokenByHash>): Caller => ({
    actor: { kind: token.actor_kind, id: token.actor_id },
    credential: { kind: 'token', id: token.id },
    org: actingOrg({ ...token, id: token.org_id }),
    role: tokenRole,
    scopes: tokenScopes[token.scope],
    expiresAt: token.expires_at,
    onlyRepoId: token.repo_id,
    ...(token.refs !== null && { onlyRefs: JSON.parse(token.refs) as string[] }),
  }),
)

export async function callerOfToken(db: Db, hash: string, now: number): Promise<Caller | Ended | undefined> {
  const [token] = await tokenByHash(db, { hash })
  if (!token || hasPassed(token.repo_expires_at, now)) return undefined
  if (token.revoked_at !== null) return 'revoked'
  if (hasPassed(token.expires_at, now)) return 'expired'
  return callerOfTokenRow(token)
}

/** A token is bounded by its scope and its repository alone; it is nobody's membership. */
const tokenRole: Role = 'owner'
const tokenScopes: Record<AccessScope, Scope[]> = { read: ['repo:read'], write: ['repo:write'] }

const agentByHash = remembered(
  ['agent_tokens', 'agent_registrations', 'orgs', 'users'],
  (db: Db, { hash }: { hash: string }) =>
    db
      .selectFrom('agent_tokens')
      .innerJoin('agent_registrations', 'agent_registrations.id', 'agent_tokens.registration_id')
      .innerJoin('orgs', 'orgs.id', 'agent_registrations.org_id')
      .leftJoin('users', 'users.id', 'agent_registrations.claimed_by')
      .select([
        'agent_tokens.id',
        'agent_tokens.registration_id',
        'agent_tokens.expires_at',
        'agent_tokens.revoked_at',
        'agent_tokens.generation',
        'agent_registrations.generation as current_generation',
        'agent_registrations.agent_name',
        'agent_registrations.claimed_at',
        'agent_registrations.claim_expires_at',
        'agent_registrations.org_id',
        'orgs.slug',
        'orgs.frozen',
        'orgs.kind',
      ])
      .where('agent_tokens.secret_hash', '=', hash)
      // It acts for whoever claimed it, and not while they are shut out.
      .where('users.disabled_at', 'is', null),
)

const callerOfAgentRow = perRow((agent: RowOf<typeof agentByHash>): Caller => {
  const isUnclaimed = agent.claimed_at === null
  return {
    actor: { kind: 'agent', id: agent.registration_id },
    credential: { kind: 'agent', id: agent.id },
    org: actingOrg({ ...agent, id: agent.org_id }),
    role: 'owner',
    scopes: isUnclaimed ? PRE_CLAIM_SCOPES : POST_CLAIM_SCOPES,
    // Once claimed it lasts until it is revoked, and then all ends that it made.
    expiresAt: isUnclaimed ? agent.claim_expires_at : null,
    ...(agent.agent_name !== null && { agentName: agent.agent_name }),
  }
})

export async function callerOfAgent(db: Db, hash: string, now: number): Promise<Caller | Ended | undefined> {
  const [agent] = await agentByHash(db, { hash })
  if (!agent) return undefined
  // A claim starts a new generation, as does the end of the agent, and with it ends what was handed out before.
  if (agent.revoked_at !== null || agent.generation !== agent.current_generation) return 'revoked'
  const isUnclaimed = agent.claimed_at === null
  if (hasPassed(agent.expires_at, now) || (isUnclaimed && hasPassed(agent.claim_expires_at, now)))
    return 'expired'
  return callerOfAgentRow(agent)
}

const anonymousByHash = remembered(['anonymous_callers', 'orgs'], (db: Db, { hash }: { hash: string }) =>
  db
    .selectFrom('anonymous_callers')
    .innerJoin('orgs', 'orgs.id', 'anonymous_callers.org_id')
    .select(['anonymous_callers.id as caller_id', 'orgs.id', 'orgs.slug', 'orgs.frozen', 'orgs.kind'])
    .where('anonymous_callers.secret_hash', '=', hash),
)

/** Somebody without an account, known again by a cookie. */
export async function callerOfAnonymous(db: Db, hash: string): Promise<Caller | undefined> {
  const [found] = await anonymousByHash(db, { hash })
  return found && anonymousCaller(found.caller_id, actingOrg(found))
}

export const anonymousCaller = (id: string, org: ActingOrg): Caller => ({
  actor: { kind: 'anonymous', id },
  credential: { kind: 'anonymous', id },
  org,
  role: 'owner',
  scopes: ['repo:admin'],
  // They are known as long as they have repositories; what they make ends with the repository it is for.
  expiresAt: null,
})

/**
 * For what goes on after its request: whether the key or token was revoked since that came in. It is not before the
 * transaction ends, so whoever revokes it finds what was written with it.
 */
export async function isUnrevokedIn(
  tx: Tx,
  dialect: Database['dialect'],
  { kind, id }: Caller['credential'],
): Promise<boolean> {
  if (kind !== 'key' && kind !== 'token') return true
  const found =
    kind === 'key'
      ? tx.selectFrom('api_keys').select('id').where('id', '=', id).where('enabled', '=', 1)
      : tx.selectFrom('repo_tokens').select('id').where('id', '=', id).where('revoked_at', 'is', null)
  return (await (dialect === 'postgres' ? found.forShare() : found).execute()).length > 0
}

/** What is known of a credential that a request with it need not know: when this one ends, and what it opens. */
export async function findCredentialFacts(
  db: Db,
  { kind, id }: Caller['credential'],
): Promise<{ expiresAt?: number | undefined; repo?: string | undefined }> {
  if (kind === 'session') {
    const session = await db
      .selectFrom('sessions')
      .select('expires_at')
      .where('id', '=', id)
      .executeTakeFirst()
    return { expiresAt: session && new Date(session.expires_at).getTime() }
  }
  if (kind === 'agent') {
    const token = await db
      .selectFrom('agent_tokens')
      .select('expires_at')
      .where('id', '=', id)
      .executeTakeFirst()
    return { expiresAt: token?.expires_at }
  }
  if (kind !== 'token') return {}
  const token = await db
    .selectFrom('repo_tokens')
    .innerJoin('repos', 'repos.id', 'repo_tokens.repo_id')
    .select('repos.name')
    .where('repo_tokens.id', '=', id)
    .executeTakeFirst()
  return { repo: token?.name }
}
