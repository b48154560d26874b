import { createPauses } from '../../../platform/pauses.ts'
import { EMPTY_TREE_OID, type Oid } from '../../names.ts'
import { MalformedTree } from '../raw-tree.ts'
import { type ObjectReader, ObjectTooLarge } from '../reader.ts'
import { type Links, parseLinks } from './links.ts'

/** All that a walk needs of a reader. */
export type ObjectBytes = Pick<ObjectReader, 'findBytes'>

/** What a walk may take before it is left to git, which is faster on a long way. */
interface Bounds {
  maxObjects: number
  signal?: AbortSignal | undefined
}

/** What walks read. Everything may be asked for more than once. */
export interface Reading {
  links(oid: Oid): Promise<Links>
  tree(oid: Oid): Promise<Buffer>
}

/** It would be too far to go, or something on the way is not as usual: git shall answer. */
export class LeftToGit extends Error {
  override readonly name = 'LeftToGit'
}

/** Looking through one takes a few milliseconds. */
const MAX_TREE_BYTES = 1024 * 1024
/** Of a page. Past it git does better, beside everybody else: eight who read 32 MiB each made others wait six times as long. */
const MAX_TREES_BYTES = 4 * 1024 * 1024

export function createReading(objects: ObjectBytes, { maxObjects, signal }: Bounds): Reading {
  const known = new Map<Oid, Links>()
  const pause = createPauses()
  let left = maxObjects
  let leftBytes = MAX_TREES_BYTES

  async function rest(): Promise<void> {
    await pause()
    signal?.throwIfAborted()
  }

  async function read(oid: Oid, type: 'commit' | 'tree'): Promise<Buffer> {
    if (--left < 0) throw new LeftToGit('too many objects')
    const bytes = await objects.findBytes(oid, type)
    // Git says best what is wrong with it.
    if (!bytes) throw new LeftToGit(`no ${type} ${oid}`)
    return bytes
  }

  return {
    async links(oid) {
      await rest()
      const before = known.get(oid)
      if (before) return before
      const links = parseLinks(await read(oid, 'commit'))
      if (!links) throw new LeftToGit(`an odd commit ${oid}`)
      known.set(oid, links)
      return links
    },

    async tree(oid) {
      // Git knows it, stored or not.
      if (oid === EMPTY_TREE_OID) return Buffer.alloc(0)
      await rest()
      const bytes = await read(oid, 'tree')
      leftBytes -= bytes.length
      if (leftBytes < 0 || bytes.length > MAX_TREE_BYTES) throw new LeftToGit('too large trees')
      return bytes
    },
  }
}

/** Undefined where git shall answer. */
export async function unlessLeftToGit<T>(walk: () => Promise<T>): Promise<T | undefined> {
  try {
    return await walk()
  } catch (error) {
    if ([LeftToGit, ObjectTooLarge, MalformedTree].some((kind) => error instanceof kind)) return undefined
    throw error
  }
}
