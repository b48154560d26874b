// Bodies are in memory until they are answered. Those of many clients at once would be more than there is, so large ones
// count: of all together, of each organization, and of each who calls. Whoever finds no room waits, with the rest of the
// body still in the connection. Nobody takes room by announcing a body: it takes as much of it as is small.

import type { IncomingMessage } from 'node:http'
import type { Caller } from '../../access/caller.ts'
import { createPlaces, type PlaceOwner, type Slot } from '../../platform/places.ts'
import { type BodyLimit, LARGE_BODY_BYTES } from './body.ts'
import type { Exchange } from './exchange.ts'
import { leavingOf } from './leaving.ts'
import { createRoomHolders } from './room-holders.ts'

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
  const holders = createRoomHolders<Holding>()

  async function acquire(exchange: Exchange, caller: Caller | undefined, asked: Asked): Promise<Slot> {
    const { request } = exchange
    const wanted = { ...ownersOf(exchange, caller), weight: Math.min(asked.bytes, ROOM.perOwner) }
    const wait = acquireBoth(wanted, asked.signal)
    const slot = await holders.whileWaiting(() => inTheWayOf(wanted, [...holders.all()]), wait)
    const announced = Number(request.headers['content-length'] ?? wanted.weight)
    const held = holders.hold(request, announced - LARGE_BODY_BYTES, wanted)
    return together(slot, {
      release: () => held[Symbol.dispose](),
      weigh(weight) {
        wanted.weight = weight
      },
    })
  }

  async function acquireBoth({ caller, org, weight }: Holding, signal: AbortSignal): Promise<Slot> {
    const own = await ofCallers.acquire(caller, signal, weight)
    try {
      return together(own, await room.acquire(org, signal, weight))
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
      const sender = { owner: ownersOf(exchange, caller).org, signal: leavingOf(exchange.response) }
      let slot: Slot | undefined
      let isOver = false
      const release = () => {
        isOver = true
        slot?.release()
      }
      return {
        /** Waits until there is room. */
        async take(): Promise<void> {
          slot = await acquire(exchange, caller, { bytes, signal: sender.signal })
          if (isOver) slot.release()
        },
        release,
        sender,
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
            if (bytes > LARGE_BODY_BYTES)
              slot ??= await acquire(exchange, caller, { bytes: maxBytes, signal })
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

interface Holding extends Owners {
  weight: number
}

interface Asked {
  bytes: number
  signal: AbortSignal
}

/** Those who could make room: nobody else's body goes for the sake of one who has too many already. */
function inTheWayOf({ caller, org, weight }: Holding, holding: readonly Holding[]): readonly Holding[] {
  const isOver = (some: readonly Holding[], limit: number) =>
    some.reduce((sum, holder) => sum + holder.weight, weight) > limit
  const own = holding.filter((holder) => holder.caller.id === caller.id)
  if (isOver(own, ROOM_OF_ONE.perOwner)) return own
  const ofOrg = holding.filter((holder) => holder.org.id === org.id)
  if (isOver(ofOrg, org.isProvisional ? ROOM.perProvisional : ROOM.perOwner)) return ofOrg
  const provisional = holding.filter((holder) => holder.org.isProvisional)
  return org.isProvisional && isOver(provisional, ROOM.forProvisional) ? provisional : holding
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

type Part = Omit<Slot, typeof Symbol.dispose>

function together(one: Part, other: Part): Slot {
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
