// Packs whose files are made before they are needed, empty, under the id that they will have. Where many files have just
// been deleted, as every command of git does with its locks, ext4 takes one or two milliseconds to find a place for a new
// one; and that it is in its folder has to come to the disk. Into one that is there, the bytes are all there is to write.

import type { FileHandle } from 'node:fs/promises'
import type { Clock } from '../../platform/clock.ts'

/** The files of a pack, to be written into once and closed. */
export interface NewPack {
  packId: string
  pack: FileHandle
  idx: FileHandle
}

/** Where on the disk its files are. */
export interface SparePack extends NewPack {
  made: Record<'pack' | 'idx', { ino: number; dev: number }>
}

interface Making {
  /** So many, empty, and in their folders even after a power cut. */
  make(count: number): Promise<SparePack[]>
  discard(pack: SparePack): Promise<void>
  clock: Clock
}

/** Some pushes may come at once. */
const KEPT = 4
/** While others come more often than that, there is no good moment to make some: each makes its own. */
const QUIET_MS = 10
/** Long before a sweep takes them for leftovers. */
const GOOD_FOR_MS = 10 * 60_000

export function createSparePacks({ make, discard, clock }: Making) {
  let spares: SparePack[] = []
  /** When the oldest of them was made. */
  let since = 0
  let filling: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  async function fill(): Promise<void> {
    if (isOver || spares.length >= KEPT) return
    const now = clock()
    const made = await make(KEPT - spares.length)
    if (spares.length === 0) since = now
    spares.push(...made)
  }

  function fillLater(): void {
    clearTimeout(timer)
    if (isOver) return
    timer = setTimeout(() => {
      // Without any, files are made when they are needed.
      filling = filling.then(fill).catch(ignore)
    }, QUIET_MS).unref()
  }

  function discardAll(): Promise<unknown> {
    const old = spares
    spares = []
    return Promise.all(old.map((pack) => discard(pack).catch(ignore)))
  }

  return {
    /** Undefined where there is none. */
    take(): SparePack | undefined {
      fillLater()
      // Also where the clock has been set, in whichever direction.
      if (spares.length > 0 && Math.abs(clock() - since) > GOOD_FOR_MS) void discardAll()
      return spares.pop()
    },

    async close(): Promise<void> {
      isOver = true
      clearTimeout(timer)
      await filling
      await discardAll()
    },
  }
}

const ignore = () => undefined
