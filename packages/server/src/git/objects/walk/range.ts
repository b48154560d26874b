// What some commits reach and others do not, found as git finds it, with what it gets wrong where dates lie.

import type { Oid } from '../../names.ts'
import { findMergeBases } from './ancestry.ts'
import { createDateQueue } from './date-queue.ts'
import { createGraph, type Graph, type Node } from './graph.ts'
import type { Reading } from './reading.ts'

const SEEN = 1
const LEFT_OUT = 2
const LEFT_SIDE = 4

/** How many commits git looks further when it seems that nothing more will come. */
const SLOP = 5

interface Start {
  oid: Oid
  marks: number
}

/** What `head` reaches and `base` does not, newest first. */
export async function listBetween(reading: Reading, base: Oid, head: Oid): Promise<Oid[]> {
  const starts = [
    { oid: head, marks: 0 },
    { oid: base, marks: LEFT_OUT },
  ]
  return (await listRange(createGraph(reading), starts)).map(({ oid }) => oid)
}

/** How many commits `head` has that `base` has not, and the other way round. */
export async function countAheadBehind(
  reading: Reading,
  base: Oid,
  head: Oid,
): Promise<{ ahead: number; behind: number }> {
  const graph = createGraph(reading)
  const shared = await findMergeBases(graph, base, head)
  const nodes = await listRange(graph, [
    ...shared.map((oid) => ({ oid, marks: LEFT_OUT })),
    { oid: base, marks: LEFT_SIDE },
    { oid: head, marks: 0 },
  ])
  const behind = nodes.filter(({ marks }) => marks & LEFT_SIDE).length
  return { ahead: nodes.length - behind, behind }
}

async function listRange(graph: Graph, starts: readonly Start[]): Promise<Node[]> {
  const queue = createDateQueue<Node>()
  /** How many in the queue are wanted. */
  let wanted = 0

  function put(node: Node): void {
    if (node.marks & SEEN) return
    node.marks |= SEEN
    node.waiting = 1
    if (!(node.marks & LEFT_OUT)) wanted++
    queue.put(node)
  }

  function leaveOut(node: Node): void {
    if (node.marks & LEFT_OUT) return
    node.marks |= LEFT_OUT
    wanted -= node.waiting
  }

  /** And what is known to be below them: they may have been read before it was known that they are not wanted. */
  function leaveOutParents({ parents }: Node): void {
    const pending = [...parents]
    for (let node = pending.pop(); node; node = pending.pop()) {
      if (node.marks & LEFT_OUT) continue
      leaveOut(node)
      pending.push(...node.parents)
    }
  }

  const begun: Node[] = []
  for (const { oid, marks } of starts) {
    const node = await graph.read(oid)
    node.marks |= marks
    begun.push(node)
  }
  for (const node of begun) {
    if (node.marks & LEFT_OUT) leaveOutParents(node)
    put(node)
  }

  const listed: Node[] = []
  let oldest = Infinity
  let slop = SLOP
  for (let node = queue.take(); node; node = queue.take()) {
    node.waiting = 0
    const isLeftOut = (node.marks & LEFT_OUT) !== 0
    if (!isLeftOut) wanted--
    for (const { oid } of node.parents) {
      const parent = await graph.read(oid)
      if (isLeftOut) {
        leaveOut(parent)
        leaveOutParents(parent)
      } else parent.marks |= node.marks & LEFT_SIDE
      put(parent)
    }
    if (!isLeftOut) {
      oldest = node.date
      listed.push(node)
      continue
    }
    const next = queue.first()
    if (!next) break
    slop = oldest <= next.date || wanted > 0 ? SLOP : slop - 1
    if (slop === 0) break
  }
  return listed.filter(({ marks }) => !(marks & LEFT_OUT))
}
