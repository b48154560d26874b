import type { AccessScope, NewRepoToken, RepoToken, TokenValidation } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { CredentialEnding } from '../access/endings.ts'
import { endWithin, requireEndWithin } from '../access/lifetimes.ts'
import { refPatternProblem } from '../access/ref-patterns.ts'
import { type Author, by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { OrgsService } from '../orgs/service.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../platform/clock.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import { ENDED_SHOWN, ENDED_SHOWN_MS, listing } from '../platform/listing.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { hashSecret, mintSecret, secretKind, shownPrefix } from '../secrets/minting.ts'
import * as store from './store.ts'

const DEFAULT_TTL_SECONDS = 24 * 60 * 60

/** Why a token exists. */
type TokenOp = 'api' | 'invite' | 'run' | 'import'

interface NewToken {
  scope: AccessScope
  /** Patterns of the refs it may move; all when left out. */
  refs?: readonly string[] | undefined
  op: TokenOp
  ttlSeconds: number
}

interface TokensDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  credentialEnding: CredentialEnding
  clock: Clock
  newId: NewId
  limits: { tokensPerRepo: number }
}

export type TokensService = ReturnType<typeof createTokensService>

/** Tokens for one repository each: read or write, always expiring. */
export function createTokensService(deps: TokensDeps) {
  const { database, events, orgs, repos, credentialEnding, clock, newId, limits } = deps

  async function mintIn(
    tx: Tx,
    author: Author,
    repo: { id: string; artifact_id: string; expires_at: number | null },
    { scope, refs, op, ttlSeconds }: NewToken,
  ): Promise<NewRepoToken> {
    const secret = mintSecret('trt')
    const now = clock()
    const token = await store.insertToken(tx, {
      id: newId('tok'),
      repo_id: repo.id,
      store_token_id: newId('atk'),
      prefix: shownPrefix(secret),
      secret_hash: hashSecret(secret),
      scope,
      refs: refs ? JSON.stringify(refs) : null,
      op,
      actor_kind: author.actor.kind,
      actor_id: author.actor.id,
      created_at: now,
      expires_at: Math.min(now + ttlSeconds * 1000, repo.expires_at ?? Number.MAX_SAFE_INTEGER),
      revoked_at: null,
    })
    await events.append(tx, { ...told(author, token), type: 'token.created' })
    // The log of the repository is locked by now, so nobody else counts at the same time.
    const limit = limits.tokensPerRepo
    const observed = await store.countLive(tx, repo.id, now, limit + 1)
    if (observed > limit) throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit, projected: observed })
    return { ...present(token, repo.artifact_id), secret, ...(refs && { refs: [...refs] }) }
  }

  return {
    mintIn,

    async list(caller: Caller, { name }: { name: string }): Promise<{ items: RepoToken[] }> {
      const repo = await repos.open(caller, name, 'repo:admin')
      const now = clock()
      const [live, ended] = await Promise.all([
        store.listLive(database.db, repo.id, now),
        store.listEnded(database.db, repo.id, { after: now - ENDED_SHOWN_MS, now, limit: ENDED_SHOWN }),
      ])
      const rows = listing(live, ended, (token) => token.revoked_at ?? token.expires_at)
      return { items: rows.map((row) => present(row, repo.artifact_id)) }
    },

    async create(
      caller: Caller,
      {
        name,
        scope,
        refs,
        ...input
      }: Pick<NewToken, 'scope' | 'refs'> & { name: string; ttlSeconds?: number | undefined },
    ): Promise<NewRepoToken> {
      if (refs) requireRefPatterns(scope, refs)
      const { ttlSeconds = DEFAULT_TTL_SECONDS } = input
      // A time that was named is kept or refused; the one that is meant otherwise gives way.
      if (input.ttlSeconds) requireEndWithin(caller, clock() + ttlSeconds * 1000, 'ttlSeconds')
      const repo = await repos.open(caller, name, 'repo:admin')
      const expires_at = endWithin(caller, repo.expires_at ?? Number.MAX_SAFE_INTEGER)
      if (scope === 'write') repos.requireWritable(caller, repo)
      return database.transact(async (tx) => {
        await orgs.requireStillMemberIn(tx, caller)
        return mintIn(tx, by(caller), { ...repo, expires_at }, { scope, refs, op: 'api', ttlSeconds })
      })
    },

    async revoke(caller: Caller, { name, id }: { name: string; id: string }): Promise<{ revoked: boolean }> {
      const repo = await repos.open(caller, name, 'repo:admin')
      return database.transact(async (tx) => {
        const token = await store.revokeToken(tx, repo.id, id, clock())
        if (!token) return { revoked: false }
        await events.append(tx, { ...told(by(caller), token), type: 'token.revoked' })
        await credentialEnding.endIn(tx, { orgId: repo.org_id, actorId: token.actor_id }, [id])
        return { revoked: true }
      })
    },

    /** Whoever holds a token may ask what it is good for; all that is unknown looks alike. */
    async validate({ token: secret }: { token: string }): Promise<TokenValidation> {
      const token =
        secretKind(secret) === 'trt'
          ? await store.findTokenByHash(database.db, hashSecret(secret))
          : undefined
      if (!token) return unknownToken
      const ends = Math.min(token.expires_at, token.repo_expires_at ?? Number.MAX_SAFE_INTEGER)
      return {
        valid: token.revoked_at === null && ends > clock(),
        id: token.id,
        artifactId: token.artifact_id,
        tokenPrefix: token.prefix,
        scope: token.scope,
        op: token.op,
        expiresAt: isoTime(token.expires_at),
        revokedAt: isoTimeOrNull(token.revoked_at),
      }
    },
  }
}

function requireRefPatterns(scope: AccessScope, refs: readonly string[]): void {
  if (scope !== 'write') throw invalid(['refs'], 'A token that only reads moves no refs')
  for (const [i, pattern] of refs.entries()) {
    const problem = refPatternProblem(pattern)
    if (problem) throw invalid(['refs', i], problem)
  }
}

/** What every event of a token says. */
export const told = (author: Author, token: store.TokenRow) => ({
  ...author,
  scope: repoScope(token.repo_id),
  subject: token.id,
  payload: {
    scope: token.scope,
    op: token.op,
    expiresAt: isoTime(token.expires_at),
    ...(token.refs !== null && { refs: JSON.parse(token.refs) }),
  },
})

const unknownToken: TokenValidation = {
  valid: false,
  id: null,
  artifactId: null,
  tokenPrefix: null,
  scope: null,
  op: null,
  expiresAt: null,
  revokedAt: null,
}

function present(token: store.TokenRow, artifactId: string): RepoToken {
  return {
    id: token.id,
    artifactId,
    tokenPrefix: token.prefix,
    artifactsTokenId: token.store_token_id,
    scope: token.scope,
    op: token.op,
    tokenOps: token.scope === 'write' ? 'fetch,push' : 'fetch',
    createdAt: token.created_at,
    expiresAt: isoTime(token.expires_at),
    revokedAt: isoTimeOrNull(token.revoked_at),
  }
}
