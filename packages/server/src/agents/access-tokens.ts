import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from '../access/powers.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Tx } from '../schema.ts'
import { hashSecret, mintSecret } from '../secrets/minting.ts'
import type { RegistrationRow } from './store.ts'
import * as tokenStore from './token-store.ts'

const TOKEN_SECONDS = 3600

export type AccessTokens = ReturnType<typeof createAccessTokens>

/** What an agent acts with, an hour each. */
export function createAccessTokens({ clock, newId }: { clock: Clock; newId: NewId }) {
  return {
    /** The id of the token, and what the agent is answered. */
    async mintIn(tx: Tx, registration: RegistrationRow) {
      const secret = mintSecret('tra')
      const id = newId('tok')
      await tokenStore.insertToken(tx, {
        id,
        registration_id: registration.id,
        secret_hash: hashSecret(secret),
        generation: registration.generation,
        created_at: clock(),
        expires_at: clock() + TOKEN_SECONDS * 1000,
        revoked_at: null,
        used_at: null,
      })
      const scopes = registration.claimed_at === null ? PRE_CLAIM_SCOPES : POST_CLAIM_SCOPES
      const answer = {
        access_token: secret,
        token_type: 'Bearer',
        expires_in: TOKEN_SECONDS,
        scope: scopes.join(' '),
      }
      return { id, answer }
    },
  }
}
