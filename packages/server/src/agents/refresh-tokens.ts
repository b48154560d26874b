import { createHmac } from 'node:crypto'
import { type Author, bySystem } from '../events/service.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../schema.ts'
import { hashSecret, mintSecret, secretKind } from '../secrets/minting.ts'
import type { ServerKey } from '../secrets/server-key.ts'
import type { AccessTokens } from './access-tokens.ts'
import { IDLE_MS } from './registration-state.ts'
import type { Retiring } from './retiring.ts'
import type { RegistrationRow } from './store.ts'
import * as tokenStore from './token-store.ts'

/** Whoever comes with a used token sooner has not waited for an answer that got lost. */
const LOST_AFTER_MS = 10_000

/** All refresh tokens of an agent begin alike, so that any of them is known again, and only the newest is kept. */
const FAMILY_LENGTH = 18
const familyOf = (secret: string): string => secret.slice(0, 'trr_'.length + FAMILY_LENGTH)

interface RefreshTokensDeps {
  database: Database
  serverKey: ServerKey
  accessTokens: AccessTokens
  retiring: Retiring
  orgs: OrgsService
  clock: Clock
}

export type RefreshTokens = ReturnType<typeof createRefreshTokens>

/**
 * How a claimed agent goes on until it is revoked. Each refresh token gives the next one and counts once. One that was used
 * and comes again is in two hands, so the agent ends; but for one whose answer nobody has seen: as long as nothing it
 * gave was used, it may be asked again, and what it gave before is void.
 */
export function createRefreshTokens(deps: RefreshTokensDeps) {
  const { database, serverKey, accessTokens, retiring, orgs, clock } = deps
  const key = serverKey.derive('refresh tokens')

  /** Known to whoever has seen a token of this agent, and to nobody else. */
  function beginningFor(registrationId: string): string {
    const digits = createHmac('sha256', key).update(registrationId).digest('hex')
    return digits.slice(0, FAMILY_LENGTH)
  }

  /** A new pair. `before` is the refresh token it was got with; without one it was the claim token. */
  async function giveIn(tx: Tx, registration: RegistrationRow, before: string | undefined) {
    const { id, answer } = await accessTokens.mintIn(tx, registration)
    const secret = mintSecret('trr', beginningFor(registration.id))
    const now = clock()
    await tokenStore.setRefresh(tx, registration.id, {
      refresh_family: hashSecret(familyOf(secret)),
      refresh_hash: hashSecret(secret),
      refresh_before_hash: before === undefined ? null : hashSecret(before),
      refresh_token_id: id,
      refreshed_at: now,
      ends_at: now + IDLE_MS,
      claim_used_at: registration.claim_used_at ?? now,
    })
    return { ...answer, refresh_token: secret, refresh_token_expires_in: IDLE_MS / 1000 }
  }

  /** Takes back what an answer held that seems to have got lost. False when somebody has seen it. */
  async function takeBackIn(tx: Tx, { refresh_token_id, refreshed_at }: RegistrationRow): Promise<boolean> {
    const now = clock()
    if (refresh_token_id === null || refreshed_at === null || now - refreshed_at < LOST_AFTER_MS) return false
    if (!(await tokenStore.isUntouched(tx, refresh_token_id))) return false
    await tokenStore.revokeToken(tx, { id: refresh_token_id }, now)
    return true
  }

  const isOver = ({ revoked_at, ends_at }: RegistrationRow) =>
    revoked_at !== null || (ends_at !== null && ends_at <= clock())

  async function lockIn(tx: Tx, secret: string): Promise<RegistrationRow | undefined> {
    const registration = await tokenStore.lockByFamily(tx, hashSecret(familyOf(secret)))
    return registration && !isOver(registration) ? registration : undefined
  }

  return {
    /** The first pair, for the claim token. Undefined when that has been used. */
    beginIn: async (tx: Tx, registrationId: string) => {
      const registration = await tokenStore.lockRegistration(tx, registrationId)
      if (!registration || isOver(registration)) return undefined
      const isFirst = registration.claim_used_at === null
      const isLost = () => registration.refresh_before_hash === null && takeBackIn(tx, registration)
      return isFirst || (await isLost()) ? giveIn(tx, registration, undefined) : undefined
    },

    /** The next pair. Undefined when the token is not, or no longer, good; `ended` when it has just ended the agent. */
    async refresh(secret: string) {
      if (secretKind(secret) !== 'trr') return undefined
      return database.transact(async (tx) => {
        const registration = await lockIn(tx, secret)
        if (!registration) return undefined
        const hash = hashSecret(secret)
        if (!(await orgs.find(tx, registration.org_id))) {
          await retiring.endIn(tx, bySystem, registration.id, 'organization_deleted')
          return undefined
        }
        if (hash === registration.refresh_hash) return giveIn(tx, registration, secret)
        if (hash === registration.refresh_before_hash && (await takeBackIn(tx, registration)))
          return giveIn(tx, registration, secret)
        await retiring.endIn(tx, bySystem, registration.id, 'refresh_token_reused')
        return 'ended' as const
      })
    },

    /** An agent that gives its refresh token back has no way on, so it ends. */
    async giveBack(secret: string): Promise<void> {
      if (secretKind(secret) !== 'trr') return
      await database.transact(async (tx) => {
        const registration = await lockIn(tx, secret)
        if (!registration) return
        const author: Author = { actor: { kind: 'agent', id: registration.id }, credentialId: null }
        await retiring.endIn(tx, author, registration.id, 'given_back')
      })
    },
  }
}
