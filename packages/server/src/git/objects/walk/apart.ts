// How far many commits are from one, found in one walk over all of them: each commit on the way is read once, and marked
// with those that reach it.

import type { Oid } from '../../names.ts'
import { createDateQueue } from './date-queue.ts'
import { createReading, type ObjectBytes, unlessLeftToGit } from './reading.ts'

/** Commits that the one has and the other has not. */
interface Distance {
  ahead: number
  behind: number
}

interface Node {
  readonly oid: Oid
  readonly date: number
  readonly parents: readonly Oid[]
  /** A bit for each of those that reach it; the first is the base's. */
  marks: bigint
  isWaiting: boolean
}

interface Question {
  base: Oid
  tips: readonly Oid[]
  /** Where to give up. */
  maxCommits: number
  signal?: AbortSignal | undefined
}

const BASE = 1n

/** By tip; those are left out for which there is more to look at than is allowed. */
export async function countApart(
  objects: ObjectBytes,
  { base, tips, maxCommits, signal }: Question,
): Promise<Map<Oid, Distance>> {
  const reading = createReading(objects, { maxObjects: maxCommits, signal })
  const wanted = [...new Set(tips)]
  const markOf = new Map(wanted.map((oid, i) => [oid, BASE << BigInt(i + 1)]))
  const all = (BASE << BigInt(wanted.length + 1)) - 1n
  const nodes = new Map<Oid, Node>()
  const queue = createDateQueue<Node>()
  /** How many wait that not everybody reaches: below the others there is nothing to count. */
  let open = 0
  /** Of those that not everybody seemed to reach. What is newer may still turn out to lead there. */
  let oldest = Infinity

  async function find(oid: Oid): Promise<Node | undefined> {
    const known = nodes.get(oid)
    if (known) return known
    const links = await unlessLeftToGit(() => reading.links(oid))
    if (!links) return undefined
    const { date, parents } = links
    const node = { oid, date, parents, marks: 0n, isWaiting: false }
    nodes.set(oid, node)
    return node
  }

  function mark(node: Node, marks: bigint): void {
    const after = node.marks | marks
    if (after === node.marks) return
    const wasOpen = node.isWaiting && node.marks !== all
    node.marks = after
    open += Number(after !== all) - Number(wasOpen)
    if (!node.isWaiting) queue.put(node)
    node.isWaiting = true
  }

  function take(): Node | undefined {
    const node = queue.take()
    if (!node) return undefined
    node.isWaiting = false
    if (node.marks !== all) {
      open--
      oldest = Math.min(oldest, node.date)
    }
    return node
  }

  /** False when it would be too far to go on. */
  async function step(node: Node): Promise<boolean> {
    const parents: Node[] = []
    for (const oid of node.parents) {
      const parent = await find(oid)
      if (!parent) return false
      parents.push(parent)
    }
    for (const parent of parents) mark(parent, node.marks)
    return true
  }

  /** Those for which something below what waits may still count. */
  let unsure = 0n
  const doubt = ({ marks }: Node) => {
    unsure |= marks & BASE ? all & ~marks : marks
  }

  for (const [oid, bit] of [[base, BASE] as const, ...markOf]) {
    const node = await find(oid)
    if (node) mark(node, bit)
    else unsure |= oid === base ? all : bit
  }
  const goesOn = () => open > 0 || (queue.first()?.date ?? -1) >= oldest
  for (let left = 2 * maxCommits; unsure !== all && goesOn(); left--) {
    const node = take()
    if (!node || (left > 0 && (await step(node)))) continue
    doubt(node)
    for (let rest = take(); rest; rest = take()) doubt(rest)
  }

  const counts = [...Map.groupBy(nodes.values(), ({ marks }) => marks)].map(
    ([marks, alike]) => [marks, alike.length] as const,
  )
  const count = (holds: (marks: bigint) => boolean) =>
    counts.reduce((sum, [marks, alike]) => sum + (holds(marks) ? alike : 0), 0)
  return new Map(
    [...markOf]
      .filter(([, bit]) => !(unsure & bit))
      .map(([oid, bit]) => [
        oid,
        {
          ahead: count((marks) => (marks & bit) !== 0n && !(marks & BASE)),
          behind: count((marks) => (marks & BASE) !== 0n && !(marks & bit)),
        },
      ]),
  )
}
