// Whoever makes or examines new objects in this process, to keep them: commits and tags made here, small pushes.

import { createPlaces } from '../platform/places.ts'
import { type Room, requireRoom } from '../platform/room.ts'
import { type OwnedRepo, placeOwnerOf } from '../repos/place-owner.ts'

export type Makers = ReturnType<typeof createMakers>

/** How many may be at it, as each may have some megabytes in memory; and how many of one organization. */
const AT_ONCE = 32
const AT_ONCE_PER_ORG = 16
/** More than agents of one organization come to be. */
const MAX_WAITING = 1_000

/** Those that turn out to take much memory, some hundred megabytes, have places of their own. */
const HEAVY = { size: 4, perOwner: 2, maxWaiting: 32 }

export function createMakers(room: Room) {
  const places = createPlaces({ size: AT_ONCE, perOwner: AT_ONCE_PER_ORG, maxWaiting: MAX_WAITING })
  const heavyPlaces = createPlaces(HEAVY)

  return {
    /**
     * They come to it one after the other, and not all of one organization before those of another. Have things stored
     * afterwards: that takes little memory, and long where much goes on. What turns out to take much memory waits for
     * `heavily` before it takes it. Throws OutOfSpace.
     */
    async make<T>(
      repo: OwnedRepo,
      signal: AbortSignal,
      work: (heavily: () => Promise<void>) => Promise<T>,
    ): Promise<T> {
      await requireRoom(room)
      const owner = placeOwnerOf(repo)
      let place = await places.acquire(owner, signal)
      try {
        return await work(async () => {
          // Whoever waits for a place of the few must not keep one of the many.
          place.release()
          place = await heavyPlaces.acquire(owner, signal)
        })
      } finally {
        place.release()
      }
    },
  }
}
