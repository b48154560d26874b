import type { Auth } from '../../people/auth.ts'
import { refuseInEnvelope } from '../api/envelope.ts'
import { limitedAddress } from '../entry/client-address.ts'
import { attemptIn, type PasswordLimit } from '../entry/password-limit.ts'
import type { RateLimit } from '../entry/rate-limit.ts'
import { type BodyLimit, readBytes } from '../http/body.ts'
import type { Door, DoorFront } from '../http/door.ts'
import { send } from '../http/exchange.ts'
import { bearerChallenge, notFound, wrongMethod } from '../http/failure.ts'

interface AuthDoorDeps {
  auth: Auth
  baseUrl: string
  rateLimit: RateLimit
  /** Tighter, for what has a password or a code in it. */
  passwordLimit: PasswordLimit
  bodyLimit: BodyLimit
}

const TAKES_PASSWORD =
  /\/(sign-(in|up)\/email|(change|verify|set|reset)-password|change-address|delete-user|two-factor\/[a-z-]+)$/

/** Nobody is to have letters sent to others by the hundred. */
const SENDS_MAIL = /\/(request-password-reset|send-verification-email)$/

/** What stands for another path would be limited as one and served as the other. */
const PLAIN_PATH = /^(\/(?!\.{1,2}(\/|$))[\w.~:-]+)+$/

export const createAuthFront = (baseUrl: string): DoorFront => ({
  serves: (path) => path.startsWith('/api/auth/'),
  refuse: (exchange, error) => refuseInEnvelope(exchange, error, { baseUrl }),
})

/** The door to better-auth's own routes, behind our limits. Its answers are its own, not the error envelope. */
export function createAuthDoor(deps: AuthDoorDeps): Door['handle'] {
  const { auth, baseUrl, rateLimit, passwordLimit, bodyLimit } = deps
  return async (exchange) => {
    const { request, path, query, address } = exchange
    exchange.route = '/api/auth'
    if (!PLAIN_PATH.test(path)) throw notFound()
    if (request.method !== 'GET' && request.method !== 'POST') throw wrongMethod('GET, POST')
    const key = limitedAddress(address)
    if (key) rateLimit.take(`address:${key}`)
    const body = await readBytes(request, bodyLimit)
    if (TAKES_PASSWORD.test(path) || SENDS_MAIL.test(path))
      passwordLimit.take(exchange, accountIn(body) ?? attemptIn(request.headers))

    const headers = new Headers()
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === 'string' && !name.startsWith(':')) headers.set(name, value)
    // Browsers tell the site with the mode. The mode alone is what fetch in a script sends, which has no origin to show.
    if (!headers.has('sec-fetch-site')) headers.delete('sec-fetch-mode')
    const answer = await auth.handler(
      new Request(new URL(path + query, baseUrl), {
        method: request.method,
        headers,
        ...(request.method === 'POST' && { body: new Uint8Array(body) }),
      }),
      address,
    )
    const type = answer.headers.get('content-type') ?? 'application/json'
    const passed = Object.fromEntries(
      ['location', 'set-auth-token', 'allow'].flatMap((name) => {
        const value = answer.headers.get(name)
        return value === null ? [] : [[name, name === 'set-auth-token' ? unsigned(value) : value]]
      }),
    )
    send(exchange, answer.status, type, Buffer.from(await answer.arrayBuffer()), {
      ...passed,
      'set-cookie': answer.headers.getSetCookie(),
      ...(answer.status === 401 && { 'www-authenticate': bearerChallenge(baseUrl) }),
      'cache-control': 'no-store',
    })
  }
}

/** The token of a session without what makes it a cookie: that is of characters that no address can hold. */
const unsigned = (token: string): string => token.slice(0, Math.max(0, token.lastIndexOf('.'))) || token

function accountIn(body: Buffer): string | undefined {
  try {
    const { email } = JSON.parse(body.toString())
    return email === undefined ? undefined : String(email)
  } catch {
    return undefined
  }
}
