// Common ancestors, found as git finds them: both histories are painted, newest commits first, until only what is
// below a common ancestor is left.

import type { Oid } from '../../names.ts'
import { createDateQueue } from './date-queue.ts'
import type { Graph, Node } from './graph.ts'

const ONE = 1
const OTHER = 2
const BOTH = ONE | OTHER
/** Below a common ancestor, so none of the best. */
const STALE = 4
const FOUND = 8

/** Common ancestors, the best among them. What is not marked stale may be below another all the same. */
async function paint(graph: Graph, one: Node, others: readonly Node[]): Promise<Node[]> {
  const queue = createDateQueue<Node>()
  const found: Node[] = []
  /** How many in the queue are not stale. */
  let fresh = 0

  function put(node: Node, marks: number): void {
    const wasStale = (node.marks & STALE) !== 0
    node.marks |= marks
    if (!wasStale && node.marks & STALE) fresh -= node.waiting
    node.waiting++
    if (!(node.marks & STALE)) fresh++
    queue.put(node)
  }

  put(one, ONE)
  for (const other of others) put(other, OTHER)
  while (fresh > 0) {
    const node = queue.take()
    if (!node) break
    node.waiting--
    if (!(node.marks & STALE)) fresh--
    let marks = node.marks & (BOTH | STALE)
    if (marks === BOTH) {
      if (!(node.marks & FOUND)) found.push(node)
      node.marks |= FOUND
      marks |= STALE
    }
    for (const parent of node.parents) {
      if ((parent.marks & marks) === marks) continue
      put(await graph.read(parent.oid), marks)
    }
  }
  for (let node = queue.take(); node; node = queue.take()) node.waiting = 0
  return found
}

export async function isAncestor(graph: Graph, ancestor: Oid, of: Oid): Promise<boolean> {
  const [one, other] = [await graph.read(ancestor), await graph.read(of)]
  await paint(graph, one, [other])
  return (one.marks & OTHER) !== 0
}

/** The best common ancestors, newest first. */
export async function findMergeBases(graph: Graph, a: Oid, b: Oid): Promise<Oid[]> {
  const [one, other] = [await graph.read(a), await graph.read(b)]
  if (one === other) return [a]
  const found = byDate(await paint(graph, one, [other])).filter(({ marks }) => !(marks & STALE))
  graph.clearMarks()
  if (found.length <= 1) return found.map(({ oid }) => oid)
  const best = await withoutAncestors(graph, found)
  return byDate(best).map(({ oid }) => oid)
}

/** Those that are not below another. */
async function withoutAncestors(graph: Graph, nodes: readonly Node[]): Promise<Node[]> {
  const below = new Set<Node>()
  for (const one of nodes) {
    if (below.has(one)) continue
    const others = nodes.filter((other) => other !== one && !below.has(other))
    await paint(graph, one, others)
    if (one.marks & OTHER) below.add(one)
    for (const other of others) if (other.marks & ONE) below.add(other)
    graph.clearMarks()
  }
  return nodes.filter((node) => !below.has(node))
}

/** Those of one date stay as they are. */
const byDate = (nodes: readonly Node[]) => nodes.toSorted((a, b) => b.date - a.date)
