import type { Oid } from '../../names.ts'
import { findMergeBases, isAncestor } from './ancestry.ts'
import { createGraph } from './graph.ts'
import { countAheadBehind, listBetween } from './range.ts'
import { createReading, type ObjectBytes, unlessLeftToGit } from './reading.ts'

/** Further than this git is faster, which may have an index of commits. */
const MAX_COMMITS = 20_000

/** Questions about commits and their ancestors, answered from objects. Each gives undefined where git shall answer. */
export function createWalks(objects: ObjectBytes, signal?: AbortSignal, maxCommits = MAX_COMMITS) {
  const reading = createReading(objects, { maxObjects: maxCommits, signal })
  return {
    isAncestor: (ancestor: Oid, of: Oid) =>
      unlessLeftToGit(() => isAncestor(createGraph(reading), ancestor, of)),
    findMergeBases: (a: Oid, b: Oid) => unlessLeftToGit(() => findMergeBases(createGraph(reading), a, b)),
    countAheadBehind: (base: Oid, head: Oid) => unlessLeftToGit(() => countAheadBehind(reading, base, head)),
    listBetween: (base: Oid, head: Oid) => unlessLeftToGit(() => listBetween(reading, base, head)),
  }
}
