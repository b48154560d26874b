// The paths of all files below a tree, in git's order.

import { EMPTY_TREE_OID, type Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import { splitNul } from './nul-fields.ts'
import { readEntries } from './raw-tree.ts'
import type { ObjectReader } from './reader.ts'
import { createReading, type Reading, unlessLeftToGit } from './walk/reading.ts'

export interface FileList {
  paths: readonly string[]
  /** There are more. */
  truncated: boolean
}

/** With more directories than this git is faster. */
const MAX_TREES = 1_000
const MAX_FILES = 200_000
const MAX_BYTES = 48 * 1024 * 1024

/** Undefined where git shall answer. Without what is another repository. */
export async function findFiles(
  objects: ObjectReader,
  tree: Oid,
  signal?: AbortSignal,
): Promise<FileList | undefined> {
  return unlessLeftToGit(async () => {
    const reading = createReading(objects, { maxObjects: MAX_TREES, signal })
    const paths: string[] = []
    await addFiles(reading, tree, '', paths)
    return { paths, truncated: false }
  })
}

async function addFiles(reading: Reading, tree: Oid, folder: string, paths: string[]): Promise<void> {
  for (const { name, mode, oid } of readEntries(await reading.tree(tree))) {
    const path = folder + name.toString('utf8')
    if (mode === '040000') await addFiles(reading, oid, `${path}/`, paths)
    else if (mode !== '160000') paths.push(path)
  }
}

/** As git tells it, for what is large. */
export async function listFiles(repo: OpenRepo, tree: Oid): Promise<FileList> {
  if (tree === EMPTY_TREE_OID) return { paths: [], truncated: false }
  const { stdout, truncated } = await repo.run({
    verb: 'ls-tree',
    options: ['-r', '-z', '--full-tree'],
    values: [tree],
    work: 'compare',
    maxBytes: MAX_BYTES,
    truncate: true,
  })
  const paths: string[] = []
  for (const entry of splitNul(stdout)) {
    if (entry[0] === SUBMODULE[0] && entry[1] === SUBMODULE[1]) continue
    if (paths.length === MAX_FILES) return { paths, truncated: true }
    paths.push(entry.toString('utf8', entry.indexOf(TAB) + 1))
  }
  return { paths, truncated }
}

/** The first digits of its mode. */
const SUBMODULE = Buffer.from('16')
const TAB = 0x09
