// The objects of a small pack, read without git. What it may take is bounded before it is taken: a few bytes can inflate
// to many, and differences of differences to more.

import { hash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { createPauses } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import { type ObjectType, oidOf } from '../objects/format.ts'
import { applyDelta, readDeltaSizes } from './delta.ts'
import { readEntryHeader } from './pack-entry.ts'
import { Unusual } from './unusual.ts'

const MAX_OBJECTS = 500
const MAX_OBJECT_BYTES = 512 * 1024
/** Of all that is inflated, and again of all that differences make and are made to. */
const MAX_TOTAL_BYTES = 2 * 1024 * 1024
const HEADER_BYTES = 12
const ID_BYTES = 20
/** Zlib asks for so much room at least. */
const LEAST_CHUNK = 64

export interface PackedObject {
  oid: Oid
  type: ObjectType
  content: Buffer
}

type Content = Pick<PackedObject, 'type' | 'content'>

/**
 * All objects of a pack, each once, with what they are differences to from `findBase` where it is not in the pack.
 * Undefined when not all of it is surely understood.
 */
export async function readSmallPack(
  pack: Buffer,
  findBase: (oid: Oid) => Promise<Content | undefined>,
): Promise<PackedObject[] | undefined> {
  try {
    const entries = await readEntries(pack)
    return await resolve(entries, findBase)
  } catch (error) {
    if (error instanceof Unusual) return undefined
    throw error
  }
}

interface Entry {
  at: number
  /** Undefined for a difference. */
  type: ObjectType | undefined
  base: number | Oid | undefined
  content: Buffer
}

async function readEntries(pack: Buffer): Promise<Entry[]> {
  const end = pack.length - ID_BYTES
  require(end >= HEADER_BYTES && pack.toString('latin1', 0, 8) === 'PACK\0\0\0\x02')
  const count = pack.readUInt32BE(8)
  require(count <= MAX_OBJECTS)
  require(hash('sha1', pack.subarray(0, end), 'buffer').equals(pack.subarray(end)))
  const entries: Entry[] = []
  const pause = createPauses()
  let room = MAX_TOTAL_BYTES
  let at = HEADER_BYTES
  for (let i = 0; i < count; i++) {
    await pause()
    const { size, dataAt, type, base } = readEntryHeader(pack.subarray(at, end), at)
    require(size <= MAX_OBJECT_BYTES)
    room -= size
    require(room >= 0)
    const inflated = inflate(pack.subarray(at + dataAt, end), size)
    entries.push({ at, type, base, content: inflated.content })
    at += dataAt + inflated.taken
  }
  require(at === end)
  return entries
}

/** Exactly so many bytes, and how many they were inflated from. */
function inflate(bytes: Buffer, size: number): { content: Buffer; taken: number } {
  try {
    // With `info` it gives its engine as well, which has counted what it took.
    const room = { maxOutputLength: size + 1, chunkSize: Math.max(size + 1, LEAST_CHUNK) }
    const { buffer, engine } = inflateSync(bytes, { info: true, ...room }) as unknown as {
      buffer: Buffer
      engine: { bytesWritten: number }
    }
    require(buffer.length === size)
    return { content: buffer, taken: engine.bytesWritten }
  } catch {
    throw new Unusual('a pack for git')
  }
}

async function resolve(
  entries: readonly Entry[],
  findBase: (oid: Oid) => Promise<Content | undefined>,
): Promise<PackedObject[]> {
  const objects: PackedObject[] = []
  const byPlace = new Map<number, Content>()
  const byOid = new Map<Oid, Content>()
  const pause = createPauses()
  let room = MAX_TOTAL_BYTES

  function keep({ at }: Entry, { type, content }: Content): void {
    const oid = oidOf(type, content)
    // Git has its own view of a pack that holds an object twice.
    require(!byOid.has(oid))
    objects.push({ oid, type, content })
    byPlace.set(at, { type, content })
    byOid.set(oid, { type, content })
  }

  for (const entry of entries) {
    await pause()
    if (entry.type) keep(entry, { type: entry.type, content: entry.content })
  }
  let left = entries.filter(({ type }) => !type)
  while (left.length > 0) {
    const unresolved: Entry[] = []
    for (const entry of left) {
      await pause()
      const base = typeof entry.base === 'number' ? byPlace.get(entry.base) : byOid.get(entry.base as Oid)
      if (base) {
        const content = resolveDelta(base.content, entry.content, room)
        room -= content.length
        keep(entry, { type: base.type, content })
      } else unresolved.push(entry)
    }
    // Nothing in the pack leads on, so one that is a difference to what is elsewhere has to.
    const outside = unresolved.find(({ base }) => typeof base === 'string')
    if (unresolved.length === left.length) {
      require(outside !== undefined)
      const oid = outside?.base as Oid
      const base = await findBase(oid)
      if (!base) throw new Unusual('a pack for git')
      room -= base.content.length
      require(room >= 0)
      byOid.set(oid, base)
    }
    left = unresolved
  }
  return objects
}

function resolveDelta(base: Buffer, delta: Buffer, room: number): Buffer {
  require(readDeltaSizes(delta).result <= Math.min(room, MAX_OBJECT_BYTES))
  return applyDelta(base, delta)
}

function require(condition: boolean): asserts condition {
  if (!condition) throw new Unusual('a pack for git')
}
