// Whoever makes or examines new objects in this process, to keep them: commits and tags made here, small pushes.

import { createPlaces } from '../platform/places.ts'
import { type Room, requireRoom } from '../platform/room.ts'
import { TurnShare } from '../platform/turn-share.ts'
import { type OwnedRepo, placeOwnerOf } from '../repos/place-owner.ts'

export type Makers = ReturnType<typeof createMakers>

/** How many may be at it, as each may have some megabytes in memory; and how many of one organization. */
const AT_ONCE = 32
const AT_ONCE_PER_ORG = 16
/** More than agents of one organization come to be. */
const MAX_WAITING = 1_000

/** How long they may take of one turn of the event loop, where many bring a few objects each. */
const SHARE_MS = 0.5

export function createMakers(room: Room) {
  const places = createPlaces({ size: AT_ONCE, perOwner: AT_ONCE_PER_ORG, maxWaiting: MAX_WAITING })
  const share = new TurnShare(SHARE_MS, () => places.running + places.depth)

  return {
    /**
     * They come to it one after the other, and not all of one organization before those of another. Have things stored
     * afterwards: that takes little memory, and long where much goes on. Throws OutOfSpace.
     */
    async make<T>(repo: OwnedRepo, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      await requireRoom(room)
      using _place = await places.acquire(placeOwnerOf(repo), signal)
      await share.take()
      signal.throwIfAborted()
      return await work()
    },
  }
}
