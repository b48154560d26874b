import type { IncomingMessage } from 'node:http'
import { isWhole } from './body.ts'

/** Whoever would take longer yet, at the pace so far, has to go when somebody waits. */
const LONGEST_REST_MS = 10_000
/** A pace shows only after a while. */
const PACE_SHOWS_MS = 3_000
const LOOK_EVERY_MS = 500

/** A body with room in memory that has not arrived yet. */
interface Holder<T> {
  request: IncomingMessage
  /** What of it was still to come when it got its room. */
  bytes: number
  who: T
  since: number
  readBefore: number
}

/**
 * Bodies for which room is kept. Somebody may get room for much and send little of it, for as long as a body may take:
 * while others wait for that room, whoever is slowest to fill it is hung up on.
 */
export function createRoomHolders<T>() {
  const holders = new Set<Holder<T>>()
  /** Each says who holds what it waits for. */
  const waiting = new Set<() => Iterable<T>>()
  let looking: NodeJS.Timeout | undefined

  /** One at a time: the room it leaves may be enough. */
  function hangUpOnSlowest(): void {
    for (const inTheWay of waiting) {
      const whose = new Set(inTheWay())
      const [slowest] = [...holders]
        // While the server itself does not read, nobody is slow.
        .filter(({ who, request }) => whose.has(who) && !isWhole(request) && request.readableLength === 0)
        .map((holder) => ({ holder, rest: restMs(holder) }))
        .filter(({ rest }) => rest > LONGEST_REST_MS)
        .sort((a, b) => b.rest - a.rest)
      if (slowest) return void slowest.holder.request.socket.destroy()
    }
  }

  return {
    hold(request: IncomingMessage, bytes: number, who: T): Disposable {
      const { bytesRead: readBefore } = request.socket
      const holder = { request, bytes, who, since: performance.now(), readBefore }
      holders.add(holder)
      return { [Symbol.dispose]: () => holders.delete(holder) }
    },

    all: () => Iterator.from(holders).map(({ who }) => who),

    async whileWaiting<R>(inTheWay: () => Iterable<T>, wait: Promise<R>): Promise<R> {
      waiting.add(inTheWay)
      looking ??= setInterval(hangUpOnSlowest, LOOK_EVERY_MS).unref()
      try {
        return await wait
      } finally {
        waiting.delete(inTheWay)
        if (waiting.size === 0) {
          clearInterval(looking)
          looking = undefined
        }
      }
    },
  }
}

/** How long the rest of a body takes if it goes on as it has. */
function restMs<T>({ request, bytes, since, readBefore }: Holder<T>): number {
  const passed = performance.now() - since
  if (passed < PACE_SHOWS_MS) return 0
  const come = request.socket.bytesRead - readBefore
  return come === 0 ? Number.POSITIVE_INFINITY : ((bytes - come) / come) * passed
}
