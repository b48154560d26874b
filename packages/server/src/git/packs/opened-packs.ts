// Packs that objects are read from: their indexes in memory, small ones whole, of others the parts that were looked at.

import { createRecent } from '../../platform/recent.ts'
import { createShares, type Shares } from '../../platform/shares.ts'
import type { FreshPack } from './fresh-packs.ts'
import { type PackIndex, readPackIndex, weightOfIndex } from './pack-index.ts'
import type { OpenPack, PackStore } from './pack-store.ts'
import { damage, Unusual } from './unusual.ts'

/** A pack of so many bytes is read whole, and its file closed. */
const WHOLE_BYTES = 64 * 1024
/** Of others parts are read. What is near an object is often wanted next: git puts together what belongs together. */
const PAGE_BYTES = 32 * 1024
/** What an open file counts for, besides what is kept of it: there may be only so many. */
const OPEN_FILE_WEIGHT = 128 * 1024
const CHECKSUM_BYTES = 20
/**
 * A large index takes longer to read than git takes to start. Where there are too many of them to be kept, each is read
 * once in a while and not for every call.
 */
const HEAVY_BYTES = 1024 * 1024
const REST_MS = 60_000
const REMEMBERED = 10_000

/** A pack that somebody holds. */
export interface OpenedPack {
  readonly id: string
  readonly index: PackIndex
  /** Bytes that may be part of something larger, so they are not to be kept. */
  read(at: number, length: number): Promise<Buffer>
  /** What begins there, where that is known without reading it. */
  objectAt?: FreshPack['objectAt'] | undefined
}

interface Opened extends OpenedPack {
  weight: number
  holders: number
  isForgotten: boolean
  isClosed: boolean
  file: OpenPack | undefined
}

const unheld = { holders: 0, isForgotten: false, isClosed: false }

export interface OpenedPacks {
  /** Opens it, if it is not open. Whoever holds it gives it back. Throws PackMissing, or Unusual. */
  hold(owner: string, packId: string): Promise<OpenedPack>
  /** The same, at once, if it is open. */
  holdOpen(owner: string, packId: string): OpenedPack | undefined
  giveBack(pack: OpenedPack): void
  /** It does not read as it should: whoever comes next opens it anew. */
  distrust(owner: string, packId: string): void
  /** Closes everything that nobody holds, now or as soon as it is given back. */
  close(): void
  readonly bytes: number
}

interface OpenedPacksDeps {
  store: Pick<PackStore, 'openPack'>
  /** What indexes and small packs may take in memory, of all owners and of one. */
  maxBytes: number
  maxBytesEach: number
  /** Parts of packs that were read. */
  pages: Shares<Buffer>
}

