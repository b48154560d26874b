import type { RefName } from '../git/names.ts'
import { createPausesInTransaction } from '../platform/pauses.ts'
import type { Tx } from '../schema.ts'
import * as refStore from './ref-store.ts'

/** So many new refs are always looked up one by one. */
const FEW = 20
/** About what looking one up costs, counted in refs that are read in a row. */
const LOOK_UP_COST = 8

/**
 * Those of the new refs that are neither a folder of another ref nor inside one, among the `stored` and among
 * themselves: a file system, and so a clone, could not hold both.
 */
export async function withoutObstacles<R extends { name: RefName }>(
  tx: Tx,
  { repoId, stored }: { repoId: string; stored: number },
  created: readonly R[],
): Promise<R[]> {
  const names = new Set<string>(created.map(({ name }) => name))
  const isInsideAnother = (name: string) => foldersOf(name).some((folder) => names.has(folder))
  const isObstructed =
    created.length <= FEW || created.length * LOOK_UP_COST <= stored
      ? lookUp(tx, repoId)
      : await readAll(tx, repoId)
  const clear: R[] = []
  const pause = createPausesInTransaction()
  // Folders come before what is in them: one that is not made obstructs nothing.
  for (const ref of created.toSorted((a, b) => a.name.length - b.name.length)) {
    if (isInsideAnother(ref.name) || (await isObstructed(ref.name))) names.delete(ref.name)
    else clear.push(ref)
    await pause()
  }
  return clear
}

type IsObstructed = (name: RefName) => boolean | Promise<boolean>

function lookUp(tx: Tx, repoId: string): IsObstructed {
  const known = new Map<RefName, boolean>()
  return async (name) => {
    for (const folder of foldersOf(name)) {
      const isRef = known.get(folder) ?? (await refStore.findRef(tx, repoId, folder)) !== undefined
      known.set(folder, isRef)
      if (isRef) return true
    }
    return (await refStore.findRefInside(tx, repoId, name)) !== undefined
  }
}

async function readAll(tx: Tx, repoId: string): Promise<IsObstructed> {
  const stored = new Set<RefName>()
  const folders = new Set<RefName>()
  const pause = createPausesInTransaction()
  for await (const name of refStore.eachRefName(tx, repoId)) {
    stored.add(name)
    for (const folder of foldersOf(name)) folders.add(folder)
    await pause()
  }
  return (name) => folders.has(name) || foldersOf(name).some((folder) => stored.has(folder))
}

/** refs/heads/a/b is in refs/heads/a, in refs/heads and in refs. */
function foldersOf(name: string): RefName[] {
  const folders: RefName[] = []
  for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1))
    folders.push(name.slice(0, slash) as RefName)
  return folders
}
