import { timingSafeEqual } from 'node:crypto'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { Fault } from '../../platform/fault.ts'
import { isLoopback } from '../entry/address.ts'
import { type Exchange, send } from './exchange.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** What Prometheus reads, in a registry of its own for every server. */
export function createMetrics({ defaults = true } = {}) {
  const registry = new Registry()
  if (defaults) collectDefaultMetrics({ register: registry, prefix: 'trellis_' })
  const durations = new Histogram({
    name: 'trellis_http_request_duration_seconds',
    help: 'How long requests took, by what they were for and how they ended',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
    registers: [registry],
  })
  const inFlight = new Gauge({
    name: 'trellis_http_requests_in_flight',
    help: 'Requests being answered now',
    registers: [registry],
  })
  const failures = new Counter({
    name: 'trellis_unexpected_errors_total',
    help: 'Requests that ended in an error nobody foresaw',
    registers: [registry],
  })
  // The library finds a series by its labels anew each time; every request is too often for that.
  const series = new Map<string, Histogram.Internal<'route' | 'status'>>()

  function seriesOf(route: string, status: number) {
    const key = `${status} ${route}`
    let found = series.get(key)
    if (!found) {
      found = durations.labels(route, String(status))
      series.set(key, found)
    }
    return found
  }

  return {
    registry,
    began: () => inFlight.inc(),
    ended: (route: string, status: number, ms: number) => {
      inFlight.dec()
      seriesOf(route, status).observe(ms / 1000)
    },
    failed: () => failures.inc(),
  }
}

/** Metrics tell a lot about a server: they are for its own machine, or for whoever has the token. */
export function createMetricsDoor({ registry }: Metrics, token: string | undefined) {
  return async (exchange: Exchange): Promise<void> => {
    const allowed = token ? hasToken(exchange, token) : isLoopback(exchange.address)
    if (!allowed) throw new Fault('UNAUTHENTICATED', {})
    send(exchange, 200, registry.contentType, await registry.metrics(), { 'cache-control': 'no-store' })
  }
}

function hasToken({ request }: Exchange, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
