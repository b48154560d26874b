// Objects read from packs without git, as far as they are small and whole. What has been read is kept in memory, by its
// place in a pack: packs never change, and whoever looks there has the pack listed.

import type { Pause } from '../../platform/pauses.ts'
import { createShares } from '../../platform/shares.ts'
import type { Oid } from '../names.ts'
import { type Commit, type ObjectType, oidOf, type TreeEntry } from '../objects/format.ts'
import { applyDelta, readDeltaSizes } from './delta.ts'
import type { OpenedPack } from './opened-packs.ts'
import { type Entry, readData, readEntry } from './pack-entries.ts'
import { inflateBeginning, inflateEntry } from './pack-entry.ts'
import { damage, Unusual } from './unusual.ts'

/** More is left to git, which need not hold all of it. */
const MAX_OBJECT_BYTES = 1024 * 1024
/** Of differences upon differences, and of all that has to be made to get to the last. */
const MAX_CHAIN = 1000
const MAX_CHAIN_BYTES = 64 * 1024 * 1024
/** What lies between is kept too when it is small: often it is the same file as it was before, and asked for next. */
const KEPT_BASE_BYTES = 64 * 1024
/** Whoever asks what a commit or a tree is will read it next. */
const READ_AT_ONCE_BYTES = 16 * 1024
const OVERHEAD = 500
/** What is kept of an object with what was made of it, for each of its bytes. */
const PARSED_WEIGHT = { commit: 4, tree: 7, blob: 1, tag: 1 } as const

export interface ObjectInfo {
  type: ObjectType
  size: number
}

export interface PackedObject extends ObjectInfo {
  bytes: Buffer
  /** What somebody made of it. Others are given the same, so nobody changes it. */
  parsed?: Commit | TreeEntry[]
}

interface Kept extends ObjectInfo {
  bytes?: Buffer
  parsed?: Commit | TreeEntry[]
  /** Its content is known to have this id. */
  oid?: Oid
}

const isRead = (known: Kept | undefined, oid: Oid): known is PackedObject & Kept =>
  known?.bytes !== undefined && known.oid === oid

/** Where to look, for whom. */
interface Spot {
  owner: string
  pack: OpenedPack
  offset: number
}

export interface Place extends Spot {
  /** Lets others in, and ends when nobody waits any more. */
  pause: Pause
}

export type PackedObjects = ReturnType<typeof createPackedObjects>

