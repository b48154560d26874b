// What is written in a pack of one object: a header, and its content compressed, whole or as the difference to another.

import { promisify } from 'node:util'
import { constants, inflate, inflateSync } from 'node:zlib'
import type { Oid } from '../names.ts'
import type { ObjectType } from '../objects/format.ts'
import { ownBytes } from './own-bytes.ts'
import { damage } from './unusual.ts'

/** A header is no longer: a size, and an id or a distance. */
export const MAX_HEADER_BYTES = 40
/** To hand more to a thread costs less than what others wait for it here. */
const INFLATED_HERE_BYTES = 32 * 1024
const BEGINNING_BYTES = 512

export interface EntryHeader {
  /** Of what is compressed: the object, or the difference. */
  size: number
  /** Where that begins, after the beginning of the entry. */
  dataAt: number
  /** Of an object that is whole. */
  type?: ObjectType
  /** Of a difference: where in the pack its base is, or which object. */
  base?: number | Oid
}

const TYPES: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const OFS_DELTA = 6
const REF_DELTA = 7

/** `bytes` begin with the entry, which begins in the pack at `offset`. */
export function readEntryHeader(bytes: Buffer, offset: number): EntryHeader {
  let at = 0
  const next = () => {
    const byte = at < MAX_HEADER_BYTES ? bytes[at++] : undefined
    if (byte === undefined) throw damage('an entry without an end of its header')
    return byte
  }
  let byte = next()
  const kind = (byte >> 4) & 7
  let size = byte & 15
  for (let scale = 16; byte & 0x80; scale *= 128) {
    byte = next()
    size += (byte & 0x7f) * scale
  }
  if (!Number.isSafeInteger(size)) throw damage('an entry of impossible size')
  const type = TYPES[kind]
  if (type) return { size, dataAt: at, type }
  if (kind === REF_DELTA) {
    if (at + 20 > bytes.length) throw damage('an entry without its base')
    return { size, dataAt: at + 20, base: bytes.toString('hex', at, at + 20) as Oid }
  }
  if (kind !== OFS_DELTA) throw damage('an entry of unknown type')
  byte = next()
  let distance = byte & 0x7f
  while (byte & 0x80) {
    byte = next()
    distance = (distance + 1) * 128 + (byte & 0x7f)
  }
  if (distance <= 0 || distance >= offset) throw damage('an entry whose base is outside of its pack')
  return { size, dataAt: at, base: offset - distance }
}

const inflateInThread = promisify<Buffer, object, Buffer>(inflate)

/** Gives exactly `size` bytes in memory of their own. Never takes more than that, whatever is in `data`. */
export async function inflateEntry(data: Buffer, size: number): Promise<Buffer> {
  // One byte more is where it shows that there is no more.
  const bounds = { chunkSize: Math.max(64, size + 1), maxOutputLength: size + 1 }
  let inflated: Buffer
  try {
    inflated = size <= INFLATED_HERE_BYTES ? inflateSync(data, bounds) : await inflateInThread(data, bounds)
  } catch {
    throw damage('an entry that cannot be inflated')
  }
  if (inflated.length !== size) throw damage('an entry of another size')
  return ownBytes(inflated)
}

/** Some bytes of what is compressed, more than the sizes of a difference take. */
export function inflateBeginning(data: Buffer): Buffer {
  try {
    return inflateSync(data.subarray(0, BEGINNING_BYTES), { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    throw damage('an entry that cannot be inflated')
  }
}
