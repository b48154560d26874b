// Makes commits and tags without a checkout. Everything new goes into one pack in memory; whoever keeps it decides
// whether anything refers to it.

import { resolve } from 'node:path'
import { createPauses } from '../../platform/pauses.ts'
import {
  EMPTY_TREE_OID,
  type FilePath,
  type Oid,
  parseFilePath,
  parseTreePath,
  type TagName,
  type TreePath,
} from '../names.ts'
import { GitError, type OpenRepo } from '../process/command.ts'
import type { ChangedPaths } from './changed-paths.ts'
import { formatCommit, formatTag, type GitPerson, type Tag } from './format.ts'
import { createObjectSet, formatPack, type ObjectSet, type PackBytes, writePack } from './pack-writer.ts'
import type { ObjectReader } from './reader.ts'
import { diffTrees } from './tree-diff.ts'
import { type EditOptions, EditTooLarge, editTree, InvalidTree, type TreeEditor } from './tree-editor.ts'

/** A file, an executable file, a symbolic link. */
export type FileMode = '100644' | '100755' | '120000'

/** Applied in the order given. Paths are checked here, whoever they come from. */
export type Change =
  /** Without a mode an executable file stays one. */
  | { op: 'put'; path: string; bytes: Uint8Array; mode?: FileMode }
  | { op: 'delete'; path: string }
  | { op: 'move'; from: string; to: string }

interface NewCommit {
  parent?: Oid
  changes: readonly Change[]
  author: GitPerson
  committer: GitPerson
  message: string
}

type CommitResult =
  | {
      unchanged: false
      commit: Oid
      tree: Oid
      pack: PackBytes
      paths: ChangedPaths
      /** One of the changes may be to a submodule file: then only `checkSubmodules` can say that all is well. */
      submodulesFile: TreePath | undefined
    }
  /** The tree equals the parent's; nothing was written. */
  | { unchanged: true; tree: Oid }

/** The parent is not a commit of this repository. */
export class InvalidParent extends Error {
  override readonly name = 'InvalidParent'
  readonly oid: Oid
  constructor(oid: Oid) {
    super('the parent is not a commit of this repository')
    this.oid = oid
  }
}

/** Upon a parent it takes a reader of the objects there. Throws InvalidTree, EditTooLarge and InvalidParent. */
export async function makeCommit(
  wanted: NewCommit,
  reader?: Pick<ObjectReader, 'findCommit' | 'findTree'>,
  options?: EditOptions,
): Promise<CommitResult> {
  const { parent, author, committer, message } = wanted
  const { changes, submodulesFile } = await checkChanges(wanted.changes)
  const objects = createObjectSet()
  const base = parent ? (await reader?.findCommit(parent))?.tree : EMPTY_TREE_OID
  if (parent && !base) throw new InvalidParent(parent)
  const editor = await editTree(base ?? EMPTY_TREE_OID, async (oid) => reader?.findTree(oid), options)
  const put = await applyChanges(changes, objects, editor)
  const tree = await editor.write(objects)
  if (tree === base) return { unchanged: true, tree }
  const findTree = async (oid: Oid) => (await objects.findTree(oid)) ?? reader?.findTree(oid)
  const paths = await pathsOf(changes, put, { findTree, before: base ?? null, after: tree })
  const parents = parent ? [parent] : []
  const commit = objects.add('commit', formatCommit({ tree, parents, author, committer, message }))
  return { unchanged: false, commit, tree, pack: await formatPack(objects), paths, submodulesFile }
}

interface NewTag extends Tag {
  name: TagName
}

/** Makes an annotated tag object. Whether the target exists is for the caller to have seen. */
export async function makeTag(tag: NewTag): Promise<{ oid: Oid; pack: PackBytes }> {
  const objects = createObjectSet()
  const oid = objects.add('tag', formatTag(tag))
  return { oid, pack: await formatPack(objects) }
}

type CheckedChange =
  | { op: 'put'; path: TreePath; bytes: Uint8Array; mode: FileMode | undefined }
  | { op: 'delete'; path: TreePath }
  | { op: 'move'; from: TreePath; to: TreePath }

