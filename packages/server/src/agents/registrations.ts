import { setImmediate } from 'node:timers/promises'
import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from '../access/powers.ts'
import type { Author, EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import type { OrgsService } from '../orgs/service.ts'
import { type Clock, isoTime } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Throttles } from '../platform/throttles.ts'
import type { Database, Tx } from '../schema.ts'
import { hashSecret } from '../secrets/minting.ts'
import { type CodeHasher, mintClaimSecret, mintCode } from './codes.ts'
import type { Grants } from './grants.ts'
import { normalAddress, statusOf } from './registration-state.ts'
import * as store from './store.ts'
import * as tokenStore from './token-store.ts'

const REGISTRATION_MS = 24 * 60 * 60 * 1000
/** The registrations of an address are counted over this time. */
const REGISTRATIONS_WINDOW_MS = 24 * 60 * 60 * 1000
/** For so long an old link still tells what became of the agent. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000
/** And a token that has ended is told so. */
const TOKENS_REMEMBERED_MS = 60 * 60 * 1000
const TOKENS_TOGETHER = 1000
const CODE_MS = 10 * 60 * 1000
const POLL_SECONDS = 5

interface RegistrationsDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  grants: Grants
  codes: CodeHasher
  throttles: Throttles
  clock: Clock
  newId: NewId
  baseUrl: string
  limits: { registrationsPerAddress: number }
}

/** Who registers. */
interface From {
  address: string
  /** Undefined for callers no limit by address applies to. */
  limited: string | undefined
  /** What the agent calls itself. */
  name: string | null
}

/** What is wrong with a request of an agent, in the words of the protocol. */
export class AgentRefusal extends Error {
  readonly status: number
  readonly error: string

  constructor(status: number, error: string, message: string) {
    super(message)
    this.status = status
    this.error = error
  }
}

export type RegistrationsService = ReturnType<typeof createRegistrationsService>

