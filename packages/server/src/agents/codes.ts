import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import type { ServerKey } from '../secrets/server-key.ts'

/** `clm_` the agent's claim token, `cvt_` the token in the link a person opens. */
type ClaimSecretPrefix = 'clm' | 'cvt'

export const mintClaimSecret = (prefix: ClaimSecretPrefix): string =>
  `${prefix}_${randomBytes(24).toString('base64url')}`

export const mintCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

export type CodeHasher = ReturnType<typeof createCodeHasher>

/** Six digits are soon guessed from a plain hash, so codes are kept as a keyed one, each bound to its attempt. */
export function createCodeHasher(serverKey: ServerKey) {
  const key = serverKey.derive('claim codes')
  const hash = (attemptId: string, code: string) =>
    createHmac('sha256', key).update(`${attemptId} ${code}`).digest('base64url')
  return {
    hash,
    matches: (attemptId: string, code: string, kept: string): boolean =>
      timingSafeEqual(Buffer.from(hash(attemptId, code)), Buffer.from(kept)),
  }
}
