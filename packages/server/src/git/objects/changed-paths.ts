// Which paths a branch that moved changes, as git tells them.

import { EMPTY_TREE_OID, type Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'

export interface ChangedPaths {
  /** In git's order. */
  changedPaths: string[]
  pathsTruncated: boolean
}

const MAX_PATH_BYTES = 1024 * 1024
/** Of several trees together. */
const MAX_LISTING_BYTES = 8 * 1024 * 1024

/** Between two commits or trees. */
export async function listChangedPaths(
  repo: OpenRepo,
  { from, to, maxPaths }: { from: Oid; to: Oid; maxPaths: number },
): Promise<ChangedPaths> {
  const { stdout, truncated } = await repo.run({
    verb: 'diff-tree',
    options: ['-r', '-z', '--name-only', '--no-renames'],
    values: [from, to],
    maxBytes: MAX_PATH_BYTES,
    truncate: true,
  })
  // Each path ends with a NUL; after the last one comes nothing, or a path that was cut.
  const paths = stdout.toString('utf8').split('\0').slice(0, -1)
  return { changedPaths: paths.slice(0, maxPaths), pathsTruncated: truncated || paths.length > maxPaths }
}

/**
 * All that is in each of these trees, as against nothing, by one process. Those are missing of which nothing is known,
 * because what came before was long.
 */
export async function listPathsOfTrees(
  repo: OpenRepo,
  trees: readonly Oid[],
  maxPaths: number,
): Promise<Map<Oid, ChangedPaths>> {
  const distinct = [...new Set(trees)]
  if (distinct.length === 0) return new Map()
  const { stdout, truncated } = await repo.run({
    verb: 'diff-tree',
    // With the kind of each change: what begins with a capital letter is one, and all else the next two trees.
    options: ['--stdin', '-r', '-z', '--name-status', '--no-renames'],
    stdin: distinct.map((tree) => `${EMPTY_TREE_OID} ${tree}\n`).join(''),
    maxBytes: MAX_LISTING_BYTES,
    truncate: true,
  })
  const known = new Map<Oid, ChangedPaths>()
  let listed: ChangedPaths = { changedPaths: [], pathsTruncated: false }
  let at = 0
  for (const tree of distinct) {
    const heading = `${EMPTY_TREE_OID} ${tree}\n`
    const body = at + heading.length
    if (stdout.toString('latin1', at, body) !== heading) break
    listed = { changedPaths: [], pathsTruncated: false }
    at = body
    while (isCapital(stdout[at])) {
      const path = stdout.indexOf(0, at) + 1
      const end = path > 0 ? stdout.indexOf(0, path) : -1
      if (end < 0) break
      if (listed.changedPaths.length < maxPaths) listed.changedPaths.push(stdout.toString('utf8', path, end))
      else listed.pathsTruncated = true
      at = end + 1
    }
    known.set(tree, listed)
  }
  // Of the last nobody can say whether it was all.
  const last = truncated && !listed.pathsTruncated && [...known.keys()].at(-1)
  if (last) known.delete(last)
  return known
}

const isCapital = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x41 && byte <= 0x5a
