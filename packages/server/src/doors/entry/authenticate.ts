import type { IncomingHttpHeaders } from 'node:http'
import { actingOrg, type Caller, followsPerson } from '../../access/caller.ts'
import {
  callerOfAgent,
  callerOfKey,
  callerOfSession,
  callerOfToken,
  type Ended,
  findSession,
} from '../../access/credentials.ts'
import type { AgentUsage } from '../../agents/usage.ts'
import type { AnonymousService } from '../../anonymous/service.ts'
import type { KeyUsage } from '../../keys/usage.ts'
import type { OrgsService } from '../../orgs/service.ts'
import type { Auth } from '../../people/auth.ts'
import type { SentSession } from '../../people/session-tokens.ts'
import type { Clock } from '../../platform/clock.ts'
import { forbidden } from '../../platform/fault.ts'
import type { Database } from '../../schema.ts'
import { hashSecret, secretKind } from '../../secrets/minting.ts'
import type { Cookie } from './cookies.ts'
import { notAccepted } from './not-accepted.ts'

export interface AuthenticatorDeps {
  database: Database
  auth: Auth
  orgs: OrgsService
  keyUsage: KeyUsage
  agentUsage: AgentUsage
  clock: Clock
  anonymous: AnonymousService
  anonymousCookie: Cookie
  /** A key the operator chose; it need not look like one of ours. */
  ownerKey: string | undefined
}

/** The header by which a session, or a key that follows its maker, chooses the organization it acts in. */
const ORG_HEADER = 'trellis-org'
const SECRET_PREFIX = /^tr[ktalr]_/
const SESSION_COOKIE = 'trellis.session_token='

export const hasSessionCookie = (cookie: string | undefined): boolean =>
  cookie?.includes(SESSION_COOKIE) === true

/** What is accepted beside bearer tokens and cookies. */
export interface Acceptance {
  /** A credential as a password. */
  basic?: boolean
  /** The organization, where no header can be sent. */
  org?: string | undefined
}

export type Authenticate = ReturnType<typeof createAuthenticator>

/** Finds out who is calling. No credential gives undefined; one that is not accepted is refused. */
export function createAuthenticator(deps: AuthenticatorDeps) {
  const { database, auth, orgs, keyUsage, agentUsage, clock } = deps
  const ownerKeyHash = deps.ownerKey && hashSecret(deps.ownerKey)

  /** All that is seldom: what is to be renewed, has expired, or has no organization yet. */
  async function bySessionFromHeaders(
    headers: Headers,
    slug: string | undefined,
  ): Promise<Caller | undefined> {
    const found = await auth.getSession(headers)
    if (!found) return undefined
    const { user, session } = found
    const org =
      (await orgs.home(user.id, slug)) ??
      // Power went out between the account and its organization.
      (await database.transact((tx) => orgs.createPersonalIn(tx, user)))
    return callerOfSession({ id: session.id, userId: user.id }, org)
  }

  async function bySession(
    sent: SentSession | undefined,
    header: Record<string, string>,
    slug: string | undefined,
  ): Promise<Caller | undefined> {
    if (!sent) return undefined
    const found = await findSession(database.db, hashSecret(sent.token), slug)
    if (!found) return undefined
    if (auth.tokens.lasts(sent, found.expiresAt - clock())) {
      if (found.caller) return found.caller
      // They may have deleted their own.
      const org = await orgs.home(found.userId, slug)
      if (org) return callerOfSession(found, org)
    }
    return bySessionFromHeaders(new Headers(header), slug)
  }

  async function bySecret(secret: string): Promise<Caller | Ended | undefined> {
    const hash = hashSecret(secret)
    switch (hash === ownerKeyHash ? 'trk' : secretKind(secret)) {
      case 'trk':
        return callerOfKey(database.db, hash, clock())
      case 'trt':
        return callerOfToken(database.db, hash, clock())
      case 'tra':
        return callerOfAgent(database.db, hash, clock())
      default:
        return undefined
    }
  }

  async function byBearer(token: string, slug: string | undefined): Promise<Caller | undefined> {
    const caller = await bySecret(token)
    if (typeof caller === 'string') throw notAccepted(token, caller)
    if (!caller) {
      return SECRET_PREFIX.test(token)
        ? undefined
        : bySession(auth.tokens.inBearer(token), { authorization: `Bearer ${token}` }, slug)
    }
    if (caller.credential.kind === 'key') keyUsage.note(caller.credential.id)
    if (caller.credential.kind === 'agent') agentUsage.note(caller.credential.id)
    if (slug === undefined || slug === caller.org.slug) return caller
    if (followsPerson(caller)) {
      const org = await orgs.home(caller.actor.id, slug)
      if (org) return { ...caller, org: actingOrg(org), role: org.role }
    }
    if (await orgs.hadSlug(caller.org, slug)) return caller
    // Better refused than done in another organization than the caller thinks.
    throw forbidden(
      'not_a_member',
      `This credential is for ${caller.org.slug} alone; one with the scope account goes where its maker is`,
    )
  }

  return async (
    headers: IncomingHttpHeaders,
    { basic = false, org }: Acceptance = {},
  ): Promise<Caller | undefined> => {
    const slug = headers[ORG_HEADER]?.toString() ?? org
    if (headers.authorization !== undefined) {
      const token = bearerIn(headers.authorization) ?? (basic ? passwordIn(headers.authorization) : undefined)
      const caller = token === undefined ? undefined : await byBearer(token, slug)
      if (!caller) throw notAccepted(token)
      return caller
    }
    const { cookie } = headers
    if (!cookie || !hasSessionCookie(cookie)) return undefined
    const caller = await bySession(auth.tokens.inCookies(cookie), { cookie }, slug)
    const before = caller && deps.anonymousCookie.read(cookie)
    if (before) await deps.anonymous.adopt(before, caller)
    return caller
  }
}

const bearerIn = (header: string): string | undefined => /^bearer\s+(\S+)\s*$/i.exec(header)?.[1]

/** Git sends a credential as the password of any user; without a password, as the user. */
function passwordIn(header: string): string | undefined {
  const encoded = /^basic\s+(\S+)\s*$/i.exec(header)?.[1]
  if (!encoded) return undefined
  const [, user, password] = /^([^:]*):?(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return password || user || undefined
}
