import { createHmac, randomBytes } from 'node:crypto'
import { shownPrefix } from '../secrets/minting.ts'
import type { Sealer } from '../secrets/sealing.ts'

const PREFIX = 'webhsec_'
const SECRET_BYTES = 32
/** How long a secret signs on beside the one that took its place. */
const OVERLAP_MS = 24 * 60 * 60 * 1000
/** Whoever rotates on and on in one day ends the oldest early: every secret makes the header longer. */
const MAX_SECRETS = 5

/** A secret as it is stored. The current one has no end. */
interface KeptSecret {
  sealed: string
  retiresAt: number | null
}

/** The columns of a webhook that hold its secrets. */
interface SecretColumns {
  secrets: string
  secret_prefix: string
}

interface RotatedSecret {
  secret: string
  previousSecret: string
  previousSecretRetiresAt: number
}

export type Signing = ReturnType<typeof createSigning>

/** The secrets of webhooks, and signatures as Standard Webhooks describes them. */
export function createSigning(sealer: Sealer) {
  const read = ({ secrets }: SecretColumns) => JSON.parse(secrets) as [KeptSecret, ...KeptSecret[]]
  const columns = (secret: string, kept: readonly KeptSecret[]): SecretColumns => ({
    secrets: JSON.stringify(kept),
    secret_prefix: shownPrefix(secret),
  })
  const mint = () => {
    const secret = PREFIX + randomBytes(SECRET_BYTES).toString('base64')
    return { secret, kept: { sealed: sealer.seal(secret), retiresAt: null } }
  }

  return {
    first(): { secret: string; columns: SecretColumns } {
      const { secret, kept } = mint()
      return { secret, columns: columns(secret, [kept]) }
    },

    current: (webhook: SecretColumns): string => sealer.open(read(webhook)[0].sealed),

    rotate(webhook: SecretColumns, now: number): RotatedSecret & { columns: SecretColumns } {
      const [current, ...older] = read(webhook)
      const { secret, kept } = mint()
      const retiresAt = now + OVERLAP_MS
      const signing = [
        kept,
        { ...current, retiresAt },
        ...older.filter((previous) => previous.retiresAt !== null && previous.retiresAt > now),
      ]
      return {
        secret,
        previousSecret: sealer.open(current.sealed),
        previousSecretRetiresAt: retiresAt,
        columns: columns(secret, signing.slice(0, MAX_SECRETS)),
      }
    },

    /** Opened once for many deliveries: the keys that sign from now on, the current one first. */
    signersOf(webhook: SecretColumns): (message: SignedMessage) => Record<string, string> {
      const keys = read(webhook).map(({ sealed, retiresAt }) => ({
        retiresAt: retiresAt ?? Number.POSITIVE_INFINITY,
        key: Buffer.from(sealer.open(sealed).slice(PREFIX.length), 'base64'),
      }))
      return ({ id, now, body }) => {
        const timestamp = String(Math.floor(now / 1000))
        const signatures = keys
          .filter(({ retiresAt }) => retiresAt > now)
          .map(
            ({ key }) =>
              `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
          )
        return {
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signatures.join(' '),
        }
      }
    },
  }
}

interface SignedMessage {
  id: string
  now: number
  body: string
}
