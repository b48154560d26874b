// Puts new objects into one pack with its index, in memory and without starting git. `git fast-import` took 5 to 7 ms
// for a commit of one file, needs a scratch repository, and cannot say what conflicts; hash-object, write-tree,
// commit-tree and pack-objects took 17 ms (2 cores).

import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflate, deflateSync } from 'node:zlib'
import { createPauses } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import { type ObjectType, oidOf } from './format.ts'

const compressInThread = promisify(deflate)

/** Objects to be written, each once. */
export interface ObjectSet extends Iterable<NewObject> {
  add(type: ObjectType, content: Uint8Array): Oid
}

interface NewObject {
  oid: Oid
  type: ObjectType
  content: Uint8Array
}

export function createObjectSet(): ObjectSet {
  const objects = new Map<Oid, NewObject>()
  return {
    add(type, content) {
      const oid = oidOf(type, content)
      objects.set(oid, { oid, type, content })
      return oid
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

export async function formatPack(objects: Iterable<NewObject>): Promise<PackBytes> {
  const { pack, entries, checksum } = await formatEntries([...objects])
  return { pack, idx: formatIndex(entries, checksum), objects: entries.length }
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

interface Entry {
  oid: Buffer
  offset: number
  crc: number
}

const typeNumber: Record<ObjectType, number> = { commit: 1, tree: 2, blob: 3, tag: 4 }

async function formatEntries(objects: readonly NewObject[]) {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(objects.length, 8)
  const parts: Buffer[] = [header]
  const entries: Entry[] = []
  let offset = header.length
  const pause = createPauses()
  for (const { oid, type, content } of objects) {
    await pause()
    const bytes = Buffer.concat([entryHeader(type, content.length), await compress(content)])
    entries.push({ oid: Buffer.from(oid, 'hex'), offset, crc: crc32(bytes) })
    parts.push(bytes)
    offset += bytes.length
  }
  const hash = createHash('sha1')
  for (const part of parts) hash.update(part)
  const checksum = hash.digest()
  return { pack: Buffer.concat([...parts, checksum]), entries, checksum }
}

/** Small contents here and now, since handing them to a thread takes longer; large ones without blocking. */
async function compress(content: Uint8Array): Promise<Buffer> {
  return content.length < 32 * 1024 ? deflateSync(content) : compressInThread(content)
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

/** Version 2 of the index, with 31-bit offsets: these packs hold one request's objects. */
function formatIndex(entries: readonly Entry[], packChecksum: Buffer): Buffer {
  const sorted = entries.toSorted((a, b) => Buffer.compare(a.oid, b.oid))
  if (sorted.some(({ offset }) => offset > 0x7fffffff))
    throw new Error('a pack of new objects is beyond 2 GiB')
  const numbers = (values: number[]) => {
    const buffer = Buffer.alloc(values.length * 4)
    for (const [i, value] of values.entries()) buffer.writeUInt32BE(value, i * 4)
    return buffer
  }
  const fanout = new Array<number>(256).fill(0)
  for (const { oid } of sorted) fanout[oid[0] ?? 0] = (fanout[oid[0] ?? 0] ?? 0) + 1
  for (let i = 1; i < 256; i++) fanout[i] = (fanout[i] ?? 0) + (fanout[i - 1] ?? 0)
  const body = Buffer.concat([
    Buffer.from('\xfftOc\0\0\0\x02', 'latin1'),
    numbers(fanout),
    ...sorted.map(({ oid }) => oid),
    numbers(sorted.map(({ crc }) => crc)),
    numbers(sorted.map(({ offset }) => offset)),
    packChecksum,
  ])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}
