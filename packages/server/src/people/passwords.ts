import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Fault } from '../platform/fault.ts'

/** How a password is turned into what is kept of it. Costly on purpose, so tests bring another. */
export interface Passwords {
  hash(password: string): Promise<string>
  verify(given: { hash: string; password: string }): Promise<boolean>
}

/** What a thread is asked, and answers: a key in hexadecimal. */
export interface KeyRequest {
  password: string
  salt: string
}

interface Job extends KeyRequest {
  done: PromiseWithResolvers<string>
}

/** One leaves the other processor to everybody else; more than two serve nobody but those who guess. */
const THREADS = availableParallelism() >= 4 ? 2 : 1
/** More would wait for seconds. */
const MAX_WAITING = 64
const BUSY_RETRY_MS = 5_000

/**
 * scrypt as better-auth uses it when it is told nothing, in threads of its own: those of Node read files and look up
 * names, and would do neither while many sign in. A few at a time, each in turn; who comes when many wait is refused.
 */
export function createScryptPasswords({ threads = THREADS, maxWaiting = MAX_WAITING } = {}) {
  const idle: Worker[] = []
  const waiting: Job[] = []
  const running = new Map<Worker, Job>()

  function derive(request: KeyRequest): Promise<string> {
    if (waiting.length >= maxWaiting) throw new Fault('TOO_MANY_REQUESTS', { retryAfterMs: BUSY_RETRY_MS })
    const done = Promise.withResolvers<string>()
    waiting.push({ ...request, done })
    giveOut()
    return done.promise
  }

  function giveOut(): void {
    while (waiting.length > 0) {
      const worker = idle.pop() ?? (running.size < threads ? startWorker() : undefined)
      const job = worker && waiting.shift()
      if (!worker || !job) return
      running.set(worker, job)
      worker.postMessage({ password: job.password, salt: job.salt } satisfies KeyRequest)
    }
  }

  /** Started with the first password: many a server never sees one. */
  function startWorker(): Worker {
    const worker = new Worker(new URL('./password-thread.ts', import.meta.url))
    worker.unref()
    worker.on('message', (key: string) => {
      running.get(worker)?.done.resolve(key)
      running.delete(worker)
      idle.push(worker)
      giveOut()
    })
    worker.on('error', (error) => {
      running.get(worker)?.done.reject(error)
      running.delete(worker)
      const at = idle.indexOf(worker)
      if (at >= 0) idle.splice(at, 1)
      giveOut()
    })
    return worker
  }

  return {
    async hash(password) {
      const salt = randomBytes(16).toString('hex')
      return `${salt}:${await derive({ password, salt })}`
    },

    async verify({ hash, password }) {
      const [salt, key] = hash.split(':')
      if (!salt || !key) throw new Error('This is not a password as it is kept')
      const wanted = Buffer.from(key)
      const given = Buffer.from(await derive({ password, salt }))
      return given.length === wanted.length && timingSafeEqual(given, wanted)
    },

    /** Nobody must be waiting any more. */
    async close() {
      await Promise.all([...idle, ...running.keys()].map((worker) => worker.terminate()))
    },
  } satisfies Passwords & { close(): Promise<void> }
}
