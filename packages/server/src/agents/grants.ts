import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from '../access/powers.ts'
import { type Clock, isoTime } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Tx } from '../schema.ts'
import { hashSecret, mintSecret } from '../secrets/minting.ts'
import { isCodeLive, statusOf } from './registration-state.ts'
import type { SigningKeys } from './signing-keys.ts'
import * as store from './store.ts'

const ASSERTION_SECONDS = 3600
const TOKEN_SECONDS = 3600
const ASSERTION_TYPE = 'oauth-id-jag+jwt'

/** Why the token endpoint gives nothing, by the codes of OAuth. */
export class GrantRefused extends Error {
  readonly error: string

  constructor(error: string, description: string) {
    super(description)
    this.error = error
  }
}

interface GrantsDeps {
  database: Database
  signingKeys: SigningKeys
  clock: Clock
  newId: NewId
  issuer: string
  /** The person who claimed a registration, for its assertions. */
  personOf(userId: string): Promise<{ email: string; emailVerified: boolean }>
}

interface Identity {
  id: string
  kind: store.AgentKind
  generation: number
  claimedBy?: string | null
}

export type Grants = ReturnType<typeof createGrants>

/** Access tokens for agents, and the assertions they trade for them. */
export function createGrants({ database, signingKeys, clock, newId, issuer, personOf }: GrantsDeps) {
  async function assert({ id, kind, generation, claimedBy }: Identity) {
    const person = claimedBy ? await personOf(claimedBy) : undefined
    const claims = person && { email: person.email, email_verified: person.emailVerified }
    const jwt = await signingKeys.sign(
      { sub: id, client_id: id, registration_type: kind, generation, ...claims },
      { type: ASSERTION_TYPE, issuer, ttlSeconds: ASSERTION_SECONDS },
    )
    return { jwt, expiresAt: clock() + ASSERTION_SECONDS * 1000 }
  }

  async function mintTokenIn(tx: Tx, registration: store.RegistrationRow) {
    const secret = mintSecret('tra')
    await store.insertToken(tx, {
      id: newId('tok'),
      registration_id: registration.id,
      secret_hash: hashSecret(secret),
      generation: registration.generation,
      created_at: clock(),
      expires_at: clock() + TOKEN_SECONDS * 1000,
      revoked_at: null,
    })
    const scopes = registration.claimed_at === null ? PRE_CLAIM_SCOPES : POST_CLAIM_SCOPES
    return { access_token: secret, token_type: 'Bearer', expires_in: TOKEN_SECONDS, scope: scopes.join(' ') }
  }

  return {
    assert,

    /** What an agent asks again and again while its person is at the claim page. */
    async pollClaim(claimToken: string) {
      const registration = await store.findByClaimToken(database.db, hashSecret(claimToken))
      const now = clock()
      if (!registration) throw new GrantRefused('expired_token', 'This claim token is unknown or has expired')
      const attempt = await store.findCurrentAttempt(database.db, registration.id)
      const status = statusOf(registration, attempt, now)
      if (status === 'expired')
        throw new GrantRefused('expired_token', 'The registration has ended: register again')
      if (status === 'claimed') {
        const token = await database.transact(async (tx) => {
          if (!(await store.useClaim(tx, registration.id, now)))
            throw new GrantRefused('invalid_grant', 'This claim token has been used: exchange the assertion')
          return mintTokenIn(tx, registration)
        })
        const assertion = await assert({ ...registration, claimedBy: registration.claimed_by })
        return {
          ...token,
          identity_assertion: assertion.jwt,
          assertion_expires: isoTime(assertion.expiresAt),
        }
      }
      if (attempt && !isCodeLive(attempt, now))
        throw new GrantRefused(
          'expired_token',
          'The code has expired: ask for a new one at the claim endpoint',
        )
      const early = await database.transact((tx) => store.notePoll(tx, registration, now))
      throw early
        ? new GrantRefused('slow_down', 'Wait five seconds longer between polls from now on')
        : new GrantRefused('authorization_pending', 'The claim has not been completed yet')
    },

    /** Trades an assertion for an access token, as often as needed while it lasts. */
    async exchange(jwt: string) {
      const claims = await signingKeys.verify(jwt, { type: ASSERTION_TYPE, issuer })
      const registration = claims?.sub ? await store.findRegistration(database.db, claims.sub) : undefined
      const refused = new GrantRefused('invalid_grant', 'This assertion is not, or no longer, good')
      if (!registration || claims?.generation !== registration.generation) throw refused
      const status = statusOf(registration, undefined, clock())
      const isUnclaimedServiceAuth = registration.kind === 'service_auth' && status !== 'claimed'
      if (status === 'expired' || isUnclaimedServiceAuth) throw refused
      return database.transact((tx) => mintTokenIn(tx, registration))
    },

    /** Ends one access token. What is unknown is as good as ended. */
    async revokeToken(secret: string): Promise<void> {
      await database.transact((tx) => store.revokeToken(tx, hashSecret(secret), clock()))
    },
  }
}