/** How an agent comes to an identity, and asks a person to stand for it. */
export function createRegistrationsService(deps: RegistrationsDeps) {
  const { database, events, orgs, grants, codes, throttles, clock, newId, baseUrl, limits } = deps

  async function requireRoom(address: string | undefined): Promise<void> {
    if (address === undefined) return
    await throttles.take(`register address ${address}`, {
      count: limits.registrationsPerAddress,
      windowMs: REGISTRATIONS_WINDOW_MS,
    })
  }

  async function registerIn(tx: Tx, kind: store.AgentKind, email: string | null, from: From) {
    const { address, name } = from
    const expiresAt = clock() + REGISTRATION_MS
    const id = newId('reg')
    const author: Author = { actor: { kind: 'agent', id }, credentialId: null }
    const org = await orgs.createProvisionalIn(tx, { kind: 'agent', expiresAt, address, author })
    const claimToken = mintClaimSecret('clm')
    await store.insertRegistration(tx, {
      id,
      kind,
      org_id: org.id,
      claim_token_hash: hashSecret(claimToken),
      claim_expires_at: expiresAt,
      claim_email: email,
      claim_used_at: null,
      claimed_by: null,
      claimed_at: null,
      revoked_at: null,
      ends_at: null,
      generation: 1,
      refresh_family: null,
      refresh_hash: null,
      refresh_before_hash: null,
      refresh_token_id: null,
      refreshed_at: null,
      agent_name: name,
      polled_at: null,
      poll_seconds: POLL_SECONDS,
      address,
      created_at: clock(),
    })
    await events.append(tx, {
      ...author,
      scope: orgScope(org.id),
      type: 'agent.registered',
      subject: id,
      payload: { kind, ...(name !== null && { name }) },
    })
    return { id, claimToken, expiresAt, name }
  }

  /** A new link and code. The ones before are void. */
  async function mintAttemptIn(tx: Tx, registrationId: string, email: string) {
    const id = newId('cla')
    const token = mintClaimSecret('cvt')
    const code = mintCode()
    const expiresAt = clock() + CODE_MS
    await store.insertAttempt(tx, {
      id,
      registration_id: registrationId,
      token_hash: hashSecret(token),
      code_hmac: codes.hash(id, code),
      claim_email: email,
      wrong_tries: 0,
      expires_at: expiresAt,
      created_at: clock(),
    })
    const returnTo = encodeURIComponent(`/claim?claim_attempt_token=${token}`)
    return {
      id,
      expiresAt,
      ceremony: {
        user_code: code,
        expires_in: CODE_MS / 1000,
        interval: POLL_SECONDS,
        verification_uri: `${baseUrl}/login?return_to=${returnTo}`,
      },
    }
  }

  const claimFields = ({
    id,
    claimToken,
    expiresAt,
    name,
  }: {
    id: string
    claimToken: string
    expiresAt: number
    name: string | null
  }) => ({
    registration_id: id,
    ...(name !== null && { agent_name: name }),
    claim_url: `${baseUrl}/agent/identity/claim`,
    claim_token: claimToken,
    claim_token_expires: isoTime(expiresAt),
    post_claim_scopes: POST_CLAIM_SCOPES,
  })

  return {
    async registerAnonymous(from: From) {
      await requireRoom(from.limited)
      const made = await database.transact((tx) => registerIn(tx, 'anonymous', null, from))
      const assertion = await grants.assert({ id: made.id, kind: 'anonymous', generation: 1 })
      return {
        ...claimFields(made),
        registration_type: 'anonymous',
        identity_assertion: assertion.jwt,
        assertion_expires: isoTime(assertion.expiresAt),
        pre_claim_scopes: PRE_CLAIM_SCOPES,
      }
    },

    async registerServiceAuth(loginHint: string, from: From) {
      await requireRoom(from.limited)
      const email = normalAddress(loginHint)
      return database.transact(async (tx) => {
        const made = await registerIn(tx, 'service_auth', email, from)
        const { ceremony } = await mintAttemptIn(tx, made.id, email)
        return { ...claimFields(made), registration_type: 'service_auth', claim: ceremony }
      })
    },

    async deleteEnded(): Promise<void> {
      const now = clock()
      const deleteSome = () =>
        database.transact((tx) =>
          tokenStore.deleteTokensEnded(tx, now - TOKENS_REMEMBERED_MS, TOKENS_TOGETHER),
        )
      while ((await deleteSome()) === TOKENS_TOGETHER) await setImmediate()
      await database.transact((tx) => store.deleteUnclaimed(tx, now - REMEMBERED_MS))
    },

    /** Starts the claim of an anonymous registration, or mints a new code for either kind. */
    async startClaim(claimToken: string, loginHint: string | undefined) {
      const registration = await store.findByClaimToken(database.db, hashSecret(claimToken))
      if (!registration) throw new AgentRefusal(401, 'invalid_claim_token', 'This claim token is unknown')
      const status = statusOf(registration, undefined, clock())
      if (status === 'claimed')
        throw new AgentRefusal(409, 'claimed_or_in_flight', 'This registration is claimed')
      if (status === 'expired') throw new AgentRefusal(410, 'claim_expired', 'Register again')
      const hint = loginHint === undefined ? registration.claim_email : normalAddress(loginHint)
      if (hint === null) throw new AgentRefusal(400, 'invalid_login_hint', 'Name the account in login_hint')
      if (registration.claim_email !== null && hint !== registration.claim_email)
        throw new AgentRefusal(400, 'invalid_login_hint', 'The account cannot be changed after registration')
      return database.transact(async (tx) => {
        const attempt = await mintAttemptIn(tx, registration.id, hint)
        return {
          registration_id: registration.id,
          claim_attempt_id: attempt.id,
          status: 'initiated',
          expires_at: isoTime(attempt.expiresAt),
          claim_attempt: attempt.ceremony,
        }
      })
    },
  }
}
