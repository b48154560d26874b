import type { Runtime } from '@trellis/contract'
import type { Config } from '../platform/config.ts'

/**
 * Where runs wait, and what bounds them once they run. Sandboxes are few and are held for minutes, so what waits for one
 * waits apart: the others are never held up by it.
 */
export type Lane = 'sandbox' | 'worker'

/** In the order in which the queues of an organization are locked. */
export const LANES: readonly Lane[] = ['sandbox', 'worker']

export const laneOf = (runtime: Runtime): Lane => (runtime === 'sandbox' ? 'sandbox' : 'worker')

/** Those whose runs nothing here can run. They are left to other processes. */
export const lanesWithout = (runtimes: ReadonlySet<Runtime>): ReadonlySet<Lane> =>
  new Set(LANES.filter((lane) => !runtimes.has(lane)))

/** How the places of a lane are shared out in one process. */
export interface LaneRules {
  places: number
  /** Of one organization, in all processes. */
  perOrg: number
  /** Places that only an organization gets that holds none yet. */
  forFirst: number
  /** Of those, the ones that only an organization gets that has used little lately. */
  forLight: number
  /** Places that organizations may have together that cost nothing to make. */
  forProvisional: number
}

export type Lanes = Readonly<Record<Lane, LaneRules>>

export const lanesOf = ({ runs, sandbox }: Pick<Config, 'runs' | 'sandbox'>): Lanes => ({
  // Whoever runs nothing runs nothing in the sandbox either.
  sandbox: rulesOf(runs.concurrency === 0 ? 0 : sandbox.concurrency, sandbox.perOrg, 1 / 2),
  worker: rulesOf(runs.concurrency, runs.perOrg, 1 / 4),
})

const rulesOf = (places: number, perOrg: number, first: number): LaneRules => ({
  places,
  perOrg,
  forFirst: Math.floor(places * first),
  forLight: Math.floor((places * first) / 2),
  forProvisional: Math.max(1, Math.floor(places / 4)),
})

// Whose turn it is: the one with the least. It is a time, at most an hour back, to which is added what an organization
// has used: so whoever has used less goes first, and what was used is forgotten within the hour.

const WINDOW_MS = 60 * 60_000
/** Holding one place all the time must not be forgotten as fast as it is done. */
const WEIGHT = 8

/** Where the turn of an organization that is served counts from. */
export const turnFrom = (turn: number, now: number): number => Math.min(now, Math.max(turn, now - WINDOW_MS))

/** What a place costs that was held for so long. */
export const costOf = (heldMs: number): number => Math.max(1, heldMs) * WEIGHT

const isLight = (turn: number, now: number): boolean => turn <= now - WINDOW_MS / 2

/** An organization with runs that wait. */
interface Waiting {
  provisional: number
  ready: number
  running: number
  turn_at: number
}

/** Free places, and how many of them are left for those that cost nothing to make. */
export interface Room {
  places: number
  provisional: number
}

/**
 * How many runs each may begin now: everybody one before anybody gets another, in the order they come in, which is that
 * of their turns. The last places are not for everybody.
 */
export function allot(
  waiting: readonly Waiting[],
  { perOrg, forFirst, forLight }: LaneRules,
  { room, now }: { room: Room; now: number },
): number[] {
  const given = waiting.map(() => 0)
  const left = { ...room }
  const holds = (i: number) => (waiting[i]?.running ?? 0) + (given[i] ?? 0)

  function keptFrom(queue: Waiting, held: number): number {
    if (held > 0) return forFirst
    return queue.provisional === 0 && isLight(queue.turn_at, now) ? 0 : forLight
  }

  const mayHaveOne = (queue: Waiting, i: number): boolean =>
    (given[i] ?? 0) < queue.ready &&
    holds(i) < perOrg &&
    left.places > keptFrom(queue, holds(i)) &&
    (queue.provisional === 0 || left.provisional > 0)

  for (;;) {
    const [next] = waiting
      .flatMap((queue, i) => (mayHaveOne(queue, i) ? { queue, i } : []))
      .toSorted((one, other) => holds(one.i) - holds(other.i))
    if (!next) return given
    given[next.i] = (given[next.i] ?? 0) + 1
    left.places--
    left.provisional -= next.queue.provisional
  }
}
