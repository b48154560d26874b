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
import { formatCommit, formatTag, type GitPerson, type Tag } from './format.ts'
import { createObjectSet, formatPack, type ObjectSet, type PackBytes, writePack } from './pack-writer.ts'
import type { ObjectReader } from './reader.ts'
import { editTree, InvalidTree, type TreeEditor } from './tree-editor.ts'

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

/** Upon a parent it takes a reader of the objects there. Throws InvalidTree and InvalidParent. */
export async function makeCommit(
  wanted: NewCommit,
  reader?: Pick<ObjectReader, 'findCommit' | 'findTree'>,
): Promise<CommitResult> {
  const { parent, author, committer, message } = wanted
  const { changes, submodulesFile } = await checkChanges(wanted.changes)
  const objects = createObjectSet()
  const base = parent ? (await reader?.findCommit(parent))?.tree : EMPTY_TREE_OID
  if (parent && !base) throw new InvalidParent(parent)
  const editor = await editTree(base ?? EMPTY_TREE_OID, async (oid) => reader?.findTree(oid))
  const tree = await applyChanges(changes, objects, editor)
  if (tree === base) return { unchanged: true, tree }
  const parents = parent ? [parent] : []
  const commit = objects.add('commit', formatCommit({ tree, parents, author, committer, message }))
  return { unchanged: false, commit, tree, pack: await formatPack(objects), submodulesFile }
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
  for (const change of wanted) {
    await pause()
    const checked = checkChange(change)
    const target = checked.op === 'move' ? checked.to : checked.path
    if (mayBeSubmodulesFile(target)) submodulesFile ??= target
    changes.push(checked)
  }
  return { changes, submodulesFile }
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

async function applyChanges(changes: CheckedChange[], objects: ObjectSet, tree: TreeEditor): Promise<Oid> {
  const pause = createPauses()
  for (const change of changes) {
    await pause()
    if (change.op === 'put') await tree.put(change.path, change.mode, objects.add('blob', change.bytes))
    else if (change.op === 'delete') await tree.remove(change.path)
    else await tree.move(change.from, change.to)
  }
  return tree.write(objects)
}

/** The names of .gitmodules on file systems that fold names, and a few more; git itself then judges. */
function mayBeSubmodulesFile(path: TreePath): boolean {
  return path.split('/').some((name) => /^(gitmod|gi.*~)/i.test(name.replace(/[^\w~]/g, '')))
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
