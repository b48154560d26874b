import type { IncomingHttpHeaders } from 'node:http'
import type { Stopwatch } from '../../platform/clock.ts'
import type { Exchange } from '../http/exchange.ts'
import { addressKey, limitedAddress } from './client-address.ts'
import { createRateLimit } from './rate-limit.ts'

/** How often somebody at one address may try a password for one account, and for all accounts together. */
const PER_ACCOUNT = { perSecond: 1 / 30, burst: 10 }
const PER_ADDRESS = { perSecond: 1 / 10, burst: 20 }

export type PasswordLimit = ReturnType<typeof createPasswordLimit>

/**
 * Counts those who sign up, sign in, or give a password or a code otherwise. Callers on this machine are counted too where a proxy
 * stands in front: then they may be anybody.
 */
export function createPasswordLimit({
  stopwatch,
  hasProxies,
}: {
  stopwatch: Stopwatch
  hasProxies: boolean
}) {
  const perAccount = createRateLimit(PER_ACCOUNT, stopwatch)
  const perAddress = createRateLimit(PER_ADDRESS, stopwatch)
  return {
    take({ request: { headers }, address }: Exchange, account: string): void {
      const wasForwarded = ['x-forwarded-for', 'forwarded', 'via'].some((name) => headers[name] !== undefined)
      const key = hasProxies || wasForwarded ? addressKey(address) : limitedAddress(address)
      if (!key) return
      perAccount.take(`${key} ${account.toLowerCase().slice(0, 254)}`)
      perAddress.take(key)
    },
  }
}

/** Stands for the account where none is named: the sign-in that waits for its code, or else the session. */
export function attemptIn({ cookie = '', authorization = '' }: IncomingHttpHeaders): string {
  const [attempt, session] = ['two_factor', 'session_token'].map(
    (name) => new RegExp(`trellis\\.${name}=([^;]+)`).exec(cookie)?.[1],
  )
  return attempt ?? session ?? authorization
}
