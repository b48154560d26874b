// Puts new objects into one pack with its index, in memory and without starting git. `git fast-import` took 5 to 7 ms
// for a commit of one file, needs a scratch repository, and cannot say what conflicts; hash-object, write-tree,
// commit-tree and pack-objects took 17 ms (2 cores).

import { createHash, hash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflate, deflateSync } from 'node:zlib'
import { joined } from '../../platform/joined.ts'
import { createPauses } from '../../platform/pauses.ts'
import { slicesOf } from '../../platform/slices.ts'
import type { Oid } from '../names.ts'
import { type ObjectType, oidOf, oidOfLarge, parseTree, type TreeEntry } from './format.ts'

const compressInThread = promisify(deflate)

/** Objects to be written, each once. */
export interface ObjectSet extends Iterable<NewObject> {
  add(type: ObjectType, content: Uint8Array): Oid
  addLarge(type: ObjectType, content: Uint8Array): Promise<Oid>
  findTree(oid: Oid): Promise<TreeEntry[] | undefined>
}

interface NewObject {
  oid: Oid
  type: ObjectType
  content: Uint8Array
}

export function createObjectSet(): ObjectSet {
  const objects = new Map<Oid, NewObject>()
  const keep = (object: NewObject): Oid => {
    objects.set(object.oid, object)
    return object.oid
  }
  return {
    add: (type, content) => keep({ oid: oidOf(type, content), type, content }),
    addLarge: async (type, content) => keep({ oid: await oidOfLarge(type, content), type, content }),
    async findTree(oid) {
      const { type, content } = objects.get(oid) ?? {}
      return type === 'tree' && content
        ? parseTree(Buffer.from(content.buffer, content.byteOffset, content.length))
        : undefined
    },
    [Symbol.iterator]: () => objects.values(),
  }
}

/** A pack and its index, as git has them in files. */
export interface PackBytes {
  pack: Buffer
  idx: Buffer
  objects: number
}

/** One of objects that are in memory. */
export interface MadePack extends PackBytes {
  entries: readonly PackedEntry[]
}

export interface IndexedEntry {
  oid: Oid
  /** Where in the pack it begins. */
  at: number
  crc: number
}

interface PackedEntry extends NewObject, IndexedEntry {
  end: number
}

export async function formatPack(objects: Iterable<NewObject>): Promise<MadePack> {
  const { pack, entries, checksum } = await formatEntries([...objects])
  return { pack, idx: await formatIndex(entries, checksum), objects: entries.length, entries }
}

/** Writes `pack-<hash>.pack` and `.idx` below the object directory, for git to read, and gives their name. */
export async function writePack(objectsDir: string, { pack, idx }: PackBytes): Promise<string> {
  const packDir = join(objectsDir, 'pack')
  const name = `pack-${pack.toString('hex', pack.length - 20)}`
  await mkdir(packDir, { recursive: true })
  await writeFile(join(packDir, `${name}.pack`), pack, { mode: 0o444 })
  await writeFile(join(packDir, `${name}.idx`), idx, { mode: 0o444 })
  return name
}

const typeNumber: Record<ObjectType, number> = { commit: 1, tree: 2, blob: 3, tag: 4 }

/** What a pack of so many objects begins with. */
export function packHeader(objects: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(objects, 8)
  return header
}

async function formatEntries(objects: readonly NewObject[]) {
  const header = packHeader(objects.length)
  const parts: Buffer[] = [header]
  const entries: PackedEntry[] = []
  let at = header.length
  const pause = createPauses()
  const summing = createHash('sha1').update(header)
  for (const { oid, type, content } of objects) {
    const head = entryHeader(type, content.length)
    const data = await compress(type, content)
    let crc = crc32(head)
    summing.update(head)
    for (const slice of slicesOf(data)) {
      await pause()
      crc = crc32(slice, crc)
      summing.update(slice)
    }
    const end = at + head.length + data.length
    entries.push({ oid, type, content, at, end, crc })
    parts.push(head, data)
    at = end
  }
  const checksum = summing.digest()
  return { pack: await joined([...parts, checksum]), entries, checksum }
}

