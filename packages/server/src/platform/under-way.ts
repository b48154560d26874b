import { type Bagged, createBag } from './bag.ts'

/** Something that goes on now: a request, a piece of background work. */
interface Activity extends Bagged {
  /** What it is for; a request may find out only later. */
  readonly what: { readonly route: string }
  readonly since: number
}

export type UnderWay = ReturnType<typeof createUnderWay>

/**
 * Knows what is under way, and what took `longMs` and ended after `forget` was last called. It costs every request a
 * place in a list, and nothing more.
 */
export function createUnderWay(longMs: number) {
  const active = createBag<Activity>()
  let endedLately: Activity[] = []

  return {
    begin(what: Activity['what']): Activity {
      const activity = { what, since: performance.now(), place: 0 }
      active.add(activity)
      return activity
    },

    /** Gives how long it took. */
    end(activity: Activity): number {
      active.remove(activity)
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
