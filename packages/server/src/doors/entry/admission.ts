import type { Caller } from '../../access/caller.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Authenticate } from './authenticate.ts'
import { limitedAddress } from './client-address.ts'
import type { RateLimit } from './rate-limit.ts'

export type Admission = ReturnType<typeof createAdmission>

/** Lets callers in: finds out who they are and counts them, by credential or else by address. */
export function createAdmission({
  authenticate,
  rateLimit,
}: {
  authenticate: Authenticate
  rateLimit: RateLimit
}) {
  function countStranger({ address }: Exchange): void {
    const limited = limitedAddress(address)
    if (limited) rateLimit.take(`address:${limited}`)
  }

  return {
    countStranger,

    async admit(exchange: Exchange, options?: { basic: boolean }): Promise<Caller | undefined> {
      let caller: Caller | undefined
      try {
        caller = await authenticate(exchange.request.headers, options)
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
