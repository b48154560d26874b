// The index of a pack, version 2, in memory: which objects are in it, where each begins and ends, and the checksum of its
// bytes. Git keeps the first in the order of ids; the second is found by sorting where they begin.

import { createPauses } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import { damage, Unusual } from './unusual.ts'

const MAGIC = 0xff744f63
const FANOUT = 8
const NAMES = FANOUT + 256 * 4
export const OID_BYTES = 20
/** A place in the order of ids takes 24 bits of a key, where an entry begins 40. */
const MAX_OBJECTS = 2 ** 24 - 1
const MAX_OFFSET = 2 ** 40
/** Sorted at once in about two milliseconds. */
const SORTED_A_TURN = 32_768

/** Where an entry is in the pack, and what its bytes were when they were written. */
export interface Extent {
  at: number
  end: number
  crc: number
}

export interface PackIndex {
  readonly objects: number
  /** The checksum the pack ends with. */
  readonly packChecksum: Buffer
  /** Where the entry of an object begins. */
  find(oid: Oid): number | undefined
  /** Undefined where no entry begins. */
  extentAt(offset: number): Extent | undefined
}

/** The ids in an index of so many objects, as it is in its file. */
export function* oidsOfIndex(bytes: Buffer, objects: number): Generator<Oid> {
  for (let at = NAMES; at < NAMES + objects * OID_BYTES; at += OID_BYTES)
    yield bytes.toString('hex', at, at + OID_BYTES) as Oid
}

/** What an index takes in memory, given its size as a file. */
export const weightOfIndex = (bytes: number): number => Math.ceil(bytes * (36 / 28))

/** Throws Unusual for what is no index of version 2, or contradicts itself. */
export async function readPackIndex(bytes: Buffer, packBytes: number): Promise<PackIndex> {
  if (bytes.length < NAMES + 2 * OID_BYTES || bytes.readUInt32BE(0) !== MAGIC || bytes.readUInt32BE(4) !== 2)
    throw new Unusual('an index of another version')
  const fanout = (first: number) => (first < 0 ? 0 : bytes.readUInt32BE(FANOUT + first * 4))
  for (let i = 0; i < 256; i++) if (fanout(i) < fanout(i - 1)) throw damage('an index out of order')
  const objects = fanout(255)
  if (objects > MAX_OBJECTS) throw new Unusual('an index of too many objects')
  const crcs = NAMES + objects * OID_BYTES
  const offsets = crcs + objects * 4
  const large = offsets + objects * 4
  const end = bytes.length - 2 * OID_BYTES
  if (large > end || (end - large) % 8 !== 0) throw damage('an index of another length')
  const packEnd = packBytes - OID_BYTES

  function offsetOf(position: number): number {
    const offset = bytes.readUInt32BE(offsets + position * 4)
    if (offset < 2 ** 31) return offset
    const at = large + (offset - 2 ** 31) * 8
    if (at + 8 > end) throw damage('an offset that the index does not have')
    return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
  }

  const keys = await sortByOffset(objects, offsetOf, Math.min(packEnd, MAX_OFFSET))
  const beginning = (rank: number) => beginningIn(keys, rank)

  return {
    objects,
    packChecksum: bytes.subarray(end, end + OID_BYTES),

    find(oid) {
      const head = Number.parseInt(oid.slice(0, 8), 16)
      const first = head >>> 24
      let low = fanout(first - 1)
      let high = fanout(first)
      while (low < high) {
        const middle = (low + high) >>> 1
        const at = NAMES + middle * OID_BYTES
        const found = bytes.readUInt32BE(at)
        const order = found === head ? compareOid(bytes, at, oid) : found - head
        if (order === 0) return offsetOf(middle)
        if (order < 0) low = middle + 1
        else high = middle
      }
      return undefined
    },

    extentAt(offset) {
      let low = 0
      let high = objects
      while (low < high) {
        const middle = (low + high) >>> 1
        if (beginning(middle) < offset) low = middle + 1
        else high = middle
      }
      if (low === objects || beginning(low) !== offset) return undefined
      const position = (keys[low * 2] as number) & 0xffffff
      return {
        at: offset,
        end: low + 1 < objects ? beginning(low + 1) : packEnd,
        crc: bytes.readUInt32BE(crcs + position * 4),
      }
    },
  }
}

/** The id whose bytes begin there, against this one. */
function compareOid(bytes: Buffer, at: number, oid: Oid): number {
  for (let i = 0; i < OID_BYTES; i++) {
    const order =
      (bytes[at + i] as number) - (hexValue(oid.charCodeAt(2 * i)) * 16 + hexValue(oid.charCodeAt(2 * i + 1)))
    if (order !== 0) return order
  }
  return 0
}

/** Of a digit or a small letter. */
const hexValue = (code: number): number => (code <= 0x39 ? code - 0x30 : code - 0x57)

/** A key is 64 bits in two words, the lower first: 40 of where an entry begins, 24 of its place among the ids. */
const beginningIn = (keys: Uint32Array, rank: number): number =>
  (keys[rank * 2 + 1] as number) * 256 + ((keys[rank * 2] as number) >>> 24)

/** Others get their turn between the parts: an index may have millions of entries. */
async function sortByOffset(
  objects: number,
  offsetOf: (position: number) => number,
  limit: number,
): Promise<Uint32Array> {
  const pause = createPauses()
  let keys = new Uint32Array(objects * 2)
  for (let from = 0; from < objects; from += SORTED_A_TURN) {
    const to = Math.min(objects, from + SORTED_A_TURN)
    for (let i = from; i < to; i++) {
      const offset = offsetOf(i)
      if (offset >= limit) throw damage('an entry beyond the end of its pack')
      keys[i * 2] = ((offset & 0xff) << 24) | i
      keys[i * 2 + 1] = Math.floor(offset / 256)
    }
    new BigUint64Array(keys.buffer, from * 8, to - from).sort()
    await pause()
  }
  for (let width = SORTED_A_TURN; width < objects; width *= 2) {
    const merged = new Uint32Array(objects * 2)
    for (let from = 0; from < objects; from += width * 2) {
      merge(keys, merged, from, Math.min(from + width, objects), Math.min(from + width * 2, objects))
      await pause()
    }
    keys = merged
  }
  return keys
}

/** Merges what is sorted from `from` to `middle` with what is from there to `to`. */
function merge(source: Uint32Array, target: Uint32Array, from: number, middle: number, to: number): void {
  let [left, right] = [from, middle]
  for (let at = from; at < to; at++) {
    const isLeft = right >= to || (left < middle && beginningIn(source, left) <= beginningIn(source, right))
    const taken = isLeft ? left++ : right++
    target[at * 2] = source[taken * 2] as number
    target[at * 2 + 1] = source[taken * 2 + 1] as number
  }
}
