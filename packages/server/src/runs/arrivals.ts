/** Workflows that sleep and for which an event has arrived. */
export interface Arrivals {
  /** What this one waits for is there. Said when that is written. */
  tell(runId: string): void
  /** All of which that was said since. */
  take(): string[]
}

/** Whoever is not told of is found by looking. */
const MOST = 10_000

export function createArrivals(ring: () => void): Arrivals {
  const runs = new Set<string>()
  return {
    tell(runId) {
      if (runs.size < MOST) runs.add(runId)
      ring()
    },
    take() {
      const told = [...runs]
      runs.clear()
      return told
    },
  }
}
