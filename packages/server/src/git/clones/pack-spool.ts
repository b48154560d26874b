// A spool that git itself writes a pack into, while readers follow in packets, as a client takes them. What several
// readers are at at the same time is read once.

import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  dataPacket,
  FLUSH_PACKET,
  MAX_SIDEBAND_BYTES,
  sideband,
  sidebandHeader,
} from '../protocol/pkt-line.ts'
import type { Destination } from './plain-clone.ts'
import { SharedBuffer } from './shared-buffers.ts'
import { notify, openSpool, type Spool } from './spool.ts'

export interface PackSpool extends Spool {
  /** What git has told about its work, in packets. */
  readonly told: Buffer[]
  /** Stretches of the pack that were read last, by position. */
  readonly stretches: Map<number, Stretch>
}

/** Some packets, and how much of the pack is in them. */
interface Stretch {
  packets: SharedBuffer
  packBytes: number
  isRead: Promise<void>
}

/** Writes a whole pack, and is done when nobody holds the file any more. */
export type WritePack = (to: Destination, signal: AbortSignal) => Promise<void>

export const openPackSpool = (dir: string, capacity: number): PackSpool => ({
  ...openSpool(dir, capacity),
  told: [],
  stretches: new Map(),
})

/** How soon a file is looked at again that has grown, and one that has not for long. */
const SHORTEST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 50

/** Has the pack written. `onGrowth` is called whenever there is more of it. */
export async function fillWithPack(spool: PackSpool, write: WritePack, onGrowth: () => void): Promise<void> {
  const file = await spool.file
  const tell = (text: Buffer) => {
    spool.told.push(...sideband('progress', text))
    notify(spool)
  }
  let isWriting = true
  const writing = write({ fd: file.fd, tell }, spool.abort.signal).finally(() => {
    isWriting = false
  })
  try {
    let pause = SHORTEST_PAUSE_MS
    while (isWriting) {
      await Promise.race([writing, sleep(pause)])
      const hasGrown = await takeNote(spool, file)
      if (hasGrown) onGrowth()
      pause = hasGrown ? SHORTEST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
    // The end may have been written after the last look.
    await writing
    await takeNote(spool, file)
  } catch (error) {
    spool.abort.abort(error)
    await writing.catch(() => {})
    throw error
  }
  spool.abort.signal.throwIfAborted()
}

/** Says whether the file has grown. */
async function takeNote(spool: PackSpool, file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
  if (size > spool.capacity) spool.abort.abort(new Error('a pack is larger than its place'))
  const hasGrown = size > spool.written
  spool.written = size
  spool.filed = size
  if (hasGrown) notify(spool)
  return hasGrown
}

const STRETCH_BYTES = 4 * MAX_SIDEBAND_BYTES
/** Readers that start together stay together for the most part. */
const KEPT_STRETCHES = 16
const KEEP_ALIVE_MS = 5000
/** Of the first band and empty: means nothing, and shows that somebody is still at work. */
const KEEP_ALIVE = Buffer.from('0005\u0001')

/**
 * The answer that has the pack in it, from its beginning. Fails as soon as the spool does. Its chunks may be released
 * with `releaseChunk`.
 */
export async function* followPack(
  spool: PackSpool,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const reader = { position: 0 }
  const wake = () => notify(spool)
  spool.readers.add(reader)
  signal?.addEventListener('abort', wake)
  let told = 0
  try {
    const file = await spool.file
    // Nothing is said before there is something to say: until then a failure can still be told as one.
    while (spool.written === 0 && spool.told.length === 0 && spool.state === 'writing') {
      const isSoon = await changesWithin(spool, KEEP_ALIVE_MS)
      signal?.throwIfAborted()
      if (!isSoon) break
    }
    throwFailure(spool)
    yield dataPacket('packfile\n')
    for (;;) {
      signal?.throwIfAborted()
      throwFailure(spool)
      const available = spool.written - reader.position
      if (told < spool.told.length) yield spool.told[told++] as Buffer
      else if (available >= STRETCH_BYTES || (available > 0 && spool.state === 'complete')) {
        const { packets, packBytes, isRead } = stretchAt(spool, file, reader.position)
        // For this reader; whoever takes the chunk releases it.
        packets.hold()
        await isRead
        reader.position += packBytes
        yield packets.bytes
      } else if (spool.state === 'complete') break
      else if (!(await changesWithin(spool, KEEP_ALIVE_MS))) yield KEEP_ALIVE
    }
    yield FLUSH_PACKET
  } finally {
    signal?.removeEventListener('abort', wake)
    spool.readers.delete(reader)
    if (spool.readers.size === 0) for (const position of spool.stretches.keys()) drop(spool, position)
    notify(spool)
  }
}

function throwFailure({ state }: Spool): void {
  if (typeof state === 'object') throw state.failed
}

async function changesWithin({ changed }: Spool, ms: number): Promise<boolean> {
  const patience = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => patience.resolve(false), ms)
  try {
    return await Promise.race([changed.promise.then(() => true), patience.promise])
  } finally {
    clearTimeout(timer)
  }
}

function stretchAt(spool: PackSpool, file: FileHandle, position: number): Stretch {
  let stretch = spool.stretches.get(position)
  if (!stretch) {
    const [oldest] = spool.stretches.keys()
    if (spool.stretches.size >= KEPT_STRETCHES && oldest !== undefined) drop(spool, oldest)
    stretch = readStretch(file, position, Math.min(STRETCH_BYTES, spool.written - position))
    stretch.isRead.catch(() => drop(spool, position))
    spool.stretches.set(position, stretch)
  }
  return stretch
}

function drop({ stretches }: PackSpool, position: number): void {
  const stretch = stretches.get(position)
  if (!stretch) return
  stretches.delete(position)
  // Nothing else may be read into its memory before.
  const release = () => stretch.packets.release()
  stretch.isRead.then(release, release)
}

/** Read into its place between the heads of the packets. */
function readStretch(file: FileHandle, position: number, packBytes: number): Stretch {
  const heads: Buffer[] = []
  for (let left = packBytes; left > 0; left -= MAX_SIDEBAND_BYTES)
    heads.push(sidebandHeader('data', Math.min(left, MAX_SIDEBAND_BYTES)))
  const packets = new SharedBuffer(packBytes + heads.reduce((sum, { length }) => sum + length, 0))
  const places: Buffer[] = []
  let at = 0
  for (const head of heads) {
    packets.bytes.set(head, at)
    const start = at + head.length
    at = Math.min(start + MAX_SIDEBAND_BYTES, packets.bytes.length)
    places.push(packets.bytes.subarray(start, at))
  }
  const isRead = file.readv(places, position).then(({ bytesRead }) => {
    if (bytesRead !== packBytes) throw new Error('a spool is shorter than what was written')
  })
  return { packets, packBytes, isRead }
}
