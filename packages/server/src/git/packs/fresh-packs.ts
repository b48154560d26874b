// Packs that were made here and stored a moment ago. Whoever commits reads what the commit before has made.

import { createRecent } from '../../platform/recent.ts'
import type { Oid } from '../names.ts'
import type { ObjectType } from '../objects/format.ts'
import type { MadePack } from '../objects/pack-writer.ts'
import { ownBytes } from './own-bytes.ts'
import type { PackIndex } from './pack-index.ts'
import type { OpenPack } from './pack-store.ts'

const MAX_PACK_BYTES = 64 * 1024
const MAX_BYTES = 16 * 1024 * 1024
const MAX_PACKS = 5_000
/** What an object counts for, besides its content. */
const OVERHEAD = 300

/** What is in a pack, known to be so by whoever made it. */
export interface FreshPack {
  index: PackIndex
  /** The object that begins there. */
  objectAt(offset: number): FreshObject | undefined
  /** What all this takes in memory. */
  weight: number
}

interface FreshObject {
  oid: Oid
  type: ObjectType
  bytes: Buffer
}

/** Keeps the last of them in memory, where they can be read as if they were opened. */
export function createFreshPacks() {
  const kept = createRecent<string, OpenPack & { fresh: FreshPack }>({
    maxEntries: MAX_PACKS,
    weight: { of: ({ fresh }) => fresh.weight, max: MAX_BYTES },
  })

  return {
    keep(packId: string, made: MadePack): void {
      if (weigh(made) <= MAX_PACK_BYTES) kept.set(packId, openMade(made))
    },
    forget: (packId: string): void => kept.forget(packId),
    open: (packId: string): OpenPack | undefined => kept.get(packId),
  }
}

function weigh({ pack, idx, entries }: MadePack): number {
  return entries.reduce((sum, { content }) => sum + content.length + OVERHEAD, pack.length + idx.length)
}

function openMade(made: MadePack): OpenPack & { fresh: FreshPack } {
  const [pack, idx] = [ownBytes(made.pack), ownBytes(made.idx)]
  const extents = new Map(made.entries.map(({ at, end, crc }) => [at, { at, end, crc }]))
  const offsets = new Map(made.entries.map(({ oid, at }) => [oid, at]))
  const objects = new Map(
    made.entries.map(({ at, oid, type, content }) => [at, { oid, type, bytes: ownBytes(content) }]),
  )
  const index: PackIndex = {
    objects: objects.size,
    packChecksum: pack.subarray(-20),
    find: (oid) => offsets.get(oid),
    extentAt: (offset) => extents.get(offset),
  }
  return {
    bytes: pack.length,
    indexBytes: idx.length,
    read: async (at, length) => pack.subarray(at, at + length),
    readIndex: async () => idx,
    close: async () => {},
    fresh: { index, objectAt: (offset) => objects.get(offset), weight: weigh(made) },
  }
}
