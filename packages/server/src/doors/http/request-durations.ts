const NAME = 'trellis_http_request_duration_seconds'
const HELP = 'How long requests took, by what they were for and how they ended'
const BOUNDS_S = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

/** Requests for the same that ended the same way. */
interface Series {
  labels: string
  /** How many took no longer than each bound, and longer than the one before it. */
  within: number[]
  count: number
  seconds: number
}

/**
 * A histogram of how long requests took, as Prometheus reads it. The library's own looks at the labels and hashes them
 * again at every request, which was a thirtieth of what a small one costs.
 */
export function createRequestDurations() {
  const series = new Map<string, Map<number, Series>>()

  function seriesOf(route: string, status: number): Series {
    const byStatus = series.get(route) ?? new Map<number, Series>()
    series.set(route, byStatus)
    const fresh = {
      labels: `route="${route}",status="${status}"`,
      within: BOUNDS_S.map(() => 0),
      count: 0,
      seconds: 0,
    }
    byStatus.set(status, fresh)
    return fresh
  }

  return {
    add(route: string, status: number, seconds: number): void {
      const found = series.get(route)?.get(status) ?? seriesOf(route, status)
      const bound = BOUNDS_S.findIndex((most) => seconds <= most)
      if (bound >= 0) found.within[bound] = (found.within[bound] ?? 0) + 1
      found.count++
      found.seconds += seconds
    },

    text: (): string =>
      [
        `# HELP ${NAME} ${HELP}`,
        `# TYPE ${NAME} histogram`,
        ...[...series.values()].flatMap((byStatus) => [...byStatus.values()].flatMap(linesOf)),
      ].join('\n'),
  }
}

function linesOf({ labels, within, count, seconds }: Series): string[] {
  let total = 0
  const buckets = within.map((number, i) => {
    total += number
    return `${NAME}_bucket{le="${BOUNDS_S[i]}",${labels}} ${total}`
  })
  return [
    ...buckets,
    `${NAME}_bucket{le="+Inf",${labels}} ${count}`,
    `${NAME}_sum{${labels}} ${seconds}`,
    `${NAME}_count{${labels}} ${count}`,
  ]
}
