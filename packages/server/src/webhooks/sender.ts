import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../platform/log.ts'
import * as lines from './line-store.ts'
import { type Hold, type LineWorkerDeps, workLine } from './line-worker.ts'
import type { LineRow } from './store.ts'

interface SenderDeps extends LineWorkerDeps {
  log: Log
  /** Deliveries that may be in flight at once; none with 0. */
  concurrency: number
  /** How long a process may be silent before others take over its lines. */
  leaseMs: number
  /** How long deliveries in flight may take when the process is told to stop. */
  shutdownMs: number
}

/** Retries come due without anybody saying so, and other processes leave lines behind. */
const POLL_MS = 1_000
/** Of all places, so that one receiver with many webhooks leaves some to the others. */
const RECEIVER_SHARE = 1 / 8
/** Receivers that fail may hold a connection for as long as it takes to time out; half of the places is theirs. */
const FAILING_SHARE = 1 / 2

/**
 * Works at the lines of webhooks: each line in the hands of one process at a time, many lines side by side. Which lines
 * are whose stands in the database, so any number of processes share the work, and the lines of one that dies are
 * taken over.
 */
export function createSender(deps: SenderDeps) {
  const { database, clock, log, concurrency, leaseMs } = deps
  const perReceiver = Math.max(1, Math.floor(concurrency * RECEIVER_SHARE))
  const forFailing = Math.max(1, Math.floor(concurrency * FAILING_SHARE))
  const workers = new Map<string, { line: LineRow; done: Promise<void> }>()
  const abort = new AbortController()
  let sender = { id: randomUUIDv7() as string, aliveUntil: 0 }
  let stopping = false
  let pumping: Promise<void> | undefined
  let again = false

  /** Says that this process lives. If it could not for too long, its lines may be in other hands: it starts anew. */
  async function beat(): Promise<void> {
    if (sender.aliveUntil < clock()) sender = { id: randomUUIDv7(), aliveUntil: 0 }
    const until = clock() + leaseMs
    await database.transact((tx) => lines.keepAlive(tx, sender.id, until))
    sender.aliveUntil = until
  }

  function start(line: LineRow): void {
    const { id } = sender
    const hold: Hold = {
      senderId: id,
      isHeld: () => sender.id === id && sender.aliveUntil > clock(),
      isStopping: () => stopping,
      abort: abort.signal,
    }
    const done = workLine(deps, hold, line)
      .catch(async (error: unknown) => {
        if (abort.signal.aborted) return
        log.error('webhook line failed', { webhook: line.webhook_id, error })
        // Not at once again: what is broken stays broken for a while.
        await sleep(POLL_MS, undefined, { ref: false })
        await database.transact((tx) => lines.returnLines(tx, [line.webhook_id], id)).catch(() => {})
      })
      .finally(() => {
        if (workers.get(line.webhook_id)?.line === line) workers.delete(line.webhook_id)
        nudge()
      })
    workers.set(line.webhook_id, { line, done })
  }

  async function claim(): Promise<boolean> {
    const open = concurrency - workers.size
    if (open <= 0 || stopping) return false
    if (sender.aliveUntil < clock() + leaseMs / 2) await beat()
    const busy = new Map<string, number>()
    let failing = 0
    for (const { line } of workers.values()) {
      busy.set(line.origin, (busy.get(line.origin) ?? 0) + 1)
      if (line.failing_since !== null) failing++
    }
    const claimed = await lines.claimLines(database, {
      senderId: sender.id,
      now: clock(),
      limit: open,
      without: [...busy].flatMap(([origin, count]) => (count >= perReceiver ? [origin] : [])),
      failingToo: failing < forFailing,
    })
    const surplus: string[] = []
    for (const line of claimed) {
      const count = busy.get(line.origin) ?? 0
      const isFailing = line.failing_since !== null
      if (workers.has(line.webhook_id) || count >= perReceiver || (isFailing && failing >= forFailing))
        surplus.push(line.webhook_id)
      else {
        busy.set(line.origin, count + 1)
        if (isFailing) failing++
        start(line)
      }
    }
    if (surplus.length > 0) await database.transact((tx) => lines.returnLines(tx, surplus, sender.id))
    return claimed.length > surplus.length
  }

  async function pump(): Promise<void> {
    do {
      again = false
      for (let more = true; more; ) more = await claim()
    } while (again)
  }

  /** Something may be due. Only a hint: what it misses is found by looking from time to time. */
  function nudge(): void {
    if (stopping || concurrency === 0) return
    again = true
    pumping ??= pump()
      .catch((error: unknown) => {
        if (!stopping) log.error('taking webhook lines failed', { error })
      })
      .finally(() => {
        pumping = undefined
        // Said between the last look and here.
        if (again) nudge()
      })
  }

  const tend = () =>
    beat().catch((error: unknown) => {
      if (!stopping) log.error('webhook sender could not say that it lives', { error })
    })
  const timers =
    concurrency === 0
      ? []
      : [setInterval(nudge, POLL_MS).unref(), setInterval(() => void tend(), leaseMs / 3).unref()]
  nudge()

  return {
    nudge,
    /** Lets what is in flight finish for a while, and leaves the rest to whoever comes next. */
    async stop(): Promise<void> {
      stopping = true
      await pumping
      const done = Promise.all([...workers.values()].map((worker) => worker.done))
      await Promise.race([done, sleep(deps.shutdownMs, undefined, { ref: false })])
      abort.abort()
      await done
      for (const timer of timers) clearInterval(timer)
      await database.transact((tx) => lines.deleteSender(tx, sender.id)).catch(() => {})
      await deps.transport.close()
    },
  }
}
