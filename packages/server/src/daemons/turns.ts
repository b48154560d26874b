import type { Stopwatch } from '../platform/clock.ts'

interface TurnsDeps {
  /** Organizations that have something due, the one that has for the longest first. */
  listDue(): Promise<string[]>
  stopwatch: Stopwatch
}

/** Takes some of what is due of an organization; fewer when there are no more. */
type Take<Item> = (orgId: string, limit: number) => Promise<Item[]>

/** How long to look takes grows with all that is due: it may have a twentieth of the time. */
const REST = 20

/**
 * Takes what is due of one organization after the other, however much each has. Who has anything is looked up anew each
 * time, as long as that is quick.
 */
export function createTurns({ listDue, stopwatch }: TurnsDeps) {
  /** Whoever comes next is the first. */
  let line: string[] = []
  /** In which turn those were served who are in line, or have just left it. */
  let served = new Map<string, number>()
  let turn = 0
  let lookAgainAt = 0

  async function look(): Promise<void> {
    const begun = stopwatch()
    const due = await listDue()
    served = new Map(due.map((org) => [org, served.get(org) ?? 0]))
    line = due.toSorted((one, other) => (served.get(one) ?? 0) - (served.get(other) ?? 0))
    lookAgainAt = stopwatch() + (stopwatch() - begun) * REST
  }

  return async <Item>(room: number, take: Take<Item>): Promise<Item[]> => {
    const taken: Item[] = []
    if (line.length === 0 || stopwatch() >= lookAgainAt) await look()
    while (taken.length < room) {
      const share = Math.max(1, Math.floor((room - taken.length) / line.length))
      const org = line.shift()
      if (org === undefined) break
      const some = await take(org, share)
      taken.push(...some)
      served.set(org, ++turn)
      if (some.length === share) line.push(org)
    }
    return taken
  }
}
