/** How long that is remembered. */
const REMEMBERED_MS = 60_000
/** How far apart processes are started for them meanwhile: a start costs everybody, and so does an end. */
const REST_MS = 250
/** After so many, others go first: what just happens now and then is not to be late because of it. */
const MANY = 4
const MOST = 10_000

/** Organizations whose runs have lately been ended for what they took: an endless loop, too much memory. */
export function createUnruly() {
  const since = new Map<string, { endedAt: number; startedAt: number; count: number }>()

  function find(orgId: string) {
    const known = since.get(orgId)
    if (!known || performance.now() - known.endedAt < REMEMBERED_MS) return known
    since.delete(orgId)
    return undefined
  }

  return {
    ended(orgId: string): void {
      const { startedAt = 0, count = 0 } = find(orgId) ?? {}
      // The last to come is the last to be forgotten.
      since.delete(orgId)
      since.set(orgId, { endedAt: performance.now(), startedAt, count: count + 1 })
      const [oldest] = since.keys()
      if (since.size > MOST && oldest !== undefined) since.delete(oldest)
    },
    started(orgId: string): void {
      const known = find(orgId)
      if (known) known.startedAt = performance.now()
    },
    isBehind: (orgId: string): boolean => (find(orgId)?.count ?? 0) >= MANY,
    /** How long until another process may be started for them. */
    restMs(orgId: string): number {
      const known = find(orgId)
      return known ? Math.max(0, known.startedAt + REST_MS - performance.now()) : 0
    },
  }
}
