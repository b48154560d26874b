// For tests: packs and their indexes made byte by byte, right or wrong as one likes.

import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import type { Oid } from '../git/names.ts'
import type { OpenPack } from '../git/packs/pack-store.ts'

export interface RawEntry {
  oid: Oid
  /** With its header. */
  bytes: Buffer
}

const KINDS = { commit: 1, tree: 2, blob: 3, tag: 4, ofs: 6, ref: 7 } as const

/** The header of an entry, with what its content is said to inflate to. */
export function entryHeader(kind: keyof typeof KINDS, size: number): Buffer {
  const bytes = [(KINDS[kind] << 4) | (size % 16)]
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(left % 128)
  }
  return Buffer.from(bytes)
}

export const wholeEntry = (kind: 'commit' | 'tree' | 'blob' | 'tag', content: Uint8Array): Buffer =>
  Buffer.concat([entryHeader(kind, content.length), deflateSync(content)])

/** A difference to what begins so many bytes before. */
export function ofsEntry(distance: number, delta: Uint8Array, size = delta.length): Buffer {
  const bytes = [distance % 128]
  for (let left = Math.floor(distance / 128); left > 0; left = Math.floor(left / 128)) {
    left--
    bytes.unshift((left % 128) | 0x80)
  }
  return Buffer.concat([entryHeader('ofs', size), Buffer.from(bytes), deflateSync(delta)])
}

export const refEntry = (base: Oid, delta: Uint8Array, size = delta.length): Buffer =>
  Buffer.concat([entryHeader('ref', size), Buffer.from(base, 'hex'), deflateSync(delta)])

/** A size as differences have it. */
export function deltaSize(size: number): number[] {
  const bytes = [size % 128]
  for (let left = Math.floor(size / 128); left > 0; left = Math.floor(left / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(left % 128)
  }
  return bytes
}

const sha1 = (...parts: Uint8Array[]) => {
  const hash = createHash('sha1')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function formatRawPack(entries: readonly RawEntry[]): { pack: Buffer; idx: Buffer } {
  const body = Buffer.concat([
    Buffer.from('PACK'),
    word(2),
    word(entries.length),
    ...entries.map(({ bytes }) => bytes),
  ])
  const pack = Buffer.concat([body, sha1(body)])
  let at = 12
  const placed = entries.map(({ oid, bytes }) => {
    const offset = at
    at += bytes.length
    return { oid, crc: crc32(bytes), offset }
  })
  return { pack, idx: formatRawIndex(placed, pack.subarray(-20)) }
}

/** Version 2; what begins at 2 GB or later stands in a table of its own. */
export function formatRawIndex(
  placed: readonly { oid: Oid; crc: number; offset: number }[],
  packChecksum: Uint8Array,
): Buffer {
  const sorted = placed.toSorted((a, b) => (a.oid < b.oid ? -1 : 1))
  const count = sorted.length
  const large = sorted.filter(({ offset }) => offset >= 2 ** 31)
  const [names, crcs, offsets] = [1032, 1032 + count * 20, 1032 + count * 24]
  const larger = offsets + count * 4
  const body = Buffer.alloc(larger + large.length * 8 + 20)
  body.writeUInt32BE(0xff744f63, 0)
  body.writeUInt32BE(2, 4)
  const firsts = new Array<number>(256).fill(0)
  let nextLarge = 0
  for (const [i, { oid, crc, offset }] of sorted.entries()) {
    body.write(oid, names + i * 20, 'hex')
    body.writeUInt32BE(crc, crcs + i * 4)
    body.writeUInt32BE(offset < 2 ** 31 ? offset : 2 ** 31 + nextLarge++, offsets + i * 4)
    const first = body[names + i * 20] ?? 0
    firsts[first] = (firsts[first] ?? 0) + 1
  }
  for (let first = 0, sum = 0; first < 256; first++) {
    sum += firsts[first] ?? 0
    body.writeUInt32BE(sum, 8 + first * 4)
  }
  for (const [i, { offset }] of large.entries()) body.writeBigUInt64BE(BigInt(offset), larger + i * 8)
  body.set(packChecksum, larger + large.length * 8)
  return Buffer.concat([body, sha1(body)])
}

/** A pack that is in no store. */
export const openRawPack = ({ pack, idx }: { pack: Uint8Array; idx: Uint8Array }): OpenPack => ({
  bytes: pack.length,
  indexBytes: idx.length,
  read: async (at, length) => Buffer.from(pack.subarray(at, at + length)),
  readIndex: async () => Buffer.from(idx),
  close: async () => {},
})

/** Puts a pack where git and `adopt` find it. */
export function placePack(objectsDir: string, { pack, idx }: { pack: Uint8Array; idx: Uint8Array }): void {
  mkdirSync(join(objectsDir, 'pack'), { recursive: true })
  writeFileSync(join(objectsDir, 'pack/pack-test.pack'), pack)
  writeFileSync(join(objectsDir, 'pack/pack-test.idx'), idx)
}
