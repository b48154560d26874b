// Everything it takes to read objects without git, and what of it is kept in memory.

import { createPauses } from '../../platform/pauses.ts'
import { createShares } from '../../platform/shares.ts'
import type { ObjectReader, StartedReader } from '../objects/reader.ts'
import { createOpenedPacks } from './opened-packs.ts'
import type { PackStore } from './pack-store.ts'
import { createPackedObjects } from './packed-objects.ts'
import { createSight } from './sight.ts'
import { createStoredReader } from './stored-reader.ts'

interface StoredObjectsDeps {
  store: Pick<PackStore, 'openPack'>
  /** What may be kept in memory of all that was read. */
  maxBytes: number
}

interface Reading {
  /** Of the organization whose memory it takes. */
  owner: string
  /** Packs to look into first, if some are known. */
  knownPacks?: readonly string[] | undefined
  /** The packs to look into. It is asked again for what none of them has. */
  listPacks(): Promise<readonly string[]>
  /** Starts git, for what is large or strange. */
  startGit(): Promise<StartedReader>
  signal?: AbortSignal | undefined
}

/** Of the whole, for each kind; and of that one owner may have. */
const PARTS = { objects: 3 / 8, indexes: 3 / 8, pages: 1 / 8, shown: 1 / 8 }
const EACH = 3 / 4
const PAGE_OVERHEAD = 300
const SHOWN_OVERHEAD = 600
/** Of what is larger, most of the time goes into sending it. */
const LARGEST_SHOWN = 64 * 1024

/** Something that was made of objects, to be shown. */
interface Shown {
  value: object
  weight: number
}

export type StoredObjects = ReturnType<typeof createStoredObjects>

export function createStoredObjects({ store, maxBytes }: StoredObjectsDeps) {
  const within = (part: number) => ({ maxBytes: maxBytes * part, maxBytesEach: maxBytes * part * EACH })
  const pages = createShares<Buffer>({
    max: maxBytes * PARTS.pages,
    maxEach: maxBytes * PARTS.pages * EACH,
    weightOf: ({ length }) => length + PAGE_OVERHEAD,
  })
  const opened = createOpenedPacks({ store, pages, ...within(PARTS.indexes) })
  const objects = createPackedObjects(within(PARTS.objects))
  const shown = createShares<Shown>({
    max: maxBytes * PARTS.shown,
    maxEach: maxBytes * PARTS.shown * EACH,
    weightOf: ({ weight }) => weight,
  })
  let fromGit = 0
  let fromShown = 0

  return {
    /** What was made of objects before, and is made of them whenever they are there. Nobody may change it. */
    recallShown<T extends object>(owner: string, key: string): T | undefined {
      const found = shown.get(owner, key)
      if (found) fromShown++
      return found?.value as T | undefined
    },

    /** The size is that of its texts, in characters. */
    keepShown(owner: string, key: string, { value, size }: { value: object; size: number }): void {
      if (size > LARGEST_SHOWN) return
      // A character may take two bytes.
      shown.set(owner, key, { value, weight: (key.length + size) * 2 + SHOWN_OVERHEAD })
    },

    /** Reads objects for as long as `use` takes. */
    async read<T>(reading: Reading, use: (objects: ObjectReader) => Promise<T>): Promise<T> {
      const { owner, knownPacks, listPacks, startGit, signal } = reading
      const pauseSome = createPauses()
      const pause = () => {
        signal?.throwIfAborted()
        return pauseSome()
      }
      let started: Promise<StartedReader> | undefined
      const git = async () => {
        started ??= startGit()
        return (await started).objects
      }
      using sight = createSight({ opened, objects, owner, knownPacks, listPacks, pause })
      const onGit = () => {
        fromGit++
      }
      try {
        return await use(createStoredReader({ sight, git, onGit }))
      } finally {
        started?.then(
          (running) => running[Symbol.dispose](),
          () => {},
        )
      }
    },

    close: opened.close,

    /** How many objects were looked at, by where they were. */
    get counts() {
      const { fromMemory, fromPacks, packBytes } = objects.stats
      return { memory: fromMemory + fromShown, packs: fromPacks, git: fromGit, packBytes }
    },

    /** What is kept in memory. */
    get bytes(): number {
      return objects.bytes + opened.bytes + pages.weight + shown.weight
    },
  }
}
