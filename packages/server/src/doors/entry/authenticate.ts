import type { IncomingMessage } from 'node:http'
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
import { hashSecret } from '../../secrets/minting.ts'
import type { Cookie } from './cookies.ts'
import { notAccepted } from './not-accepted.ts'
import { perConnection } from './per-connection.ts'
import { readSecret, type SentSecret } from './sent-secrets.ts'

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

/** What a request can be told by whose it is. */
type Sender = Pick<IncomingMessage, 'headers' | 'socket'>

/** A session in a header, and what it is looked up by. */
interface HashedSession extends SentSession {
  hash: string
}

/** What is accepted beside bearer tokens and cookies. */
export interface Acceptance {
  /** A credential as a password. */
  basic?: boolean
  /** The organization, where no header can be sent. */
  org?: string | undefined
  /** A cookie from wherever somebody came, where all there is to do is to look. */
  isVisit?: boolean
}

export type Authenticate = ReturnType<typeof createAuthenticator>

/** Finds out who is calling. No credential gives undefined; one that is not accepted is refused. */
export function createAuthenticator(deps: AuthenticatorDeps) {
  const { database, auth, orgs, keyUsage, agentUsage, clock } = deps
  const ownerKeyHash = deps.ownerKey && hashSecret(deps.ownerKey)
  const hashed = (sent: SentSession | undefined): HashedSession | undefined =>
    sent && { ...sent, hash: hashSecret(sent.token) }
  const secretIn = perConnection((header) => readSecret(header, { basic: false }))
  const secretOrPasswordIn = perConnection((header) => readSecret(header, { basic: true }))
  const sessionInBearer = perConnection((token) => hashed(auth.tokens.inBearer(token)))
  const sessionInCookies = perConnection((cookie) => hashed(auth.tokens.inCookies(cookie)))

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
    sent: HashedSession | undefined,
    header: Record<string, string>,
    slug: string | undefined,
  ): Promise<Caller | undefined> {
    if (!sent) return undefined
    const found = await findSession(database.db, sent.hash, slug)
    if (!found) return undefined
    if (auth.tokens.lasts(sent, found.expiresAt - clock())) {
      if (found.caller) return found.caller
      // They may have deleted their own.
      const org = await orgs.home(found.userId, slug)
      if (org) return callerOfSession(found, org)
    }
    return bySessionFromHeaders(new Headers(header), slug)
  }

  function bySecret({ hash, kind }: SentSecret): Promise<Caller | Ended | undefined> {
    switch (hash === ownerKeyHash ? 'trk' : kind) {
      case 'trk':
        return callerOfKey(database.db, hash, clock())
      case 'trt':
        return callerOfToken(database.db, hash, clock())
      case 'tra':
        return callerOfAgent(database.db, hash, clock())
      default:
        return Promise.resolve(undefined)
    }
  }

  async function byHeader(
    sent: SentSecret,
    slug: string | undefined,
    socket: Sender['socket'],
  ): Promise<Caller | undefined> {
    const { token } = sent
    const caller = await bySecret(sent)
    if (typeof caller === 'string') throw notAccepted(token, caller)
    if (!caller) {
      return SECRET_PREFIX.test(token)
        ? undefined
        : bySession(sessionInBearer(socket, token), { authorization: `Bearer ${token}` }, slug)
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
    { headers, socket }: Sender,
    { basic = false, org }: Acceptance = {},
  ): Promise<Caller | undefined> => {
    const slug = headers[ORG_HEADER]?.toString() ?? org
    if (headers.authorization !== undefined) {
      const sent = (basic ? secretOrPasswordIn : secretIn)(socket, headers.authorization)
      const caller = sent && (await byHeader(sent, slug, socket))
      if (!caller) throw notAccepted(sent?.token)
      return caller
    }
    const { cookie } = headers
    if (!cookie || !hasSessionCookie(cookie)) return undefined
    const caller = await bySession(sessionInCookies(socket, cookie), { cookie }, slug)
    const before = caller && deps.anonymousCookie.read(cookie)
    if (before) await deps.anonymous.adopt(before, caller)
    return caller
  }
}
