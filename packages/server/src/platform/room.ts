import { statfs } from 'node:fs/promises'
import { OutOfSpace } from './outages.ts'

/** What reads need to go on, and the database to keep what is under way: a part of a small disk, little of a large one. */
const RESERVE_BYTES = 64 * 1024 * 1024
const RESERVE_SHARE = 1 / 20
const LOOK_EVERY_MS = 3_000

export interface Room {
  /** How many bytes more there is room for, looked up now. */
  left(): Promise<number>
  /** Whether the disk is as good as full, or would be with so many bytes more. */
  isShort(moreBytes?: number): Promise<boolean>
}

/** What is left when it gets short is for reads, and for the database. Throws OutOfSpace. */
export async function requireRoom(room: Room): Promise<void> {
  if (await room.isShort()) throw new OutOfSpace('The disk is as good as full')
}

/** Looks how much room there is where a path leads, every few seconds at the most. */
export function watchRoom(path: string): Room {
  let looked: { at: number; left: Promise<number> } | undefined

  /** Above the reserve. */
  async function left(): Promise<number> {
    // A disk that cannot be asked says itself what is wrong, to whoever writes there.
    const disk = await statfs(path).catch(() => undefined)
    if (!disk) return Infinity
    const { bavail, blocks, bsize } = disk
    return bavail * bsize - Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE)
  }

  return {
    left,
    async isShort(moreBytes = 0) {
      const now = performance.now()
      if (!looked || now - looked.at > LOOK_EVERY_MS) looked = { at: now, left: left() }
      return (await looked.left) < moreBytes
    },
  }
}
