// Makes commits and tags without a checkout. Everything new goes into one pack in a quarantine;
// nothing refers to it until the caller says so.

import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
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
import { createObjectSet, type ObjectSet, type WrittenPack, writePack } from './pack-writer.ts'
import { withObjects } from './reader.ts'
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
  | { unchanged: false; commit: Oid; tree: Oid }
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

/** `objectsDir` is a quarantine; its `pack` folder receives the pack. Throws InvalidTree and InvalidParent. */
export async function writeCommit(
  repo: OpenRepo,
  objectsDir: string,
  wanted: NewCommit,
): Promise<CommitResult> {
  const { parent, author, committer, message } = wanted
  const changes = wanted.changes.map(checkChange)
  const objects = createObjectSet()
  const { base, tree } = parent
    ? await withObjects(repo, async (reader) => {
        const base = (await reader.findCommit(parent))?.tree
        if (!base) throw new InvalidParent(parent)
        return { base, tree: await applyChanges(changes, objects, await editTree(base, reader.findTree)) }
      })
    : {
        base: EMPTY_TREE_OID,
        tree: await applyChanges(changes, objects, await editTree(EMPTY_TREE_OID, noTree)),
      }
  if (tree === base) return { unchanged: true, tree }
  const parents = parent ? [parent] : []
  const commit = objects.add('commit', formatCommit({ tree, parents, author, committer, message }))
  const pack = await writePack(objectsDir, objects)
  const submodules = changes.map(targetOf).find(mayBeSubmodulesFile)
  if (submodules) await checkSubmodules(repo, { objectsDir, pack, path: submodules })
  return { unchanged: false, commit, tree }
}

interface NewTag extends Tag {
  name: TagName
}

/** Writes an annotated tag object, and gives its id. Whether the target exists is for the caller to have seen. */
export async function writeTag(objectsDir: string, tag: NewTag): Promise<Oid> {
  const objects = createObjectSet()
  const oid = objects.add('tag', formatTag(tag))
  await writePack(objectsDir, objects)
  return oid
}

const noTree = async () => undefined

type CheckedChange =
  | { op: 'put'; path: TreePath; bytes: Uint8Array; mode: FileMode | undefined }
  | { op: 'delete'; path: TreePath }
  | { op: 'move'; from: TreePath; to: TreePath }

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
  for (const change of changes) {
    if (change.op === 'put') await tree.put(change.path, change.mode, objects.add('blob', change.bytes))
    else if (change.op === 'delete') await tree.remove(change.path)
    else await tree.move(change.from, change.to)
  }
  return tree.write(objects)
}

const targetOf = (change: CheckedChange) => (change.op === 'move' ? change.to : change.path)

/** The names of .gitmodules on file systems that fold names, and a few more; git itself then judges. */
function mayBeSubmodulesFile(path: TreePath): boolean {
  return path.split('/').some((name) => /^(gitmod|gi.*~)/i.test(name.replace(/[^\w~]/g, '')))
}

/** A submodule file can hold commands and paths that clients trip over, so it passes the same check as a push. */
async function checkSubmodules(
  repo: OpenRepo,
  { objectsDir, pack, path }: { objectsDir: string; pack: WrittenPack; path: TreePath },
): Promise<void> {
  const inPackDir = (name: string) => parseFilePath(resolve(pack.packDir, name)) as FilePath
  const index = inPackDir('check.idx')
  try {
    await repo.with({ quarantine: { objectsDir } }).run({
      verb: 'index-pack',
      options: ['--strict', '--no-rev-index', '-o'],
      values: [index, inPackDir(`${pack.name}.pack`)],
    })
  } catch (error) {
    await rm(pack.packDir, { recursive: true })
    throw error instanceof GitError && error.exitCode === 128
      ? new InvalidTree(path, 'bad_submodules_file')
      : error
  }
  await rm(index, { force: true })
}
