import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from '../../platform/metrics.ts'

export type RequestMetrics = ReturnType<typeof createRequestMetrics>

/** How requests go, for Prometheus. */
export function createRequestMetrics(registry: Registry) {
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
  const refused = new Counter({
    name: 'trellis_connections_refused_total',
    help: 'Connections closed at once because there were too many',
    registers: [registry],
  })
  const cut = new Counter({
    name: 'trellis_answers_cut_total',
    help: 'Large answers given up because their clients did not take them and others needed the memory',
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
    began: () => inFlight.inc(),
    ended: (route: string, status: number, ms: number) => {
      inFlight.dec()
      seriesOf(route, status).observe(ms / 1000)
    },
    failed: () => failures.inc(),
    connectionRefused: () => refused.inc(),
    answerCut: () => cut.inc(),
  }
}
