import type { Pause } from '../../platform/pauses.ts'
import { EMPTY_TREE_OID, type Oid } from '../names.ts'
import type { OpenedPack, OpenedPacks } from './opened-packs.ts'
import { PackMissing } from './pack-store.ts'
import type { ObjectInfo, PackedObject, PackedObjects, Place } from './packed-objects.ts'
import { Unusual } from './unusual.ts'

/** All that one reader can see: the packs of a repository, as they are listed. Whatever is missing gives undefined. */
export interface Sight extends Disposable {
  find(oid: Oid): Promise<PackedObject | undefined>
  /** What it is; no more of it is read than it takes to say. */
  findInfo(oid: Oid): Promise<ObjectInfo | undefined>
  /** The same, at once, if it is in memory. */
  recall(oid: Oid): PackedObject | undefined
  recallInfo(oid: Oid): ObjectInfo | undefined
}

interface SightDeps {
  opened: OpenedPacks
  objects: PackedObjects
  /** In whose share of the memory it is kept. */
  owner: string
  /** Packs to look into before all are listed. */
  knownPacks?: readonly string[] | undefined
  listPacks(): Promise<readonly string[]>
  pause: Pause
}

/** About as many are found in memory in a tenth of a millisecond. */
const ASKED_A_TURN = 32

/** Git knows it without being told. */
const EMPTY_TREE: PackedObject = { type: 'tree', size: 0, bytes: Buffer.alloc(0) }

/** Its finders throw Unusual for what git has to answer, and PackMissing for a pack that is listed and not there. */
export function createSight({ opened, objects, owner, knownPacks, listPacks, pause }: SightDeps): Sight {
  /** Those in which something was found lately come first. */
  let listed = knownPacks
  let listing: Promise<readonly string[]> | undefined
  let listings = 0
  const held = new Map<string, OpenedPack>()
  /** Packs that cannot be looked into, and why. */
  const unusual = new Map<string, Unusual>()
  /** What was just looked for in all of these packs, in vain. */
  let missed: { oid: Oid; packIds: readonly string[] } | undefined
  let isOver = false
  let asked = 0

  function holdOpen(packId: string): OpenedPack | undefined {
    const known = held.get(packId)
    if (known || isOver) return known
    const pack = opened.holdOpen(owner, packId)
    if (pack) held.set(packId, pack)
    return pack
  }

  async function hold(packId: string): Promise<OpenedPack | undefined> {
    if (unusual.has(packId)) return undefined
    try {
      const pack = await opened.hold(owner, packId)
      // Calls may overlap, and the last may come back when nobody waits for it any more.
      const isLate = isOver || held.has(packId)
      if (isLate) opened.giveBack(pack)
      else held.set(packId, pack)
      return held.get(packId)
    } catch (error) {
      if (!(error instanceof Unusual)) throw error
      unusual.set(packId, error)
      return undefined
    }
  }

  /** Looks into these packs. What cannot be read in one may be in another, as git thinks too. */
  async function findIn<T>(
    packIds: readonly string[],
    oid: Oid,
    read: (place: Place, oid: Oid) => Promise<T>,
  ): Promise<T | undefined> {
    let reason: Unusual | undefined
    for (const packId of packIds) {
      const pack = holdOpen(packId) ?? (await hold(packId))
      const offset = pack?.index.find(oid)
      reason ??= pack ? undefined : unusual.get(packId)
      if (!pack || offset === undefined) continue
      try {
        const found = await read({ owner, pack, offset, pause }, oid)
        comeFirst(packId)
        return found
      } catch (error) {
        if (!(error instanceof Unusual)) throw error
        if (error.isDamage) {
          opened.distrust(owner, packId)
          objects.forget({ owner, pack, offset })
        }
        reason = error
      }
    }
    if (reason) throw reason
    return undefined
  }

  function comeFirst(packId: string): void {
    if (!listed || listed[0] === packId) return
    listed = [packId, ...listed.filter((id) => id !== packId)]
  }

  function list(): Promise<readonly string[]> {
    listings++
    listing = listPacks().then((packIds) => {
      listed = packIds
      return packIds
    })
    return listing
  }

  /** Also what has come since the list was read: whoever asks may have heard of it only now. */
  async function findAnywhere<T>(
    oid: Oid,
    read: (place: Place, oid: Oid) => Promise<T>,
  ): Promise<T | undefined> {
    await pause()
    const isFirst = listed === undefined
    const seen = listed ?? (await (listing ?? list()))
    const before = listings
    // Those who ask for several things at once, none of which is there, have them listed once.
    const listedSince = () => (listing && listings > before ? listing : list())
    try {
      const isMissed = missed?.oid === oid && missed.packIds === seen
      const found = isMissed ? undefined : await findIn(seen, oid, read)
      if (found !== undefined || isFirst) return found
    } catch (error) {
      // It was listed and has been folded into another since, or it is gone for good.
      if (!(error instanceof PackMissing)) throw error
      return findIn(await listedSince(), oid, read)
    }
    const looked = new Set(seen)
    return findIn(
      (await listedSince()).filter((id) => !looked.has(id)),
      oid,
      read,
    )
  }

  /** Where it is, as far as that is known without waiting. */
  function spot(oid: Oid) {
    // Who finds everything in memory would never let others in.
    if (++asked % ASKED_A_TURN === 0) return undefined
    for (const packId of listed ?? []) {
      const pack = holdOpen(packId)
      if (!pack) return undefined
      const offset = pack.index.find(oid)
      if (offset !== undefined) return { owner, pack, offset }
    }
    if (listed) missed = { oid, packIds: listed }
    return undefined
  }

  function recall(oid: Oid): PackedObject | undefined {
    if (oid === EMPTY_TREE_OID) return EMPTY_TREE
    const at = spot(oid)
    return at && objects.recall(at, oid)
  }

  function recallInfo(oid: Oid): ObjectInfo | undefined {
    if (oid === EMPTY_TREE_OID) return EMPTY_TREE
    const at = spot(oid)
    return at && objects.recallInfo(at)
  }

  return {
    find: async (oid) => recall(oid) ?? findAnywhere(oid, objects.read),
    findInfo: async (oid) => recallInfo(oid) ?? findAnywhere(oid, objects.readInfo),
    recall,
    recallInfo,
    [Symbol.dispose]() {
      isOver = true
      for (const pack of held.values()) opened.giveBack(pack)
      held.clear()
    },
  }
}