export function createPackedObjects({ maxBytes, maxBytesEach }: { maxBytes: number; maxBytesEach: number }) {
  const kept = createShares<Kept>({
    max: maxBytes,
    maxEach: maxBytesEach,
    weightOf: ({ type, size, bytes }) => OVERHEAD + (bytes ? size * PARSED_WEIGHT[type] : 0),
  })
  const stats = { fromMemory: 0, fromPacks: 0, packBytes: 0 }

  const keyOf = (pack: OpenedPack, offset: number) => `${pack.id}${offset}`
  const recall = ({ owner, pack }: Spot, offset: number) => kept.get(owner, keyOf(pack, offset))
  const keep = ({ owner, pack }: Spot, offset: number, object: Kept) =>
    kept.set(owner, keyOf(pack, offset), object)

  /** The offset of the base of a difference. Git looks for it in the same pack too. */
  function baseOf({ base }: Entry, { pack }: Place): number {
    if (typeof base === 'number') return base
    const found = base && pack.index.find(base)
    if (found === undefined) throw new Unusual('a difference to what is not in its pack')
    return found
  }

  /** Down to what is whole or known, and up again. */
  async function make(place: Place): Promise<{ type: ObjectType; bytes: Buffer }> {
    const chain: Entry[] = []
    let total = 0
    const add = (size: number) => {
      total += size
      if (size > MAX_OBJECT_BYTES || total > MAX_CHAIN_BYTES) throw new Unusual('a large object')
    }
    let at = place.offset
    let made = recall(place, at)
    while (!made?.bytes) {
      const entry = await readEntry(place.pack, at)
      add(entry.size)
      if (entry.type) {
        const bytes = await inflateEntry(await readData(place.pack, entry), entry.size)
        made = { type: entry.type, size: bytes.length, bytes }
        if (at !== place.offset && bytes.length <= KEPT_BASE_BYTES) keep(place, at, made)
        break
      }
      if (chain.push(entry) > MAX_CHAIN) throw new Unusual('a long chain')
      at = baseOf(entry, place)
      made = recall(place, at)
      await place.pause()
    }
    const { type } = made
    let bytes = made.bytes as Buffer
    for (const entry of chain.reverse()) {
      const delta = await inflateEntry(await readData(place.pack, entry), entry.size)
      add(readDeltaSizes(delta).result)
      bytes = applyDelta(bytes, delta)
      if (entry.at !== place.offset && bytes.length <= KEPT_BASE_BYTES)
        keep(place, entry.at, { type, size: bytes.length, bytes })
      await place.pause()
    }
    return { type, bytes }
  }

  function recallObject(spot: Spot, oid: Oid): PackedObject | undefined {
    const known = recall(spot, spot.offset) ?? recallFresh(spot)
    if (!isRead(known, oid)) return undefined
    stats.fromMemory++
    return known
  }

  /** Of a pack that was made a moment ago. */
  function recallFresh(spot: Spot): Kept | undefined {
    const made = spot.pack.objectAt?.(spot.offset)
    if (!made) return undefined
    const object = { ...made, size: made.bytes.length }
    keep(spot, spot.offset, object)
    return object
  }

  /** The object that begins there and must have this id. Throws Unusual. */
  async function read(place: Place, oid: Oid): Promise<PackedObject> {
    const known = recallObject(place, oid)
    if (known) return known
    const { type, bytes } = await make(place)
    if (oidOf(type, bytes) !== oid) throw damage('an object that is another')
    stats.fromPacks++
    stats.packBytes += bytes.length
    const object = { type, size: bytes.length, bytes, oid }
    keep(place, place.offset, object)
    return object
  }

  function recallInfo(spot: Spot): ObjectInfo | undefined {
    const known = recall(spot, spot.offset) ?? recallFresh(spot)
    if (known) stats.fromMemory++
    return known
  }

  /** What begins there, without more of its content than it takes to say. Throws Unusual. */
  async function readInfo(place: Place, oid: Oid): Promise<ObjectInfo> {
    const known = recallInfo(place)
    if (known) return known
    const entry = await readEntry(place.pack, place.offset)
    if (entry.type && entry.type !== 'blob' && entry.size <= READ_AT_ONCE_BYTES) return read(place, oid)
    stats.fromPacks++
    const size = entry.type ? entry.size : await resultSizeOf(place, entry)
    const info = { type: entry.type ?? (await typeBelow(place, entry)), size }
    keep(place, place.offset, info)
    return info
  }

  async function resultSizeOf({ pack }: Place, entry: Entry): Promise<number> {
    return readDeltaSizes(inflateBeginning(await readData(pack, entry))).result
  }

  async function typeBelow(place: Place, top: Entry): Promise<ObjectType> {
    let entry = top
    for (let length = 0; length < MAX_CHAIN; length++) {
      const at = baseOf(entry, place)
      const known = recall(place, at)
      if (known) return known.type
      entry = await readEntry(place.pack, at)
      if (entry.type) return entry.type
      await place.pause()
    }
    throw new Unusual('a long chain')
  }

  return {
    read,
    readInfo,
    stats,

    /** The same, if it is in memory. */
    recall: recallObject,
    recallInfo,

    /** What is known of it may be wrong. */
    forget: ({ owner, pack, offset }: Spot) => kept.forget(owner, keyOf(pack, offset)),

    /** What is kept in memory. */
    get bytes(): number {
      return kept.weight
    },
  }
}
