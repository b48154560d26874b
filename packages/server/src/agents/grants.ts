import { type Clock, isoTime } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import { hashSecret } from '../secrets/minting.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { RefreshTokens } from './refresh-tokens.ts'
import { isCodeLive, statusOf } from './registration-state.ts'
import type { SigningKeys } from './signing-keys.ts'
import * as store from './store.ts'
import * as tokenStore from './token-store.ts'

const ASSERTION_SECONDS = 3600
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
  accessTokens: AccessTokens
  refreshTokens: RefreshTokens
  clock: Clock
  issuer: string
  /** The person who claimed a registration, for its assertions. */
  personOf(userId: string): Promise<{ email: string; emailVerified: boolean }>
}

const claimUsed =
  'This claim token has been used: go on with the refresh token. If its answer never came, ask again after ten seconds'

const reused =
  'This refresh token had been used before, so two may have it: the agent has ended, with every credential it had. Register again, and tell the person who claimed you'

interface Identity {
  id: string
  kind: store.AgentKind
  generation: number
  claimedBy?: string | null
}

export type Grants = ReturnType<typeof createGrants>

/** What agents are given at the token endpoint, and for what. */
export function createGrants(deps: GrantsDeps) {
  const { database, signingKeys, accessTokens, refreshTokens, clock, issuer, personOf } = deps

  async function assert({ id, kind, generation, claimedBy }: Identity) {
    const person = claimedBy ? await personOf(claimedBy) : undefined
    const claims = person && { email: person.email, email_verified: person.emailVerified }
    const jwt = await signingKeys.sign(
      { sub: id, client_id: id, registration_type: kind, generation, ...claims },
      { type: ASSERTION_TYPE, issuer, ttlSeconds: ASSERTION_SECONDS },
    )
    return { jwt, expiresAt: clock() + ASSERTION_SECONDS * 1000 }
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
        const token = await database.transact((tx) => refreshTokens.beginIn(tx, registration.id))
        if (!token) throw new GrantRefused('invalid_grant', claimUsed)
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
      return database.transact(async (tx) => {
        // Whoever has the assertion has the answer it came in.
        if (registration.refresh_token_id)
          await tokenStore.noteUsed(tx, [registration.refresh_token_id], clock())
        return (await accessTokens.mintIn(tx, registration)).answer
      })
    },

    /** Trades a refresh token for an access token and the next refresh token. */
    async refresh(secret: string) {
      const pair = await refreshTokens.refresh(secret)
      if (!pair) throw new GrantRefused('invalid_grant', 'This refresh token is not, or no longer, good')
      if (pair === 'ended') throw new GrantRefused('invalid_grant', reused)
      return pair
    },

    /** Ends one access token, or with its refresh token the agent. What is unknown is as good as ended. */
    async revokeToken(secret: string): Promise<void> {
      await refreshTokens.giveBack(secret)
      await database.transact((tx) => tokenStore.revokeToken(tx, { hash: hashSecret(secret) }, clock()))
    },
  }
}
