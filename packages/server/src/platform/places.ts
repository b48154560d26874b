// A bound on what runs at once: processes of git, builds, large answers. Waiting callers are served one owner after the
// other, which is an organization, so that one with many waiting does not delay one with few. Those who cost nothing to
// become, organizations of strangers, share a few places among all of them: any number of them leaves the rest to others.

import { availableParallelism } from 'node:os'

/** There was no place, and none came free in time. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace'
  /** When it may be worth coming again. */
  readonly retryAfterMs: number
  constructor(retryAfterMs: number) {
    super('too many are waiting')
    this.retryAfterMs = retryAfterMs
  }
}

/** On whose behalf something runs. */
export interface PlaceOwner {
  id: string
  /** One that nobody stands for yet. */
  isProvisional?: boolean
}

/** The right to run one thing. */
export interface Slot extends Disposable {
  release(): void
  /** It takes another number of places than was thought. More are given at once, whether they are free or not. */
  weigh(weight: number): void
}

export interface Places {
  /**
   * Waits for a free slot. What weighs more takes as many; whoever holds none gets it however much it weighs, or never
   * would. Rejects with NoPlace, or with the signal's reason while waiting.
   */
  acquire(owner: PlaceOwner, signal?: AbortSignal, weight?: number): Promise<Slot>
  /** How many slots are taken. */
  readonly running: number
  /** How many callers wait. */
  readonly depth: number
}

interface PlacesOptions {
  size: number
  /** Slots that one owner may hold at once, so that the others get their part of the machine. */
  perOwner?: number
  /** Slots that only those get who hold none. Default: none. */
  forOthers?: number
  /** Slots that all provisional owners may hold together, and one of them. Default: a quarter, three quarters of that. */
  forProvisional?: number
  perProvisional?: number
  /** Callers of one owner that may wait, and how long each. */
  maxWaiting?: number
  maxWaitMs?: number
}

interface Waiter {
  weight: number
  grant(): void
}

interface Queue {
  owner: PlaceOwner
  waiters: Set<Waiter>
}

const RETRY_AFTER_MS = 5_000

/** What computes all the time: one more than there are processors is all that is of use, and leaves room on them. */
const sharePerOwner = (size: number): number =>
  Math.max(1, Math.min(availableParallelism() + 1, Math.ceil(size * 0.75)))

/** One alone does, however much it takes. */
const fits = (taken: number, weight: number, size: number): boolean => taken === 0 || taken + weight <= size

export function createPlaces(options: PlacesOptions): Places {
  const { size, perOwner = sharePerOwner(size), forOthers = 0 } = options
  const { maxWaiting = 256, maxWaitMs = 30_000 } = options
  const forProvisional = options.forProvisional ?? Math.max(1, Math.floor(size / 4))
  const perProvisional = options.perProvisional ?? Math.ceil(forProvisional * 0.75)
  const held = new Map<string, number>()
  // Insertion order is the turn order: a served owner goes to the end.
  const queues = new Map<string, Queue>()
  let running = 0
  let provisional = 0
  let depth = 0

  function mayRun({ id, isProvisional }: PlaceOwner, weight: number): boolean {
    const own = held.get(id) ?? 0
    if (!fits(running, weight, size - (own > 0 ? forOthers : 0))) return false
    return isProvisional
      ? fits(provisional, weight, forProvisional) && fits(own, weight, perProvisional)
      : fits(own, weight, perOwner)
  }

  function add({ id, isProvisional }: PlaceOwner, weight: number): void {
    running += weight
    if (isProvisional) provisional += weight
    const own = (held.get(id) ?? 0) + weight
    if (own === 0) held.delete(id)
    else held.set(id, own)
  }

  function take(owner: PlaceOwner, weight: number): Slot {
    let taken = weight
    add(owner, taken)
    const weigh = (weight: number) => {
      if (taken === 0) return
      add(owner, weight - taken)
      const isLess = weight < taken
      taken = weight
      if (isLess) serve()
    }
    const release = () => weigh(0)
    return { weigh, release, [Symbol.dispose]: release }
  }

  function leave(queue: Queue, waiter: Waiter) {
    if (!queue.waiters.delete(waiter)) return
    depth--
    if (queue.waiters.size === 0) queues.delete(queue.owner.id)
  }

  function serve() {
    for (const [id, queue] of queues) {
      if (running >= size) return
      const [waiter] = queue.waiters
      if (!waiter || !mayRun(queue.owner, waiter.weight)) continue
      leave(queue, waiter)
      if (queue.waiters.size > 0) {
        queues.delete(id)
        queues.set(id, queue)
      }
      waiter.grant()
    }
  }

  return {
    get running() {
      return running
    },
    get depth() {
      return depth
    },
    async acquire(owner, signal, weight = 1) {
      signal?.throwIfAborted()
      const queue = queues.get(owner.id) ?? { owner, waiters: new Set<Waiter>() }
      if (queue.waiters.size === 0 && mayRun(owner, weight)) return take(owner, weight)
      if (queue.waiters.size >= maxWaiting) throw new NoPlace(RETRY_AFTER_MS)
      return new Promise<Slot>((resolve, reject) => {
        const settle = () => {
          clearTimeout(patience)
          signal?.removeEventListener('abort', giveUp)
        }
        const waiter: Waiter = {
          weight,
          grant() {
            settle()
            resolve(take(owner, weight))
          },
        }
        const quit = (reason: unknown) => {
          settle()
          leave(queue, waiter)
          reject(reason)
        }
        const giveUp = () => quit(signal?.reason)
        const patience = setTimeout(() => quit(new NoPlace(RETRY_AFTER_MS)), maxWaitMs).unref()
        signal?.addEventListener('abort', giveUp, { once: true })
        queue.waiters.add(waiter)
        queues.set(owner.id, queue)
        depth++
      })
    },
  }
}