/** Small contents here and now, since handing them to a thread takes longer; large ones without blocking. */
async function compress(type: ObjectType, content: Uint8Array): Promise<Buffer> {
  if (content.length <= STORED_BYTES[type]) return storeAsIs(content)
  if (content.length >= 32 * 1024) return compressInThread(content)
  return deflateSync(content, content.length <= SMALL_BYTES ? SMALL : {})
}

/**
 * To compress a commit or a small folder takes fifteen times as long as to write it down as it is, and would save some
 * hundred bytes of a file that takes a block of the disk however short it is. Most of a folder is ids, which hardly get
 * shorter.
 */
const STORED_BYTES: Record<ObjectType, number> = { commit: 512, tree: 2048, blob: 512, tag: 512 }
/** To set up what a large content needs takes longer than to compress a small one; the outcome is the same. */
const SMALL_BYTES = 4096
const SMALL = { windowBits: 12, memLevel: 4 }

/** One block of zlib's format (RFC 1950, 1951) that is stored: its head, the length and its complement, a checksum. */
function storeAsIs(content: Uint8Array): Buffer {
  const { length } = content
  const stored = Buffer.allocUnsafe(length + 11)
  stored.writeUInt16BE(0x7801, 0)
  stored.writeUInt8(1, 2)
  stored.writeUInt16LE(length, 3)
  stored.writeUInt16LE(length ^ 0xffff, 5)
  stored.set(content, 7)
  stored.writeUInt32BE(adler32(content), 7 + length)
  return stored
}

/** Of so few bytes that no sum outgrows a number. */
function adler32(bytes: Uint8Array): number {
  let [sum, sumOfSums] = [1, 0]
  for (const byte of bytes) {
    sum += byte
    sumOfSums += sum
  }
  return (sumOfSums % 65521) * 65536 + (sum % 65521)
}

/** Type and size: four bits of the size with the type, then seven bits a byte. */
function entryHeader(type: ObjectType, size: number): Buffer {
  const bytes = [(typeNumber[type] << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(rest & 0x7f)
  }
  return Buffer.from(bytes)
}

const FANOUT = 8
const NAMES = FANOUT + 256 * 4
const OID_BYTES = 20
const ENTRIES_A_STEP = 256

/** Version 2 of the index, with 31-bit offsets: these packs hold one request's objects. */
export async function formatIndex(entries: readonly IndexedEntry[], packChecksum: Buffer): Promise<Buffer> {
  const pause = createPauses()
  const sorted = entries.toSorted((a, b) => (a.oid < b.oid ? -1 : 1))
  if (sorted.some(({ at }) => at > 0x7fffffff)) throw new Error('a pack of new objects is beyond 2 GiB')
  const crcs = NAMES + sorted.length * OID_BYTES
  const offsets = crcs + sorted.length * 4
  const end = offsets + sorted.length * 4
  const index = Buffer.allocUnsafe(end + 2 * OID_BYTES)
  index.write('\xfftOc\0\0\0\x02', 'latin1')
  let before = 0
  for (let first = 0; first < 256; first++) {
    while (before < sorted.length && firstByte(sorted[before]?.oid as Oid) <= first) before++
    index.writeUInt32BE(before, FANOUT + first * 4)
  }
  for (const [i, { oid, crc, at }] of sorted.entries()) {
    if (i % ENTRIES_A_STEP === 0) await pause()
    index.write(oid, NAMES + i * OID_BYTES, 'hex')
    index.writeUInt32BE(crc, crcs + i * 4)
    index.writeUInt32BE(at, offsets + i * 4)
  }
  packChecksum.copy(index, end)
  const body = index.subarray(0, end + OID_BYTES)
  hash('sha1', body, 'buffer').copy(index, end + OID_BYTES)
  return index
}

const firstByte = (oid: Oid): number => Number.parseInt(oid.slice(0, 2), 16)
