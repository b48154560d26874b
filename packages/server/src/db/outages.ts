export interface Outages {
  began(error: unknown): void
  /** It answers: whatever there was is over. */
  ended(): void
}

export interface OutageListener {
  onOutage?(error: unknown): void
  onOutageOver?(outage: { ms: number }): void
}

/** Tells of each outage once, however many hear of it. */
export function trackOutages({ onOutage, onOutageOver }: OutageListener): Outages {
  let since: number | undefined
  return {
    began(error) {
      if (since !== undefined) return
      since = performance.now()
      onOutage?.(error)
    },
    ended() {
      if (since === undefined) return
      const ms = Math.round(performance.now() - since)
      since = undefined
      onOutageOver?.({ ms })
    },
  }
}
