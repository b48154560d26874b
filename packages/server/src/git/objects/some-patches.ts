// Patches of some of the files that changed: a page of them, or one.

import { type Oid, parseTreePath, type TreePath } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import type { FileChange, FilePatch } from './diff.ts'
import { readPatches } from './patches.ts'

interface Wanted {
  /** Everything that changed, in the order of the paths. */
  all: readonly FileChange[]
  /** Those whose patches are wanted. */
  some: readonly FileChange[]
  context: number
  ignoreWhitespace: boolean
  maxPatchBytes: number
  maxTotalBytes: number
}

/** Of the names of files, in one command. */
const MAX_PATHS_BYTES = 64 * 1024

/** The wanted files, each with its patch, as far as the bounds go. */
export async function addSomePatches(
  repo: OpenRepo,
  from: Oid,
  to: Oid,
  { all, some, ...wanted }: Wanted,
): Promise<FilePatch[]> {
  const patches = new Map<FileChange, string>()
  let left = wanted.maxTotalBytes
  // By themselves, because git pairs files as it finds them among those it is told of: among fewer it may find others.
  for (const isRenamed of [false, true]) {
    const told = tellable(some.filter(({ status }) => (status === 'renamed') === isRenamed))
    if (told.files.size === 0 || left <= 0) continue
    const shown = isRenamed ? [...told.files] : all.filter(({ path }) => isBelow(path, told.paths))
    const read = await readPatches(repo, from, to, {
      ...wanted,
      maxTotalBytes: left,
      // A change of type is shown as a deletion and a creation, and so is a renamed file of which one side is named.
      sections: shown.map(({ status }) => (status === 'type-changed' ? 2 : 1)),
      paths: [...told.paths],
      renames: isRenamed,
    })
    for (const [i, file] of shown.entries()) {
      const patch = read[i]
      if (patch === undefined || !told.files.has(file) || !isOf(patch, file)) continue
      patches.set(file, patch)
      left -= Buffer.byteLength(patch)
    }
  }
  return some.map((file) => {
    const patch = patches.get(file)
    return patch === undefined ? file : { ...file, patch }
  })
}

/** Those that git can be told of by name. */
function tellable(files: readonly FileChange[]): {
  files: ReadonlySet<FileChange>
  paths: ReadonlySet<TreePath>
} {
  const told = new Set<FileChange>()
  const paths = new Set<TreePath>()
  let bytes = 0
  for (const file of files) {
    const names = [file.path, ...(file.from === undefined ? [] : [file.from])].map(toPath)
    bytes += Buffer.byteLength(names.join(''))
    if (bytes > MAX_PATHS_BYTES) break
    if (names.some((name) => name === undefined)) continue
    told.add(file)
    for (const name of names) if (name) paths.add(name)
  }
  return { files: told, paths }
}

/** A name that is no text was made into this one, which is that of no file. */
const toPath = (name: string): TreePath | undefined =>
  name.includes('\ufffd') ? undefined : parseTreePath(name)

/** Git takes the name of a directory for everything in it, and a file may have become one. */
function isBelow(path: string, names: ReadonlySet<string>): boolean {
  if (names.has(path)) return true
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
    if (names.has(path.slice(0, slash))) return true
  return false
}

const PLAIN = /^[ !#-[\]-~]+$/

/** Whether it begins with the names of the file, where they are written as they are. */
const isOf = (patch: string, { path, from = path }: FileChange): boolean =>
  !PLAIN.test(from + path) || patch.startsWith(`diff --git a/${from} b/${path}\n`)
