import type { Caller } from '../../access/caller.ts'
import type { Exchange } from '../http/exchange.ts'
import { Refusal } from '../http/failure.ts'
import { type Acceptance, type Authenticate, hasSessionCookie } from './authenticate.ts'
import { limitedAddress } from './client-address.ts'
import type { Cookie } from './cookies.ts'
import type { RateLimit } from './rate-limit.ts'
import { comesFromHere, isVisit } from './same-origin.ts'

export type Admission = ReturnType<typeof createAdmission>

/** Lets callers in: finds out who they are and counts them, by credential or else by address. */
export function createAdmission({
  authenticate,
  rateLimit,
  anonymousCookie,
  baseUrl,
}: {
  authenticate: Authenticate
  rateLimit: RateLimit
  anonymousCookie: Cookie
  baseUrl: string
}) {
  const { origin } = new URL(baseUrl)

  /** A browser sends cookies along with what a page of another site makes it ask; that is not their owner's wish. */
  function refuseFromElsewhere({ request: { headers } }: Exchange, options: Acceptance | undefined): void {
    if (options?.isVisit && isVisit(headers)) return
    const byCookie = hasSessionCookie(headers.cookie) || anonymousCookie.read(headers.cookie) !== undefined
    if (headers.authorization === undefined && byCookie && !comesFromHere(headers, origin))
      throw new Refusal(
        403,
        'CROSS_SITE_REFUSED',
        'Cookies do not count in requests from pages of another site: send a bearer token',
      )
  }

  function countStranger({ address }: Exchange): void {
    const limited = limitedAddress(address)
    if (limited) rateLimit.take(`address:${limited}`)
  }

  return {
    countStranger,

    /** Who a caller is now that was let in before. It is not another request. */
    again: ({ request }: Exchange, options?: Acceptance): Promise<Caller | undefined> =>
      authenticate(request, options),

    async admit(exchange: Exchange, options?: Acceptance): Promise<Caller | undefined> {
      let caller: Caller | undefined
      try {
        refuseFromElsewhere(exchange, options)
        caller = await authenticate(exchange.request, options)
      } catch (error) {
        countStranger(exchange)
        throw error
      }
      if (!caller) countStranger(exchange)
      else {
        exchange.credentialId = caller.credential.id
        rateLimit.take(caller.credential.id)
      }
      return caller
    },
  }
}
