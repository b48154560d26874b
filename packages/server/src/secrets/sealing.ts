import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { ServerKey } from './server-key.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts what the server must be able to read back, so that a copy of the database alone gives nothing away. */
export interface Sealer {
  seal(plain: string): string
  /** Throws when the text was sealed with another key, or changed since. */
  open(sealed: string): string
}

/** AES-256-GCM with a key of its own for each purpose. */
export function createSealer(serverKey: ServerKey, purpose: string): Sealer {
  const key = Buffer.from(serverKey.derive(`seal ${purpose}`), 'base64url')
  return {
    seal(plain) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return (
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      )
    },
  }
}
