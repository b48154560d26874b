import { randomBytes } from 'node:crypto'
import type { AccessScope, Invite, NewInvite, RevealedInvite } from '@trellis/contract'
import { type Caller, can } from '../access/caller.ts'
import type { Ending } from '../access/endings.ts'
import { endWithin } from '../access/lifetimes.ts'
import type { AnonymousService } from '../anonymous/service.ts'
import { type Author, by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../platform/clock.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import { ENDED_SHOWN, ENDED_SHOWN_MS, listing } from '../platform/listing.ts'
import type { Throttles } from '../platform/throttles.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { hashSecret } from '../secrets/minting.ts'
import type { TokensService } from '../tokens/service.ts'
import { cloneCommand, cloneUrl, promptFor } from './handover.ts'
import * as store from './store.ts'

interface InvitesDeps {
  database: Database
  events: EventsService
  repos: ReposService
  tokens: TokensService
  tokenEnding: Ending
  anonymous: AnonymousService
  clock: Clock
  newId: NewId
  baseUrl: string
  /** Whether callers without an account are served. */
  anonymousAccess: boolean
  throttles: Throttles
  limits: { invitesPerCaller: number }
}

interface NewInviteInput {
  name: string
  scope: AccessScope
  grantTtlSeconds: number
  expiresIn: number
  maxReveals?: number | undefined
}

/** Who asks, when it may be nobody: an account, or the secret of their cookie, or neither yet. */
export interface Asker {
  visitor: Caller | undefined
  anonymousSecret: string | undefined
  address: string
  /** Undefined for callers no limit by address applies to. */
  limitedAddress: string | undefined
  /** Gives a new anonymous caller what they will be known by. */
  remember(secret: string): void
}

type Unavailable = 'revoked' | 'expired' | 'exhausted' | 'repo_unavailable'

const PREFIX_LENGTH = 8

export type InvitesService = ReturnType<typeof createInvitesService>

/** Links that hand out clones which end by themselves. */
export function createInvitesService(deps: InvitesDeps) {
  const { database, events, repos, tokens, anonymous, clock, newId, baseUrl, anonymousAccess } = deps
  const { throttles, limits, tokenEnding } = deps

  /** Those who make invites are counted one after the other. */
  const lockOwn = (tx: Tx, { actor }: Caller) => throttles.lockIn(tx, `invites ${actor.id}`)

  async function createIn(tx: Tx, caller: Caller, repo: RepoRow, input: NewInviteInput): Promise<NewInvite> {
    const secret = mintInviteSecret()
    const managementId = mintInviteSecret()
    const wanted = Math.min(clock() + input.expiresIn * 1000, repo.expires_at ?? Number.MAX_SAFE_INTEGER)
    const expiresAt = endWithin(caller, wanted)
    const limit = limits.invitesPerCaller
    const observed = await store.countUnended(tx, caller.actor.id, clock(), limit)
    if (observed >= limit) throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit, observed })
    const id = newId('ivt')
    await store.insertInvite(tx, {
      id,
      secret_hash: hashSecret(secret),
      secret_prefix: secret.slice(0, PREFIX_LENGTH),
      management_hash: hashSecret(managementId),
      repo_id: repo.id,
      org_id: repo.org_id,
      creator_id: caller.actor.id,
      scope: input.scope,
      grant_ttl_seconds: input.grantTtlSeconds,
      max_reveals: input.maxReveals ?? null,
      reveal_count: 0,
      expires_at: expiresAt,
      revoked_at: null,
      created_at: clock(),
    })
    await events.append(tx, {
      ...by(caller),
      scope: repoScope(repo.id),
      type: 'invite.created',
      subject: id,
      payload: { scope: input.scope, expiresAt: isoTime(expiresAt), maxReveals: input.maxReveals ?? null },
    })
    return {
      id: secret,
      managementId,
      url: `${baseUrl}/invites/${secret}`,
      repo: repo.name,
      scope: input.scope,
      expiresAt: isoTime(expiresAt),
      repoExpiresAt: isoTimeOrNull(repo.expires_at),
    }
  }

  function requireAnonymousAccess(): void {
    if (!anonymousAccess) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'anonymous' })
  }

  /** One call without an account gives somewhere to push. */
  async function createForStranger(asker: Asker, input: NewInviteInput): Promise<NewInvite> {
    requireAnonymousAccess()
    const known = asker.anonymousSecret ? await anonymous.find(asker.anonymousSecret) : undefined
    const { invite, secret } = await database.transact(async (tx) => {
      const { caller, secret } = known
        ? { caller: known, secret: undefined }
        : await anonymous.createIn(tx, asker.limitedAddress ?? asker.address)
      await lockOwn(tx, caller)
      const existing = await repos.findIn(tx, caller, input.name)
      if (!existing) await anonymous.requireRoomIn(tx, asker.limitedAddress)
      const repo = existing ?? (await repos.createIn(tx, caller, { name: input.name, defaultBranch: 'main' }))
      return { invite: await createIn(tx, caller, repo, input), secret }
    })
    // Also somebody known is told again: the cookie has to last as long as what was made now.
    const kept = secret ?? asker.anonymousSecret
    if (kept) asker.remember(kept)
    return invite
  }

  /** What stands against a reveal now, in the order in which it is told. */
  function obstacle(invite: store.InviteWithRepo): Unavailable | undefined {
    const now = clock()
    if (invite.revoked_at !== null) return 'revoked'
    if (invite.expires_at <= now) return 'expired'
    if (invite.max_reveals !== null && invite.reveal_count >= invite.max_reveals) return 'exhausted'
    const repoIsGone =
      invite.repo_name === null || (invite.repo_expires_at !== null && invite.repo_expires_at <= now)
    return repoIsGone ? 'repo_unavailable' : undefined
  }

  async function findOpen(secret: string): Promise<store.InviteWithRepo> {
    const invite = await store.findBySecret(database.db, hashSecret(secret))
    if (!invite) throw new Fault('INVITE_NOT_FOUND', {})
    const reason = obstacle(invite)
    if (reason) throw new Fault('INVITE_UNAVAILABLE', { reason })
    return invite
  }

  /** A person may end what they made wherever it is; a key or token only where it may administrate anyway. */
  function mayRevoke(caller: Caller, invite: store.InviteWithRepo): boolean {
    const { kind } = caller.credential
    if (invite.creator_id === caller.actor.id && (kind === 'session' || kind === 'anonymous')) return true
    return invite.org_id === caller.org.id && !caller.onlyRepoId && can(caller, 'repo:admin')
  }

  return {
    async createAnonymous(asker: Asker, input: NewInviteInput): Promise<NewInvite> {
      return asker.visitor ? this.create(asker.visitor, input) : createForStranger(asker, input)
    },

    async create(caller: Caller, input: NewInviteInput): Promise<NewInvite> {
      // Nobody could open it.
      requireAnonymousAccess()
      const repo = await repos.open(caller, input.name, 'repo:admin')
      if (input.scope === 'write') repos.requireWritable(caller, repo)
      return database.transact(async (tx) => {
        await lockOwn(tx, caller)
        return createIn(tx, caller, repo, input)
      })
    },

    /** What the holder of a link may know before taking anything. Never counts. */
    async look(secret: string) {
      requireAnonymousAccess()
      const invite = await findOpen(secret)
      return { repo: invite.repo_name ?? '', scope: invite.scope, expiresAt: isoTime(invite.expires_at) }
    },

    async reveal(secret: string): Promise<RevealedInvite> {
      requireAnonymousAccess()
      const invite = await findOpen(secret)
      const repo = await repos.find(invite.repo_id)
      if (!repo || invite.org_slug === null)
        throw new Fault('INVITE_UNAVAILABLE', { reason: 'repo_unavailable' })
      // Whoever opens a link is known by nothing but the link.
      const author: Author = { actor: { kind: 'anonymous', id: invite.id }, credentialId: invite.id }
      const token = await database.transact(async (tx) => {
        if (!(await store.countReveal(tx, invite.id, clock()))) return undefined
        await events.append(tx, {
          ...author,
          scope: repoScope(repo.id),
          type: 'invite.revealed',
          subject: invite.id,
          payload: { scope: invite.scope },
        })
        // It ends with the invite or the repository, if they end first.
        const expires_at = Math.min(invite.expires_at, repo.expires_at ?? Number.MAX_SAFE_INTEGER)
        const ttlSeconds = invite.grant_ttl_seconds
        return tokens.mintIn(
          tx,
          author,
          { ...repo, expires_at },
          { scope: invite.scope, op: 'invite', ttlSeconds },
        )
      })
      if (!token) {
        // Somebody else took the last one, or it was revoked, between the look and the count.
        const now = await store.findById(database.db, invite.id)
        throw new Fault('INVITE_UNAVAILABLE', { reason: (now && obstacle(now)) ?? 'exhausted' })
      }
      const remote = `${baseUrl}/git/${invite.org_slug}/${repo.name}.git`
      const url = cloneUrl(remote, token.secret)
      return {
        repo: repo.name,
        scope: invite.scope,
        remote,
        cloneUrl: url,
        cloneCommand: cloneCommand(url, repo.name),
        prompt: promptFor({ repo: repo.name, scope: invite.scope, url, expiresAt: token.expiresAt }),
        tokenExpiresAt: token.expiresAt,
        inviteExpiresAt: isoTime(invite.expires_at),
        repoExpiresAt: isoTimeOrNull(repo.expires_at),
      }
    },

    /** The invites whoever asks has made; nobody else's. */
    async listOwn({ visitor, anonymousSecret }: Asker): Promise<{ items: Invite[] }> {
      if (!visitor) requireAnonymousAccess()
      const caller = visitor ?? (anonymousSecret ? await anonymous.find(anonymousSecret) : undefined)
      if (!caller) return { items: [] }
      const made: store.Made = {
        creatorId: caller.actor.id,
        // Only a session speaks for the whole person.
        ...(caller.credential.kind !== 'session' && { orgId: caller.org.id }),
        ...(caller.onlyRepoId && { repoId: caller.onlyRepoId }),
      }
      const now = clock()
      const [unended, ended] = await Promise.all([
        store.listUnended(database.db, made, now),
        store.listEnded(database.db, made, { after: now - ENDED_SHOWN_MS, now, limit: ENDED_SHOWN }),
      ])
      const rows = listing(unended, ended, (invite) => invite.revoked_at ?? invite.expires_at)
      return { items: rows.map(present) }
    },

    async list(
      caller: Caller,
      { name, cursor, limit }: { name: string; cursor?: string | undefined; limit: number },
    ) {
      const repo = await repos.open(caller, name, 'repo:admin')
      const rows = await store.listByRepo(database.db, repo.id, {
        after: textCursor.decode(cursor) ?? '',
        limit: limit + 1,
      })
      const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.id))
      return { items: items.map(present), nextCursor }
    },

    async revoke(
      { visitor, anonymousSecret }: Asker,
      { managementId, id }: { managementId?: string | undefined; id?: string | undefined },
    ): Promise<{ revoked: boolean }> {
      if ((managementId === undefined) === (id === undefined)) throw invalid([], 'Give managementId or id')
      const caller = visitor ?? (anonymousSecret ? await anonymous.find(anonymousSecret) : undefined)
      const invite = managementId
        ? await store.findByManagement(database.db, hashSecret(managementId))
        : await store.findById(database.db, id ?? '')
      const isAllowed = invite && (managementId !== undefined || (caller && mayRevoke(caller, invite)))
      if (!invite || !isAllowed) throw new Fault('INVITE_NOT_FOUND', {})
      const author: Author = caller
        ? by(caller)
        : { actor: { kind: 'anonymous', id: invite.id }, credentialId: null }
      return database.transact(async (tx) => {
        const revoked = await store.revoke(tx, invite.id, clock())
        if (!revoked) return { revoked }
        await events.append(tx, {
          ...author,
          scope: repoScope(invite.repo_id),
          type: 'invite.revoked',
          subject: invite.id,
        })
        await tokenEnding.endIn(tx, author, { orgId: invite.org_id, actorId: invite.id })
        return { revoked }
      })
    },
  }

  function present(invite: store.InviteWithRepo): Invite {
    const reason = obstacle(invite)
    return {
      id: invite.id,
      idPrefix: invite.secret_prefix,
      repo: invite.repo_name,
      orgId: invite.org_id,
      orgSlug: invite.org_slug,
      orgName: invite.org_name,
      scope: invite.scope,
      status: reason === undefined ? 'active' : reason === 'repo_unavailable' ? 'expired' : reason,
      maxReveals: invite.max_reveals,
      revealCount: invite.reveal_count,
      expiresAt: isoTime(invite.expires_at),
      repoExpiresAt: isoTimeOrNull(invite.repo_expires_at),
      revokedAt: isoTimeOrNull(invite.revoked_at),
      createdAt: invite.created_at,
    }
  }
}

/** 36 characters nobody guesses. */
const mintInviteSecret = (): string => randomBytes(27).toString('base64url')
