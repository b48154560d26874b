// A bound on running git processes. Waiting callers are served one owner after the other, which is an organization,
// so that one with many waiting does not delay one with few.

/** Too many callers of one owner are already waiting. */
export class PoolFull extends Error {
  override readonly name = 'PoolFull'
  constructor() {
    super('too many git commands are waiting')
  }
}

/** The right to run one process. */
export interface Slot extends Disposable {
  release(): void
}

export interface ProcessPool {
  /** Waits for a free slot. Rejects with PoolFull, or with the signal's reason while waiting. */
  acquire(owner: string, signal?: AbortSignal): Promise<Slot>
  /** How many slots are taken. */
  readonly running: number
  /** How many callers wait. */
  readonly depth: number
}

interface PoolOptions {
  size: number
  /** Slots that one owner may hold at once, so that slow clients of one owner leave room. Default: three quarters. */
  perOwner?: number
  /** Callers of one owner that may wait. */
  maxWaiting?: number
}

interface Waiter {
  grant(): void
}

export function createProcessPool(options: PoolOptions): ProcessPool {
  const { size, perOwner = Math.ceil(size * 0.75), maxWaiting = 256 } = options
  const held = new Map<string, number>()
  // Insertion order is the turn order: a served owner goes to the end.
  const queues = new Map<string, Set<Waiter>>()
  let running = 0
  let depth = 0

  const mayRun = (owner: string) => running < size && (held.get(owner) ?? 0) < perOwner

  function take(owner: string): Slot {
    running++
    held.set(owner, (held.get(owner) ?? 0) + 1)
    let released = false
    const release = () => {
      if (released) return
      released = true
      running--
      const left = (held.get(owner) ?? 1) - 1
      if (left === 0) held.delete(owner)
      else held.set(owner, left)
      serve()
    }
    return { release, [Symbol.dispose]: release }
  }

  function leave(owner: string, queue: Set<Waiter>, waiter: Waiter) {
    if (!queue.delete(waiter)) return
    depth--
    if (queue.size === 0) queues.delete(owner)
  }

  function serve() {
    for (const [owner, queue] of queues) {
      if (running >= size) return
      const [waiter] = queue
      if (!waiter || !mayRun(owner)) continue
      leave(owner, queue, waiter)
      if (queue.size > 0) {
        queues.delete(owner)
        queues.set(owner, queue)
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
    async acquire(owner, signal) {
      signal?.throwIfAborted()
      const queue = queues.get(owner) ?? new Set<Waiter>()
      if (queue.size === 0 && mayRun(owner)) return take(owner)
      if (queue.size >= maxWaiting) throw new PoolFull()
      return new Promise<Slot>((resolve, reject) => {
        const waiter: Waiter = {
          grant() {
            signal?.removeEventListener('abort', giveUp)
            resolve(take(owner))
          },
        }
        const giveUp = () => {
          leave(owner, queue, waiter)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', giveUp, { once: true })
        queue.add(waiter)
        queues.set(owner, queue)
        depth++
      })
    },
  }
}
