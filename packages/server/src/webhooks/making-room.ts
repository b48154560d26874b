import type { PlaceOwner } from '../platform/places.ts'

/** Of all places to send from: the rest is left to deliveries whose bodies are there. */
const MAKING_SHARE = 1 / 4
/** Of that, what one organization may have, and all together that nobody has claimed. */
const OWNER_SHARE = 1 / 4

/** Bounds how many lines wait for a body that is made, or to be made: each of them has a place to send from meanwhile. */
export function createMakingRoom(concurrency: number) {
  const size = Math.max(1, Math.floor(concurrency * MAKING_SHARE))
  const share = Math.max(1, Math.floor(size * OWNER_SHARE))
  const inside = new Map<string, number>()
  let all = 0

  const count = (key: string, by: number) => {
    const left = (inside.get(key) ?? 0) + by
    if (left === 0) inside.delete(key)
    else inside.set(key, left)
  }

  return {
    /** Undefined when there is no room: then the line waits outside. */
    enter({ id, isProvisional }: PlaceOwner): Disposable | undefined {
      const keys = isProvisional ? [id, PROVISIONAL] : [id]
      if (all >= size || keys.some((key) => (inside.get(key) ?? 0) >= share)) return undefined
      all++
      for (const key of keys) count(key, 1)
      return {
        [Symbol.dispose]() {
          all--
          for (const key of keys) count(key, -1)
        },
      }
    },
  }
}

/** No id. */
const PROVISIONAL = ''
