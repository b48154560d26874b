import type { NumberedEvent } from '@trellis/contract'
import { createPauses } from '../platform/pauses.ts'
import type { Database } from '../schema.ts'
import { present } from './presenting.ts'
import type { Subscriber } from './service.ts'
import * as store from './store.ts'
import type { EventScope } from './types.ts'

/** Somebody who wants to hear of everything that is added to a log. */
export interface Listener {
  /** False when no more can be taken for now. */
  take(event: NumberedEvent): boolean
  /** Resolves when more can be taken, or never will be. */
  ready(): Promise<void>
  /** Nothing more will come. */
  end(): void
}

interface Tail {
  scope: EventScope
  listener: Listener
  /** The last event it has taken. */
  position: number
  isOver: boolean
}

/** A log that somebody listens to, read once for all who have heard of everything in it. */
interface Log {
  tails: Set<Tail>
  live: Set<Tail>
  /** Up to here those who are live have been told. */
  told: number
  isReading: boolean
  again: boolean
}

/** An event may have 64 KiB, and whoever reads a page of them has the process to itself. */
const PAGE = 20
/** What other processes add is found by looking, at so many logs in one query. */
const LOOK_EVERY_MS = 1_000
const LOOKED_AT_ONCE = 500

export type Tailing = ReturnType<typeof createTailing>

/**
 * Tells listeners what is added to logs. Whoever hears nothing costs nothing but a place in a set: what is added in this
 * process is told at once, what others add is found by one look for all, and only logs that have changed are read.
 */
export function createTailing({ database }: { database: Pick<Database, 'db' | 'afterCommit' | 'settled'> }) {
  const { db } = database
  const logs = new Map<EventScope, Log>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let isClosed = false

  async function read(scope: EventScope, above: number): Promise<store.EventRow[]> {
    const rows = await store.listEvents(db, { scope, order: 'oldest', above, limit: PAGE })
    // Whoever has heard of a number asks for those after it, so it must never be another's.
    await database.settled()
    return rows
  }

  function leave(tail: Tail): void {
    tail.isOver = true
    const log = logs.get(tail.scope)
    log?.live.delete(tail)
    log?.tails.delete(tail)
    if (log?.tails.size === 0) logs.delete(tail.scope)
    if (logs.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function end(tail: Tail): void {
    if (tail.isOver) return
    leave(tail)
    tail.listener.end()
  }

  /** False when it has to wait, and reads on by itself. */
  function give(tail: Tail, event: NumberedEvent): boolean {
    if (tail.isOver) return false
    if (event.seq <= tail.position) return true
    tail.position = event.seq
    return tail.listener.take(event)
  }

  /** Has those who are live hear of what is new. */
  async function tell(scope: EventScope, log: Log): Promise<void> {
    log.again = true
    if (log.isReading) return
    log.isReading = true
    const pause = createPauses()
    try {
      while (log.again && log.live.size > 0) {
        log.again = false
        const rows = await read(scope, log.told)
        log.told = rows.at(-1)?.seq ?? log.told
        log.again ||= rows.length === PAGE
        for (const row of rows) {
          await pause()
          const event = present(row)
          for (const tail of log.live) if (!give(tail, event)) fallBehind(tail, log)
        }
      }
    } catch {
      // The next look finds that there is something new.
    } finally {
      log.isReading = false
    }
  }

  function fallBehind(tail: Tail, log: Log): void {
    log.live.delete(tail)
    if (!tail.isOver) void catchUp(tail, log)
  }

  /** Reads for one that is behind, until it is where the others are. */
  async function catchUp(tail: Tail, log: Log): Promise<void> {
    // Whoever takes everything at once is told all of a long log, and nobody else would come to anything.
    const pause = createPauses()
    try {
      for (;;) {
        await tail.listener.ready()
        if (tail.isOver) return
        const rows = await read(tail.scope, tail.position)
        let tookAll = true
        for (const row of rows) {
          await pause()
          tookAll = give(tail, present(row))
          if (!tookAll) break
        }
        if (tail.isOver) return
        if (!tookAll || rows.length === PAGE) continue
        // Nobody has to hear of what this one has, or all others have heard of it, too.
        if (log.live.size === 0 && !log.isReading) log.told = tail.position
        if (tail.position < log.told) continue
        log.live.add(tail)
        // Of what was added since it was read it has not been told.
        void tell(tail.scope, log)
        return
      }
    } catch {
      end(tail)
    }
  }

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    try {
      const scopes = [...logs.keys()]
      for (let i = 0; i < scopes.length; i += LOOKED_AT_ONCE) {
        const some = scopes.slice(i, i + LOOKED_AT_ONCE)
        const last = new Map((await store.listLast(db, some)).map(({ scope, last_seq }) => [scope, last_seq]))
        for (const scope of some) await compare(scope, last.get(scope))
      }
    } catch {
      // The next look may do better.
    } finally {
      isLooking = false
    }
  }

  async function compare(scope: EventScope, last: number | undefined): Promise<void> {
    const log = logs.get(scope)
    if (!log) return
    if (log.live.size > 0 && (last ?? 0) > log.told) void tell(scope, log)
    const reached = new Map([...log.tails].map((tail) => [tail, tail.position]))
    if (Math.max(...reached.values()) <= (last ?? -1)) return
    // They may have got there since it was looked. What is still not there is being removed, with what it is about.
    const now = (await store.findLast(db, scope)) ?? -1
    for (const [tail, position] of reached) if (position > now) end(tail)
  }

  /** Only a hint: in the transaction nobody else sees the event yet. */
  const subscriber: Subscriber = async (tx, scope) => {
    if (!logs.has(scope)) return
    database.afterCommit(tx, () => {
      const log = logs.get(scope)
      if (log && log.live.size > 0) void tell(scope, log)
    })
  }

  return {
    subscriber,

    /** The number of the last event of a log. */
    lastOf: async (scope: EventScope): Promise<number> => (await store.findLast(db, scope)) ?? 0,

    /** Tells of everything after `position`, until somebody ends it. */
    follow(scope: EventScope, position: number, listener: Listener): { stop(): void } {
      const tail: Tail = { scope, listener, position, isOver: false }
      if (isClosed) {
        listener.end()
        return { stop: () => {} }
      }
      const log = logs.get(scope) ?? {
        tails: new Set(),
        live: new Set(),
        told: position,
        isReading: false,
        again: false,
      }
      logs.set(scope, log)
      log.tails.add(tail)
      timer ??= setInterval(() => void look(), LOOK_EVERY_MS).unref()
      void catchUp(tail, log)
      return { stop: () => leave(tail) }
    },

    /** All are told that nothing more will come. */
    close(): void {
      isClosed = true
      for (const { tails } of logs.values()) for (const tail of tails) end(tail)
    },
  }
}
