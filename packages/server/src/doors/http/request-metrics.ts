import { Counter } from 'prom-client'
import { observe, type Registry } from '../../platform/metrics.ts'
import { createRequestDurations } from './request-durations.ts'

export type RequestMetrics = ReturnType<typeof createRequestMetrics>

/** How requests go, for Prometheus. */
export function createRequestMetrics(registry: Registry) {
  const durations = createRequestDurations()
  registry.write(durations.text)
  let inFlight = 0
  observe(registry, 'trellis_http_requests_in_flight', 'Requests being answered now', () => inFlight)
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
  return {
    began: () => void inFlight++,
    ended: (route: string, status: number, ms: number) => {
      inFlight--
      durations.add(route, status, ms / 1000)
    },
    failed: () => failures.inc(),
    connectionRefused: () => refused.inc(),
    answerCut: () => cut.inc(),
  }
}
