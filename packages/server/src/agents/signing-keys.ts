import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database } from '../schema.ts'
import type { Sealer } from '../secrets/sealing.ts'
import * as store from './store.ts'

const ALGORITHM = 'ES256'
/** A key signs for this long; it is published for twice as long, far beyond the life of what it signed. */
const ROTATE_AFTER_MS = 30 * 24 * 60 * 60 * 1000
const SKEW_SECONDS = 60

export type SigningKeys = ReturnType<typeof createSigningKeys>

/** The keys that sign identity assertions: in the database, sealed, so that all processes have the same. */
export function createSigningKeys({
  database,
  sealer,
  clock,
  newId,
}: {
  database: Database
  sealer: Sealer
  clock: Clock
  newId: NewId
}) {
  const published = () => store.listSigningKeys(database.db, clock() - 2 * ROTATE_AFTER_MS)

  async function currentKey(): Promise<store.SigningKeyRow> {
    const [newest] = await published()
    if (newest && newest.created_at > clock() - ROTATE_AFTER_MS) return newest
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    const fresh = {
      id: newId('sig'),
      public_jwk: JSON.stringify(await exportJWK(publicKey)),
      sealed_private_jwk: sealer.seal(JSON.stringify(await exportJWK(privateKey))),
      created_at: clock(),
    }
    return database.transactAlone(async (tx) => {
      // Another process may have made one in the meantime.
      const [other] = await store.listSigningKeys(tx, clock() - ROTATE_AFTER_MS)
      if (other) return other
      await store.insertSigningKey(tx, fresh)
      return fresh
    })
  }

  return {
    async sign(
      claims: JWTPayload,
      { type, issuer, ttlSeconds }: { type: string; issuer: string; ttlSeconds: number },
    ) {
      const key = await currentKey()
      const now = Math.floor(clock() / 1000)
      return new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: type, kid: key.id })
        .setIssuer(issuer)
        .setAudience(issuer)
        .setIssuedAt(now)
        .setExpirationTime(now + ttlSeconds)
        .setJti(newId('sig'))
        .sign(await importJWK(JSON.parse(sealer.open(key.sealed_private_jwk)), ALGORITHM))
    },

    /** The claims of something we signed and that is still good; undefined for anything else. */
    async verify(
      jwt: string,
      { type, issuer }: { type: string; issuer: string },
    ): Promise<JWTPayload | undefined> {
      const keys = await published()
      const find = async ({ kid }: { kid?: string }) => {
        const key = keys.find(({ id }) => id === kid)
        if (!key) throw new Error('unknown key')
        return importJWK(JSON.parse(key.public_jwk), ALGORITHM)
      }
      try {
        const { payload } = await jwtVerify(jwt, find, {
          issuer,
          audience: issuer,
          typ: type,
          algorithms: [ALGORITHM],
          clockTolerance: SKEW_SECONDS,
          currentDate: new Date(clock()),
        })
        return payload
      } catch {
        return undefined
      }
    },

    /** The public halves, for whoever wants to check an assertion themselves. */
    async jwks(): Promise<{ keys: JWK[] }> {
      await currentKey()
      const keys = await published()
      return {
        keys: keys.map(({ id, public_jwk }) => ({
          ...JSON.parse(public_jwk),
          kid: id,
          alg: ALGORITHM,
          use: 'sig',
        })),
      }
    },
  }
}
