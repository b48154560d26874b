import type { Oid } from '../../names.ts'
import type { Reading } from './reading.ts'

/** A commit, as far as a walk has seen it. Until it has been read its date and its parents are not known. */
export interface Node {
  readonly oid: Oid
  isRead: boolean
  date: number
  parents: readonly Node[]
  /** What the walk says of it, as bits. */
  marks: number
  /** How often it waits in a queue. */
  waiting: number
}

/** The commits of one walk. Which of them have been read matters to git's answers, so each walk has its own. */
export function createGraph(reading: Reading) {
  const nodes = new Map<Oid, Node>()

  function node(oid: Oid): Node {
    const known = nodes.get(oid)
    if (known) return known
    const added = { oid, isRead: false, date: 0, parents: [], marks: 0, waiting: 0 }
    nodes.set(oid, added)
    return added
  }

  return {
    async read(oid: Oid): Promise<Node> {
      const found = node(oid)
      if (found.isRead) return found
      const { date, parents } = await reading.links(oid)
      found.date = date
      found.parents = parents.map(node)
      found.isRead = true
      return found
    },

    clearMarks(): void {
      for (const known of nodes.values()) known.marks = 0
    },
  }
}

export type Graph = ReturnType<typeof createGraph>
