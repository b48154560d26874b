// Bodies are in memory until they are answered. Those of many clients at once would be more than there is, so large ones
// count: of all together, of each organization, and of each who calls. Whoever finds no room waits, with the rest of the
// body still in the connection. Nobody takes room by announcing a body: it takes as much of it as is small.

import type { IncomingMessage } from 'node:http'
import type { Caller } from '../../access/caller.ts'
import { createPlaces, type PlaceOwner, type Slot } from '../../platform/places.ts'
import { type BodyLimit, LARGE_BODY_BYTES } from './body.ts'
import type { Exchange } from './exchange.ts'
import { leavingOf } from './leaving.ts'

const MEBIBYTE = 1024 * 1024
/** A body takes several times as much while it is read and made into something else. */
const ROOM = {
  size: 192 * MEBIBYTE,
  perOwner: 96 * MEBIBYTE,
  forProvisional: 64 * MEBIBYTE,
  perProvisional: 64 * MEBIBYTE,
}
/** Somebody may have many organizations. */
const ROOM_OF_ONE = { size: Number.POSITIVE_INFINITY, perOwner: ROOM.perOwner }

type Bytes = AsyncIterable<Uint8Array>

export type LargeBodies = ReturnType<typeof createLargeBodies>

export function createLargeBodies() {
  const room = createPlaces(ROOM)
  const ofCallers = createPlaces(ROOM_OF_ONE)

  async function acquire(owners: Owners, bytes: number, signal: AbortSignal): Promise<Slot> {
    const weight = Math.min(bytes, ROOM.perOwner)
    const own = await ofCallers.acquire(owners.caller, signal, weight)
    try {
      return together(own, await room.acquire(owners.org, signal, weight))
    } catch (error) {
      own.release()
      throw error
    }
  }

  return {
    /** For a body that is about to be read; undefined for a small one. What it takes is given back by disposing. */
    expect(exchange: Exchange, caller: Caller | undefined, limit: BodyLimit) {
      const bytes = roomFor(exchange.request, limit)
      if (bytes === 0) return undefined
      let slot: Slot | undefined
      let isOver = false
      const release = () => {
        isOver = true
        slot?.release()
      }
      return {
        /** Waits until there is room. */
        async take(): Promise<void> {
          slot = await acquire(ownersOf(exchange, caller), bytes, leavingOf(exchange.response))
          if (isOver) slot.release()
        },
        release,
        [Symbol.dispose]: release,
      }
    },

    /**
     * For a body whose size shows only when it is read: once it is large there has to be room for all that it may become,
     * and when it has ended for what it is.
     */
    open(
      exchange: Exchange,
      caller: Caller,
      { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
    ) {
      let slot: Slot | undefined
      async function* pass(body: Bytes): AsyncGenerator<Uint8Array> {
        let bytes = 0
        try {
          for await (const chunk of body) {
            bytes += chunk.length
            if (bytes > LARGE_BODY_BYTES) slot ??= await acquire(ownersOf(exchange, caller), maxBytes, signal)
            yield chunk
          }
        } finally {
          slot?.weigh(Math.min(bytes, maxBytes))
        }
      }
      return { pass, [Symbol.dispose]: () => slot?.release() }
    },
  }
}

/** What is small however it is read. */
export const isSmall = ({ headers }: IncomingMessage): boolean =>
  headers['content-encoding'] === undefined && Number(headers['content-length']) <= LARGE_BODY_BYTES

/** None for what is small, or refused for its size. */
function roomFor({ headers }: IncomingMessage, { bytes: limit }: BodyLimit): number {
  if (headers['transfer-encoding'] !== undefined) return limit
  const announced = Number(headers['content-length'] ?? 0)
  return announced > LARGE_BODY_BYTES && announced <= limit ? announced : 0
}

/** On whose behalf a body is in memory. */
interface Owners {
  caller: PlaceOwner
  org: PlaceOwner
}

/** Strangers are told apart by where they come from. */
function ownersOf({ address }: Exchange, caller: Caller | undefined): Owners {
  if (caller)
    return {
      caller: { id: `${caller.actor.kind} ${caller.actor.id}` },
      org: { id: caller.org.id, isProvisional: caller.org.provisional },
    }
  const stranger = { id: `address ${address}` }
  return { caller: stranger, org: { ...stranger, isProvisional: true } }
}

function together(one: Slot, other: Slot): Slot {
  const release = () => {
    one.release()
    other.release()
  }
  return {
    weigh(weight) {
      one.weigh(weight)
      other.weigh(weight)
    },
    release,
    [Symbol.dispose]: release,
  }
}
