// Which files differ between two trees, read through a process that is there anyway.

import { createPauses } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import { nameBytes, type TreeEntry } from './format.ts'
import type { ObjectReader } from './reader.ts'

const MAX_PATHS = 10_000
/** There may be hundreds of thousands in a directory. */
const ENTRIES_A_STEP = 256

/** How many entries of trees may still be read, by all that share it. */
export interface EntriesLeft {
  entries: number
}

interface Asked {
  before: Oid | null
  after: Oid
  maxTrees: number
  left?: EntriesLeft
}

interface TreeDiff {
  /** What `git diff-tree -r --name-only --no-renames` says, in its order. */
  paths: string[]
  /** The contents of files that were added or changed. */
  blobs: Oid[]
}

/** A path, and the bytes that git orders it by. */
interface OrderedPath {
  path: string
  bytes: Buffer
}

/**
 * Without a `before`, all that is in `after`. Undefined when it would take reading more than `maxTrees` trees or more than
 * is `left`, when one of them is missing, or when very many files differ. Otherwise every directory of `after` has been
 * read that is not at the same place in `before`.
 */
export async function diffTrees(
  objects: Pick<ObjectReader, 'findTree'>,
  { before, after, maxTrees, left = { entries: Number.POSITIVE_INFINITY } }: Asked,
): Promise<TreeDiff | undefined> {
  const changed: OrderedPath[] = []
  const blobs: Oid[] = []
  const pause = createPauses()
  let trees = maxTrees

  async function entriesOf(tree: Oid | undefined): Promise<Map<string, TreeEntry> | undefined> {
    if (!tree) return new Map()
    trees--
    const entries = trees < 0 || left.entries < 0 ? undefined : await objects.findTree(tree)
    if (!entries) return undefined
    left.entries -= entries.length
    // A directory and a file of one name are two things, as they are to git; two files of one name are a fault.
    const byName = new Map<string, TreeEntry>()
    for (const entry of entries) {
      byName.set(`${nameBytes(entry).toString('latin1')}${suffix(entry)}`, entry)
      if (byName.size % ENTRIES_A_STEP === 0) await pause()
    }
    return byName.size === entries.length ? byName : undefined
  }

  async function compare(old: Oid | undefined, now: Oid | undefined, folder: OrderedPath): Promise<boolean> {
    const [olds, nows] = await Promise.all([entriesOf(old), entriesOf(now)])
    if (!olds || !nows) return false
    let looked = 0
    for (const key of keysOf(olds, nows)) {
      if (++looked % ENTRIES_A_STEP === 0) await pause()
      const [was, is] = [olds.get(key), nows.get(key)]
      const entry = is ?? was
      if (!entry || (was?.oid === is?.oid && was?.mode === is?.mode)) continue
      const path = folder.path + entry.name
      const bytes = Buffer.concat([folder.bytes, nameBytes(entry)])
      if (is?.type === 'blob') blobs.push(is.oid)
      if (changed.length > MAX_PATHS) return false
      if (entry.type !== 'tree') changed.push({ path, bytes })
      else {
        const inside = { path: `${path}/`, bytes: Buffer.concat([bytes, SLASH]) }
        if (!(await compare(was?.oid, is?.oid, inside))) return false
      }
    }
    return true
  }

  if (!(await compare(before ?? undefined, after, { path: '', bytes: Buffer.alloc(0) }))) return undefined
  const paths = changed.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ path }) => path)
  return { paths, blobs }
}

/** Each once, and none of them copied: there may be hundreds of thousands. */
function* keysOf(one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): Generator<string> {
  yield* one.keys()
  for (const key of other.keys()) if (!one.has(key)) yield key
}

const SLASH = Buffer.from('/')
const suffix = ({ type }: TreeEntry) => (type === 'tree' ? '/' : '')
