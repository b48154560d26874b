import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { hashSecret, secretKind } from '../../secrets/minting.ts'

/** What a request can be told by whose it is. */
export type Sender = Pick<IncomingMessage, 'headers' | 'socket'>

/** A credential in a header, and what it is looked up by. */
export interface SentSecret {
  token: string
  hash: string
  kind: ReturnType<typeof secretKind>
}

interface Kept {
  header: string
  basic: boolean
  sent: SentSecret | undefined
}

/**
 * Reads credentials from the Authorization header. A connection mostly sends the same with all its requests; to take it
 * apart and hash it took a twentieth of a small one, so what came of the last is kept with the connection.
 */
export function createSentSecrets() {
  const last = new WeakMap<Socket, Kept>()

  return ({ headers, socket }: Sender, { basic }: { basic: boolean }): SentSecret | undefined => {
    const header = headers.authorization ?? ''
    const kept = last.get(socket)
    if (kept?.header === header && kept.basic === basic) return kept.sent
    const token = bearerIn(header) ?? (basic ? passwordIn(header) : undefined)
    const sent = token === undefined ? undefined : { token, hash: hashSecret(token), kind: secretKind(token) }
    last.set(socket, { header, basic, sent })
    return sent
  }
}

const bearerIn = (header: string): string | undefined => /^bearer\s+(\S+)\s*$/i.exec(header)?.[1]

/** Git sends a credential as the password of any user; without a password, as the user. */
function passwordIn(header: string): string | undefined {
  const encoded = /^basic\s+(\S+)\s*$/i.exec(header)?.[1]
  if (!encoded) return undefined
  const [, user, password] = /^([^:]*):?(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return password || user || undefined
}
