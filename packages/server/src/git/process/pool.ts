// A bound on running git processes. Waiting callers are served one key (organization) after the other,
// so that a key with many waiting does not delay a key with one.

/** Too many callers of one key are already waiting. */
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
  acquire(key: string, signal?: AbortSignal): Promise<Slot>
  /** How many slots are taken. */
  readonly running: number
  /** How many callers wait. */
  readonly depth: number
}

export interface PoolOptions {
  size: number
  /** Slots that one key may hold at once, so that slow clients of one key leave room. Default: three quarters. */
  perKey?: number
  /** Callers of one key that may wait. */
  maxWaiting?: number
}

interface Waiter {
  grant(): void
}

export function createProcessPool(options: PoolOptions): ProcessPool {
  const { size, perKey = Math.ceil(size * 0.75), maxWaiting = 256 } = options
  const held = new Map<string, number>()
  // Insertion order is the turn order: a served key goes to the end.
  const queues = new Map<string, Set<Waiter>>()
  let running = 0
  let depth = 0

  const mayRun = (key: string) => running < size && (held.get(key) ?? 0) < perKey

  function take(key: string): Slot {
    running++
    held.set(key, (held.get(key) ?? 0) + 1)
    let released = false
    const release = () => {
      if (released) return
      released = true
      running--
      const left = (held.get(key) ?? 1) - 1
      if (left === 0) held.delete(key)
      else held.set(key, left)
      serve()
    }
    return { release, [Symbol.dispose]: release }
  }

  function leave(key: string, queue: Set<Waiter>, waiter: Waiter) {
    if (!queue.delete(waiter)) return
    depth--
    if (queue.size === 0) queues.delete(key)
  }

  function serve() {
    for (const [key, queue] of queues) {
      if (running >= size) return
      const [waiter] = queue
      if (!waiter || !mayRun(key)) continue
      leave(key, queue, waiter)
      if (queue.size > 0) {
        queues.delete(key)
        queues.set(key, queue)
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
    async acquire(key, signal) {
      signal?.throwIfAborted()
      const queue = queues.get(key) ?? new Set<Waiter>()
      if (queue.size === 0 && mayRun(key)) return take(key)
      if (queue.size >= maxWaiting) throw new PoolFull()
      return new Promise<Slot>((resolve, reject) => {
        const waiter: Waiter = {
          grant() {
            signal?.removeEventListener('abort', giveUp)
            resolve(take(key))
          },
        }
        const giveUp = () => {
          leave(key, queue, waiter)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', giveUp, { once: true })
        queue.add(waiter)
        queues.set(key, queue)
        depth++
      })
    },
  }
}
