/** What a push may still bring. Disposing of it gives back what it took. */
interface RoomForPush extends Disposable {
  /** Sets `bytes` more aside; false when that is more than is left. */
  take(bytes: number): boolean
}

export type IncomingRoom = ReturnType<typeof createIncomingRoom>

/**
 * Counts what is on its way to each organization, in this process, as if it were stored already: however many push at
 * once, all of it together stays within the room that is left.
 */
export function createIncomingRoom() {
  const onTheirWay = new Map<string, number>()

  function add(orgId: string, bytes: number): void {
    const sum = (onTheirWay.get(orgId) ?? 0) + bytes
    if (sum > 0) onTheirWay.set(orgId, sum)
    else onTheirWay.delete(orgId)
  }

  return {
    /** For one push to an organization that has room for `left` bytes. */
    open(orgId: string, left: number): RoomForPush {
      let taken = 0
      return {
        take(bytes) {
          if ((onTheirWay.get(orgId) ?? 0) + bytes > left) return false
          taken += bytes
          add(orgId, bytes)
          return true
        },
        [Symbol.dispose]: () => add(orgId, -taken),
      }
    },
  }
}
