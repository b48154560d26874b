// Whether two trees have the same at a path, in the way git asks it: files count, directories without any do not.

import type { Oid, TreePath } from '../../names.ts'
import { findEntry, pairEntries, type RawEntry } from '../raw-tree.ts'
import type { Reading } from './reading.ts'

/** What is on the way to a path below one tree; found once, however many it is compared with. */
export interface PathTrail {
  readonly tree: Oid
  /** What each part of the path, as far as it is known, leads to. */
  readonly entries: (RawEntry | undefined)[]
}

export function createPathSameness(path: TreePath) {
  const parts = path.split('/').map((part) => Buffer.from(part))

  /** What the first parts lead to; undefined is nothing. */
  async function at(reading: Reading, trail: PathTrail, depth: number): Promise<RawEntry | undefined> {
    while (trail.entries.length <= depth) {
      const next = trail.entries.length
      const folder = next === 0 ? trail.tree : treeOf(trail.entries[next - 1])
      const name = parts[next]
      trail.entries.push(folder && name && findEntry(await reading.tree(folder), name))
    }
    return trail.entries[depth]
  }

  return {
    trail: (tree: Oid): PathTrail => ({ tree, entries: [] }),

    async isSame(reading: Reading, a: PathTrail, b: PathTrail): Promise<boolean> {
      if (a.tree === b.tree) return true
      for (let depth = 0; depth < parts.length - 1; depth++) {
        const [left, right] = [treeOf(await at(reading, a, depth)), treeOf(await at(reading, b, depth))]
        if (left === right) return true
      }
      const last = parts.length - 1
      return isSameEntry(reading, await at(reading, a, last), await at(reading, b, last))
    },

    async isNothing(reading: Reading, trail: PathTrail): Promise<boolean> {
      return isSameEntry(reading, await at(reading, trail, parts.length - 1), undefined)
    },
  }
}

const treeOf = (entry: RawEntry | undefined): Oid | undefined =>
  entry?.mode === '040000' ? entry.oid : undefined

async function isSameEntry(
  reading: Reading,
  a: RawEntry | undefined,
  b: RawEntry | undefined,
): Promise<boolean> {
  if (a?.oid === b?.oid && a?.mode === b?.mode) return true
  const [left, right] = [treeOf(a), treeOf(b)]
  if ((a && !left) || (b && !right)) return false
  return isSameTree(reading, left, right)
}

/** Mostly the first difference is a file. */
async function isSameTree(reading: Reading, a: Oid | undefined, b: Oid | undefined): Promise<boolean> {
  const [left = NOTHING, right = NOTHING] = [a && (await reading.tree(a)), b && (await reading.tree(b))]
  for (const { was, is } of pairEntries(left, right)) if (!(await isSameEntry(reading, was, is))) return false
  return true
}

const NOTHING = Buffer.alloc(0)
