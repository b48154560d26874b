import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseUnavailable } from '../platform/outages.ts'
import type { Bell } from './bell.ts'
import type { Desk } from './desk.ts'
import type { Running, Tools, Work } from './work.ts'
import { deleteWorker, keepAlive } from './workers.ts'

/** In whose hands an item is, and for how long yet. */
export interface Hold {
  workerId: string
  /** Whether what this worker took is still its own. */
  isHeld(): boolean
  /** Whether to leave off as soon as that can be done well. */
  isStopping(): boolean
  /** Ends what is in flight. */
  abort: AbortSignal
}

interface LeasedWork<Item> {
  name: string
  /** How many items may be in hand at once; with 0 this process leaves them to others. */
  concurrency: number
  /** How long a process may be silent before others take over what it holds. */
  leaseMs: number
  /** Rung when something may have come due. */
  bell: Bell
  /** For those who hand over what they make. */
  desk?: Desk<Item>
  keyOf(item: Item): string
  /** Takes items that are due and in no living worker's hands, up to `room`. */
  claim(claim: { workerId: string; room: number; inHand: readonly Item[] }): Promise<Item[]>
  /** Works at an item and gives it back. */
  work(item: Item, hold: Hold): Promise<void>
  /** Gives back what was not worked at, so that somebody may take it at once. */
  giveBack(keys: readonly string[], workerId: string): Promise<void>
}

/** Things come due without anybody saying so, and other processes leave some behind. */
const POLL_MS = 1_000

/**
 * Work that any number of processes share. Which item is in whose hands stands in the database, beside a row for each
 * worker that says it lives; what one that dies held is taken over by the others.
 */
export function leased<Item>(spec: LeasedWork<Item>): Work {
  return {
    name: spec.name,
    start: (tools) => (spec.concurrency === 0 ? { stop: async () => {} } : startWorker(spec, tools)),
  }
}

/** By the stopwatch, and by the clock, which is what others know. */
interface Lease {
  by: number
  at: number
}

const newWorker = (): { id: string; lease: Lease } => ({ id: randomUUIDv7(), lease: { by: 0, at: 0 } })

function startWorker<Item>(
  spec: LeasedWork<Item>,
  { database, clock, stopwatch, log, complain, attempt, shutdownMs }: Tools,
): Running {
  const { name, concurrency, leaseMs, bell, keyOf } = spec
  const inHand = new Map<string, { item: Item; done: Promise<void> }>()
  const abort = new AbortController()
  /** Each a place that is being filled. */
  const promised = new Set<Promise<void>>()
  let worker = newWorker()
  let stopping = false
  let claiming: Promise<void> | undefined
  let again = false
  /** What has been said of why nothing can be taken. */
  let trouble: string | undefined

  /** Says that this worker lives. If it could not for too long, others may hold what it had: it starts anew. */
  async function beat(): Promise<void> {
    if (!isAlive()) worker = newWorker()
    const beating = worker
    const lease = { by: stopwatch() + leaseMs, at: clock() + leaseMs }
    await database.transact((tx) => keepAlive(tx, beating.id, lease.at))
    beating.lease = lease
  }

  /**
   * Others go by the clock, and may have taken over what this one holds when the clock says so. The stopwatch knows it,
   * too, when the clock has been set back.
   */
  const isAlive = () => worker.lease.by > stopwatch() && worker.lease.at > clock()

  /** Soon over, or so far ahead that others will not believe it: the clock has been set back. */
  const shouldBeat = () =>
    worker.lease.by < stopwatch() + leaseMs / 2 || worker.lease.at > clock() + leaseMs || !isAlive()

  function take(item: Item, { id } = worker): void {
    const key = keyOf(item)
    const hold: Hold = {
      workerId: id,
      isHeld: () => worker.id === id && isAlive(),
      isStopping: () => stopping,
      abort: abort.signal,
    }
    const done = attempt(name, () => spec.work(item, hold), { signal: abort.signal, item: key })
      .then(async (succeeded) => {
        if (succeeded || abort.signal.aborted) return
        // Not at once again: what is broken stays broken for a while.
        await sleep(POLL_MS, undefined, { ref: false })
        await spec.giveBack([key], id).catch(() => {})
      })
      .finally(() => {
        if (inHand.get(key)?.item === item) inHand.delete(key)
        look()
      })
    inHand.set(key, { item, done })
  }

  /** Not while others are taken: what is in hand would not be all that there is. */
  function reserve(fits: Parameters<Desk<Item>['reserve']>[0]): ReturnType<Desk<Item>['reserve']> {
    if (stopping || claiming || shouldBeat() || inHand.size + promised.size >= concurrency) return undefined
    const items = [...inHand.values()].map(({ item }) => item)
    if (!fits(items, promised.size)) return undefined
    const by = worker
    const { promise, resolve } = Promise.withResolvers<void>()
    promised.add(promise)
    return {
      workerId: by.id,
      fill(items) {
        for (const item of items) take(item, by)
        promised.delete(promise)
        resolve()
      },
    }
  }

  async function claim(): Promise<boolean> {
    await Promise.all(promised)
    const room = concurrency - inHand.size
    if (room <= 0 || stopping) return false
    if (shouldBeat()) await beat()
    const items = [...inHand.values()].map(({ item }) => item)
    const claimed = await spec.claim({ workerId: worker.id, room, inHand: items })
    tellEnd()
    // One that is still being given back here; its row says otherwise already.
    const surplus = claimed.map(keyOf).filter((key) => inHand.has(key))
    if (surplus.length > 0) await spec.giveBack(surplus, worker.id)
    for (const item of claimed) if (!surplus.includes(keyOf(item))) take(item)
    return claimed.length > surplus.length
  }

  async function claimAll(): Promise<void> {
    do {
      again = false
      for (let more = true; more; ) more = await claim()
    } while (again)
  }

  /** Every look runs into what lasts, as a full disk: it is said when it begins and when it is over. */
  function tellTrouble(error: unknown): void {
    // Whoever opened the database tells of this, and of its end.
    const isTold = error instanceof DatabaseUnavailable
    if (isTold || trouble !== String(error))
      complain('background work could not be taken', { work: name, error })
    if (!isTold) trouble = String(error)
  }

  function tellEnd(): void {
    if (trouble !== undefined) log.info('background work can be taken again', { work: name })
    trouble = undefined
  }

  /** Something may be due. */
  function look(): void {
    if (stopping) return
    again = true
    claiming ??= claimAll()
      .catch((error: unknown) => {
        if (!stopping) tellTrouble(error)
      })
      .finally(() => {
        claiming = undefined
        // Said between the last look and here.
        if (again) look()
      })
  }

  const tend = () =>
    beat().catch((error: unknown) => {
      if (!stopping) complain('a worker could not say that it lives', { work: name, error })
    })

  bell.listen(look)
  spec.desk?.open(reserve)
  const timers = [setInterval(look, POLL_MS).unref(), setInterval(() => void tend(), leaseMs / 3).unref()]
  look()

  return {
    /** Lets what is in flight finish for a while, and leaves the rest to whoever comes next. */
    async stop(): Promise<void> {
      stopping = true
      await claiming
      await Promise.all(promised)
      const done = Promise.all([...inHand.values()].map((held) => held.done))
      await Promise.race([done, sleep(shutdownMs, undefined, { ref: false })])
      abort.abort()
      await done
      for (const timer of timers) clearInterval(timer)
      await database.transact((tx) => deleteWorker(tx, worker.id)).catch(() => {})
    },
  }
}
