import { timingSafeEqual } from 'node:crypto'
import { isLoopback } from '../../platform/addresses.ts'
import { Fault } from '../../platform/fault.ts'
import type { Registry } from '../../platform/metrics.ts'
import { type Exchange, send } from '../http/exchange.ts'

/** Metrics tell a lot about a server: they are for its own machine, or for whoever has the token. */
export function createMetricsPage(registry: Registry, token: string | undefined) {
  return async (exchange: Exchange): Promise<void> => {
    const allowed = token ? hasToken(exchange, token) : isFromHere(exchange)
    if (!allowed) throw new Fault('UNAUTHENTICATED', {})
    send(exchange, 200, registry.contentType, await registry.metrics(), { 'cache-control': 'no-store' })
  }
}

/** A proxy on this machine that nobody told us of passes on what comes from elsewhere. */
const isFromHere = ({ request: { headers }, address }: Exchange): boolean =>
  isLoopback(address) && !PASSED_ON.some((name) => headers[name] !== undefined)

const PASSED_ON = ['x-forwarded-for', 'forwarded', 'via']

function hasToken({ request }: Exchange, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
