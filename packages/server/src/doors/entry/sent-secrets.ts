import { hashSecret, secretKind } from '../../secrets/minting.ts'

/** A credential in a header, and what it is looked up by. */
export interface SentSecret {
  token: string
  hash: string
  kind: ReturnType<typeof secretKind>
}

/** Reads a credential from the Authorization header; where `basic` is allowed, also from a password. */
export function readSecret(header: string, { basic }: { basic: boolean }): SentSecret | undefined {
  const token = bearerIn(header) ?? (basic ? passwordIn(header) : undefined)
  return token === undefined ? undefined : { token, hash: hashSecret(token), kind: secretKind(token) }
}

const bearerIn = (header: string): string | undefined => /^bearer\s+(\S+)\s*$/i.exec(header)?.[1]

/** Git sends a credential as the password of any user; without a password, as the user. */
function passwordIn(header: string): string | undefined {
  const encoded = /^basic\s+(\S+)\s*$/i.exec(header)?.[1]
  if (!encoded) return undefined
  const [, user, password] = /^([^:]*):?(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return password || user || undefined
}