/** There may be ten thousand: others get their turn in between. */
async function checkChanges(wanted: readonly Change[]) {
  const pause = createPauses()
  const changes: CheckedChange[] = []
  let submodulesFile: TreePath | undefined
  let names = 0
  for (const change of wanted) {
    await pause()
    // Told before they are looked at: a few megabytes can hold millions of them.
    names += change.op === 'move' ? namesIn(change.from) + namesIn(change.to) : namesIn(change.path)
    if (names > MAX_NAMES) throw new EditTooLarge(names, MAX_NAMES)
    const checked = checkChange(change)
    const target = checked.op === 'move' ? checked.to : checked.path
    if (mayBeSubmodulesFile(target)) submodulesFile ??= target
    changes.push(checked)
  }
  return { changes, submodulesFile }
}

/** In all paths of a commit. */
const MAX_NAMES = 500_000

function namesIn(path: string): number {
  let names = 1
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) names++
  return names
}

function checkChange(change: Change): CheckedChange {
  const path = (text: string) => {
    const parsed = parseTreePath(text)
    if (!parsed) throw new InvalidTree(text, 'bad_path')
    return parsed
  }
  if (change.op === 'move') return { op: 'move', from: path(change.from), to: path(change.to) }
  if (change.op === 'delete') return { op: 'delete', path: path(change.path) }
  const { bytes, mode } = change
  const isBadTarget = bytes.length === 0 || bytes.length > 4095 || bytes.includes(0)
  if (mode === '120000' && isBadTarget) throw new InvalidTree(change.path, 'bad_symlink')
  return { op: 'put', path: path(change.path), bytes, mode }
}

/** Gives which files were put that were not there so before. */
async function applyChanges(
  changes: readonly CheckedChange[],
  objects: ObjectSet,
  tree: TreeEditor,
): Promise<TreePath[]> {
  const pause = createPauses()
  const put: TreePath[] = []
  for (const change of changes) {
    await pause()
    if (change.op === 'delete') await tree.remove(change.path)
    else if (change.op === 'move') await tree.move(change.from, change.to)
    else {
      const blob = await objects.addLarge('blob', change.bytes)
      if (await tree.put(change.path, change.mode, blob)) put.push(change.path)
    }
  }
  return put
}

/** Of what a commit changes. More directories are left to whoever looks at the commit. */
const MAX_TREES_READ = 1_000
const MAX_PATHS = 1_000

/** Which files differ: those that were put, each once, or else what the two trees say. */
async function pathsOf(
  changes: readonly CheckedChange[],
  put: readonly TreePath[],
  { before, after, findTree }: { before: Oid | null; after: Oid } & Pick<ObjectReader, 'findTree'>,
): Promise<ChangedPaths> {
  const areAllPut = changes.every(({ op }) => op === 'put') && new Set(put).size === put.length
  const diff = areAllPut
    ? undefined
    : await diffTrees({ findTree }, { before, after, maxTrees: MAX_TREES_READ })
  const named = changes.flatMap((change) => (change.op === 'move' ? [change.from, change.to] : [change.path]))
  const paths = diff?.paths ?? inGitsOrder(areAllPut ? put : named)
  const isKnown = areAllPut || diff !== undefined
  return { changedPaths: paths.slice(0, MAX_PATHS), pathsTruncated: !isKnown || paths.length > MAX_PATHS }
}

/** By their bytes, each once. */
const inGitsOrder = (paths: readonly string[]): string[] =>
  Array.from(new Set(paths), (path) => ({ path, bytes: Buffer.from(path) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ path }) => path)

/** The names of .gitmodules on file systems that fold names, and a few more; git itself then judges. */
function mayBeSubmodulesFile(path: TreePath): boolean {
  // NTFS takes what follows a backslash for a name, too.
  return path.split(/[/\\]/).some((name) => /^(gitmod|gi.*~)/i.test(name.replace(/[^\w~]/g, '')))
}

/**
 * A submodule file can hold commands and paths that clients trip over, so it passes the same check as a push, in
 * `objectsDir`, which is a quarantine. Throws InvalidTree.
 */
export async function checkSubmodules(
  repo: OpenRepo,
  objectsDir: string,
  { pack, path }: { pack: PackBytes; path: TreePath },
): Promise<void> {
  const name = await writePack(objectsDir, pack)
  const inPackDir = (file: string) => parseFilePath(resolve(objectsDir, 'pack', file)) as FilePath
  try {
    await repo.with({ quarantine: { objectsDir } }).run({
      verb: 'index-pack',
      options: ['--strict', '--no-rev-index', '-o'],
      values: [inPackDir('check.idx'), inPackDir(`${name}.pack`)],
    })
  } catch (error) {
    throw error instanceof GitError && error.exitCode === 128
      ? new InvalidTree(path, 'bad_submodules_file')
      : error
  }
}
