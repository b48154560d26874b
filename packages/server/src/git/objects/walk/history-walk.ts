import type { Oid, TreePath } from '../../names.ts'
import { createDateQueue } from './date-queue.ts'
import type { Links } from './links.ts'
import { createPathSameness, type PathTrail } from './path-sameness.ts'
import type { Reading } from './reading.ts'

/** A commit whose turn comes. */
interface Waiting {
  oid: Oid
  date: number
  links: Links
  trail: PathTrail | undefined
}

/** History from a commit down, newest first, as far as somebody wanted to know. */
export interface HistoryWalk {
  /** What has been listed so far. */
  readonly listed: readonly Oid[]
  /** Nothing more comes. */
  readonly isOver: boolean
  /** How many commits are remembered. */
  readonly size: number
  /** Goes on until so many are listed. After a failure it is of no use any more. */
  advance(reading: Reading, count: number): Promise<void>
}

/** With a path, only commits that changed it; where one side of a merge has all of it, only that side is followed. */
export function createHistoryWalk(from: Oid, path: TreePath | undefined): HistoryWalk {
  const listed: Oid[] = []
  const seen = new Set<Oid>()
  const queue = createDateQueue<Waiting>()
  const sameness = path && createPathSameness(path)
  let hasBegun = false

  async function look(reading: Reading, oid: Oid): Promise<Waiting> {
    const links = await reading.links(oid)
    return { oid, date: links.date, links, trail: sameness?.trail(links.tree) }
  }

  function put(commit: Waiting): void {
    if (seen.has(commit.oid)) return
    seen.add(commit.oid)
    queue.put(commit)
  }

  async function step(reading: Reading, commit: Waiting): Promise<void> {
    const parents: Waiting[] = []
    for (const oid of commit.links.parents) {
      if (!sameness && seen.has(oid)) continue
      const parent = await look(reading, oid)
      if (await isSame(reading, commit, parent)) return put(parent)
      parents.push(parent)
    }
    const isRoot = commit.links.parents.length === 0
    if (!(isRoot && (await isNothing(reading, commit)))) listed.push(commit.oid)
    for (const parent of parents) put(parent)
  }

  const isSame = async (reading: Reading, { trail: a }: Waiting, { trail: b }: Waiting) =>
    a && b && sameness ? sameness.isSame(reading, a, b) : false

  const isNothing = async (reading: Reading, { trail }: Waiting) =>
    trail && sameness ? sameness.isNothing(reading, trail) : false

  return {
    listed,
    get isOver() {
      return hasBegun && queue.size === 0
    },
    get size() {
      return seen.size
    },
    async advance(reading, count) {
      if (!hasBegun) put(await look(reading, from))
      hasBegun = true
      while (listed.length < count) {
        const commit = queue.take()
        if (!commit) return
        await step(reading, commit)
      }
    },
  }
}
