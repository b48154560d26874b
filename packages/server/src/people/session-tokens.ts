import { hash, timingSafeEqual } from 'node:crypto'

/** How long a session lasts, and how long after it was last renewed a use renews it. */
export const SESSION_SECONDS = 7 * 86_400
export const RENEWAL_SECONDS = 86_400

/** What better-auth calls its cookies with, and ours are called so too. */
export const COOKIE_PREFIX = 'trellis'
/** Of HMAC-SHA-256 in base64. */
const SIGNATURE_LENGTH = 44

/** A session as a caller sends it. */
export interface SentSession {
  token: string
  /** It was asked for until the browser closes, so that using it does not make it last longer. */
  passing: boolean
}

/** Reads the tokens of sessions from what better-auth has signed, without going through it. */
export function createSessionTokens({ secret, secure }: { secret: string; secure: boolean }) {
  const sign = createSigner(secret)
  const prefix = `${secure ? '__Secure-' : ''}${COOKIE_PREFIX}.`

  /** What was signed, if it was signed here. */
  function verified(signed: string): string | undefined {
    const end = signed.lastIndexOf('.')
    const signature = Buffer.from(signed.slice(end + 1))
    if (end < 1 || signature.length !== SIGNATURE_LENGTH) return undefined
    const value = signed.slice(0, end)
    return timingSafeEqual(signature, Buffer.from(sign(value))) ? value : undefined
  }

  function signedCookie(header: string, name: string): string | undefined {
    const value = cookieIn(header, prefix + name)
    return value === undefined ? undefined : verified(value)
  }

  return {
    inCookies(header: string): SentSession | undefined {
      const token = signedCookie(header, 'session_token')
      if (token === undefined) return undefined
      return { token, passing: Boolean(signedCookie(header, 'dont_remember')) }
    },

    /** A token by itself, or as it stands in a cookie. */
    inBearer(sent: string): SentSession | undefined {
      const token = sent.includes('.') ? verified(decoded(sent)) : sent
      return token === undefined ? undefined : { token, passing: false }
    },

    /** Whether it is neither over nor to be renewed. */
    lasts: ({ passing }: SentSession, leftMs: number): boolean =>
      leftMs > (passing ? 0 : (SESSION_SECONDS - RENEWAL_SECONDS) * 1000),
  }
}

/** The bytes that SHA-256 takes at a time. */
const BLOCK_BYTES = 64

/** HMAC-SHA-256 in base64. `createHmac` looks for its algorithm each time, which takes longer than all the rest. */
function createSigner(secret: string): (value: string) => string {
  const bytes = Buffer.from(secret)
  const key = Buffer.alloc(BLOCK_BYTES)
  key.set(bytes.length > BLOCK_BYTES ? hash('sha256', bytes, 'buffer') : bytes)
  const [inner, outer] = [0x36, 0x5c].map((pad) => key.map((byte) => byte ^ pad)) as [Buffer, Buffer]
  return (value) => {
    const digest = hash('sha256', Buffer.concat([inner, Buffer.from(value)]), 'base64')
    return hash('sha256', Buffer.concat([outer, Buffer.from(digest, 'base64')]), 'base64')
  }
}

/** The first of that name counts. */
function cookieIn(header: string, name: string): string | undefined {
  for (const part of header.split(';')) {
    const end = part.indexOf('=')
    if (end < 0 || part.slice(0, end).trim() !== name) continue
    const value = part.slice(end + 1).trim()
    return decoded(value.startsWith('"') ? value.slice(1, -1) : value)
  }
  return undefined
}

function decoded(value: string): string {
  if (!value.includes('%')) return value
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
