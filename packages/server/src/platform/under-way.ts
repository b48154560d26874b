/** Something that goes on now: a request, a piece of background work. */
interface Activity {
  /** What it is for; a request may find out only later. */
  readonly what: { readonly route: string }
  readonly since: number
}

export type UnderWay = ReturnType<typeof createUnderWay>

/**
 * Knows what is under way, and what took `longMs` and ended after `forget` was last called. It costs every request an
 * entry in a set, and nothing more.
 */
export function createUnderWay(longMs: number) {
  const active = new Set<Activity>()
  let endedLately: Activity[] = []

  return {
    begin(what: Activity['what']): Activity {
      const activity = { what, since: performance.now() }
      active.add(activity)
      return activity
    },

    /** Gives how long it took. */
    end(activity: Activity): number {
      active.delete(activity)
      const ms = performance.now() - activity.since
      if (ms >= longMs) endedLately.push(activity)
      return ms
    },

    /** All that began before, by what it is for: how many. */
    startedBefore(moment: number): Record<string, number> {
      const counts: Record<string, number> = {}
      for (const { what, since } of [...endedLately, ...active])
        if (since <= moment) counts[what.route] = (counts[what.route] ?? 0) + 1
      return counts
    },

    forget(): void {
      if (endedLately.length > 0) endedLately = []
    },
  }
}
