import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** `trk` API key, `trt` repository token, `tra` and `trr` access and refresh tokens of agents, `trl` a link that lets a person in. */
export type SecretPrefix = 'trk' | 'trt' | 'tra' | 'trr' | 'trl'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 36
const CHECKSUM_LENGTH = 6
const SHAPE = new RegExp(`^(trk|trt|tra|trr|trl)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/** How much of a secret may be shown afterwards. */
const SHOWN_LENGTH = 12

/**
 * A new secret: random, with a checksum by which a scanner or the server tells a real one from garbage. Where secrets
 * follow each other, all of them may have the same beginning.
 */
export function mintSecret(prefix: SecretPrefix, beginning = ''): string {
  let body = `${prefix}_${beginning}`
  for (let i = beginning.length; i < RANDOM_LENGTH; i++) body += ALPHABET.charAt(randomInt(ALPHABET.length))
  return body + checksum(body)
}

/** The kind of a well-formed secret; undefined for anything else, without a look into the database. */
export function secretKind(candidate: string): SecretPrefix | undefined {
  const match = SHAPE.exec(candidate)
  if (!match) return undefined
  const body = candidate.slice(0, -CHECKSUM_LENGTH)
  return candidate.endsWith(checksum(body)) ? (match[1] as SecretPrefix) : undefined
}

/** What is stored instead of the secret. It has 214 random bits, so a fast hash is enough. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'base64url')

export const shownPrefix = (secret: string): string => secret.slice(0, SHOWN_LENGTH)

function checksum(body: string): string {
  let rest = crc32(body)
  let encoded = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    encoded = ALPHABET.charAt(rest % ALPHABET.length) + encoded
    rest = Math.floor(rest / ALPHABET.length)
  }
  return encoded
}