export function createOpenedPacks({ store, pages, maxBytes, maxBytesEach }: OpenedPacksDeps): OpenedPacks {
  const opening = new Map<string, Promise<Opened>>()
  const forgottenAt = createRecent<string, number>({ maxEntries: REMEMBERED })
  let openings = 0
  let isOver = false
  const opened = createShares<Opened>({
    max: maxBytes,
    maxEach: maxBytesEach,
    weightOf: ({ weight }) => weight,
    onForget(pack) {
      pack.isForgotten = true
      if (pack.weight > HEAVY_BYTES) forgottenAt.set(pack.id, performance.now())
      closeUnheld(pack)
    },
  })

  function closeUnheld(pack: Opened): void {
    if (pack.holders > 0 || pack.isClosed) return
    pack.isClosed = true
    void pack.file?.close()
  }

  /** What is never kept could never be held. */
  function requireRoomFor(weight: number): void {
    if (weight > Math.min(maxBytes, maxBytesEach)) throw new Unusual('an index too large to be kept')
  }

  async function open(owner: string, packId: string): Promise<Opened> {
    const file = await store.openPack(packId)
    const { fresh } = file
    if (fresh) {
      requireRoomFor(fresh.weight)
      return { id: packId, ...fresh, read: file.read, ...unheld, file: undefined }
    }
    try {
      const isWhole = file.bytes <= WHOLE_BYTES
      const weight = weightOfIndex(file.indexBytes) + (isWhole ? file.bytes : OPEN_FILE_WEIGHT)
      requireRoomFor(weight)
      const agoMs = performance.now() - (forgottenAt.get(packId) ?? Number.NEGATIVE_INFINITY)
      if (weight > HEAVY_BYTES && agoMs < REST_MS) throw new Unusual('an index for which there was no room')
      const index = await readPackIndex(await file.readIndex(), file.bytes)
      const whole = isWhole ? await file.read(0, file.bytes) : undefined
      await requireSame(file, whole, index)
      if (whole) await file.close()
      // What was read through another opening is never taken for this one's: it may have been damaged.
      const part = { pages, owner, file, opening: ++openings }
      return {
        id: packId,
        index,
        read: whole
          ? async (at, length) => whole.subarray(at, at + length)
          : (at, length) => readPages(part, at, length),
        weight,
        ...unheld,
        file: whole ? undefined : file,
      }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  function openOnce(owner: string, packId: string): Promise<Opened> {
    const key = `${owner} ${packId}`
    const known = opening.get(key)
    if (known) return known
    const started = open(owner, packId).finally(() => opening.delete(key))
    opening.set(key, started)
    // Before anybody who waits for it goes on.
    return started.then((pack) => {
      if (isOver) pack.isForgotten = true
      else opened.set(owner, packId, pack)
      return pack
    })
  }

  return {
    async hold(owner, packId) {
      for (;;) {
        const pack = opened.get(owner, packId) ?? (await openOnce(owner, packId))
        // It may have had to go before whoever waited for it came to hold it.
        if (pack.isClosed) continue
        pack.holders++
        return pack
      }
    },

    holdOpen(owner, packId) {
      const pack = opened.get(owner, packId)
      if (!pack || pack.isClosed) return undefined
      pack.holders++
      return pack
    },

    giveBack(held) {
      const pack = held as Opened
      pack.holders--
      if (pack.isForgotten) closeUnheld(pack)
    },

    distrust: (owner, packId) => opened.forget(owner, packId),
    close() {
      isOver = true
      opened.clear()
    },

    get bytes() {
      return opened.weight
    },
  }
}

interface Paged {
  pages: Shares<Buffer>
  owner: string
  file: OpenPack
  opening: number
}

/** A part that is larger than a page is read as it is, for itself. */
async function readPages(part: Paged, at: number, length: number): Promise<Buffer> {
  if (length > PAGE_BYTES) return part.file.read(at, length)
  const first = Math.floor(at / PAGE_BYTES)
  const last = Math.floor((at + length - 1) / PAGE_BYTES)
  const from = at - first * PAGE_BYTES
  const page = await readPage(part, first)
  if (first === last) return page.subarray(from, from + length)
  return Buffer.concat([page, await readPage(part, last)]).subarray(from, from + length)
}

async function readPage({ pages, owner, file, opening }: Paged, page: number): Promise<Buffer> {
  const key = `${opening}@${page}`
  const known = pages.get(owner, key)
  if (known) return known
  const read = await file.read(page * PAGE_BYTES, PAGE_BYTES)
  pages.set(owner, key, read)
  return read
}

/** As git does, before it believes an index. */
async function requireSame(file: OpenPack, whole: Buffer | undefined, index: PackIndex): Promise<void> {
  if (file.bytes < 12 + CHECKSUM_BYTES) throw damage('a pack that was cut short')
  const head = whole ?? (await file.read(0, 12))
  const tail = await file.read(file.bytes - CHECKSUM_BYTES, CHECKSUM_BYTES)
  const isPack = head.length >= 12 && head.toString('latin1', 0, 4) === 'PACK' && head.readUInt32BE(4) === 2
  if (!isPack || head.readUInt32BE(8) !== index.objects || !tail.equals(index.packChecksum))
    throw damage('a pack that is not that of its index')
}
