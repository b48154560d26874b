// A tree changed in memory. Directories are read only where a change leads into them.

import { createPauses } from '../../platform/pauses.ts'
import { EMPTY_TREE_OID, type Oid, type TreePath } from '../names.ts'
import { formatTree, nameBytes, type TreeEntry } from './format.ts'
import type { ObjectSet } from './pack-writer.ts'
import { ObjectMissing } from './reader.ts'

type InvalidTreeReason =
  | 'bad_path'
  | 'bad_symlink'
  | 'bad_submodules_file'
  | 'not_found'
  | 'already_exists'
  | 'is_a_directory'
  | 'parent_is_not_a_directory'
  | 'moved_into_itself'

/** A change that no tree can take. */
export class InvalidTree extends Error {
  override readonly name = 'InvalidTree'
  readonly path: string
  readonly reason: InvalidTreeReason
  constructor(path: string, reason: InvalidTreeReason) {
    super(`the tree cannot be made: ${reason}`)
    this.path = path
    this.reason = reason
  }
}

export interface TreeEditor {
  /**
   * Puts a file, replacing a file or submodule of that name, and says whether it differs from what was there. Without a
   * mode an executable file stays one.
   */
  put(path: TreePath, mode: string | undefined, blob: Oid): Promise<boolean>
  /** Removes a file or a whole directory. */
  remove(path: TreePath): Promise<void>
  /** Moves a file or a whole directory to where nothing is. */
  move(from: TreePath, to: TreePath): Promise<void>
  /** Adds the changed trees to the set. Directories without entries are left out, as git has none. */
  write(objects: ObjectSet): Promise<Oid>
}

type ReadTree = (oid: Oid) => Promise<TreeEntry[] | undefined>
/** An entry, and its content once something below it was looked at. */
interface Node {
  entry: TreeEntry
  children?: Directory
}
// Keyed by the bytes of the name, so that names which are not UTF-8 stay apart.
type Directory = Map<string, Node>

/** There may be hundreds of thousands in a directory. */
const ENTRIES_A_STEP = 256

/** Entries in memory; a directory counts for some, as it is made even for a path of which nothing is there yet. */
const MAX_WEIGHT = 500_000
const HEAVY = 20_000
const DIRECTORY_WEIGHT = 20

/** The changes lead into more than can be held in memory. */
export class EditTooLarge extends Error {
  override readonly name = 'EditTooLarge'
  readonly observed: number
  readonly limit: number
  constructor(observed: number, limit: number) {
    super('the changes lead into too many directories')
    this.observed = observed
    this.limit = limit
  }
}

export interface EditOptions {
  signal?: AbortSignal | undefined
  /** Called once, when it becomes clear that the edit takes much memory: waits until it may. */
  onHeavy?: (() => Promise<void>) | undefined
}

/** Starts from the tree `base`. Throws EditTooLarge. */
export async function editTree(
  base: Oid,
  read: ReadTree,
  { signal, onHeavy }: EditOptions = {},
): Promise<TreeEditor> {
  const pauseSome = createPauses()
  const pause = () => {
    signal?.throwIfAborted()
    return pauseSome()
  }
  let weight = 0
  let isHeavy = false
  const root = await load(base)

  async function weigh(entries: number): Promise<void> {
    weight += entries + DIRECTORY_WEIGHT
    if (weight > MAX_WEIGHT) throw new EditTooLarge(weight, MAX_WEIGHT)
    if (weight <= HEAVY || isHeavy) return
    isHeavy = true
    await onHeavy?.()
  }

  async function load(oid: Oid): Promise<Directory> {
    if (oid === EMPTY_TREE_OID) return new Map()
    const entries = await read(oid)
    if (!entries) throw new ObjectMissing(oid)
    await weigh(entries.length)
    const directory: Directory = new Map()
    for (const entry of entries) {
      directory.set(nameBytes(entry).toString('latin1'), { entry })
      if (directory.size % ENTRIES_A_STEP === 0) await pause()
    }
    return directory
  }

  /** The directory that holds the path's last name. Missing ones are made when asked for. */
  async function parentOf(path: TreePath, create: boolean): Promise<Directory | undefined> {
    let directory = root
    for (const name of path.split('/').slice(0, -1)) {
      // Some have very many.
      await pause()
      const existing = directory.get(keyOf(name))
      if (existing && existing.entry.type !== 'tree') throw new InvalidTree(path, 'parent_is_not_a_directory')
      if (!existing && !create) return undefined
      if (!existing) await weigh(1)
      const node = existing ?? { entry: directoryEntry(name), children: new Map() }
      if (!existing) directory.set(keyOf(name), node)
      node.children ??= await load(node.entry.oid)
      directory = node.children
    }
    return directory
  }

  async function writeDirectory(directory: Directory, objects: ObjectSet): Promise<Oid | undefined> {
    await pause()
    const entries: TreeEntry[] = []
    for (const { entry, children } of directory.values()) {
      const oid = children ? await writeDirectory(children, objects) : entry.oid
      if (oid) entries.push({ ...entry, oid })
      if (entries.length % ENTRIES_A_STEP === 0) await pause()
    }
    return entries.length > 0 ? objects.add('tree', await formatTree(entries)) : undefined
  }

  async function take(path: TreePath): Promise<Node> {
    const directory = await parentOf(path, false)
    const key = keyOf(lastName(path))
    const node = directory?.get(key)
    if (!node || isEmpty(node)) throw new InvalidTree(path, 'not_found')
    directory?.delete(key)
    return node
  }

  return {
    async put(path, mode, blob) {
      const name = lastName(path)
      const directory = await parentOf(path, true)
      const existing = directory?.get(keyOf(name))
      if (existing?.entry.type === 'tree' && !isEmpty(existing)) throw new InvalidTree(path, 'is_a_directory')
      const usual = existing?.entry.mode === '100755' ? '100755' : '100644'
      const entry: TreeEntry = { mode: mode ?? usual, type: 'blob', oid: blob, name }
      directory?.set(keyOf(name), { entry })
      return existing?.entry.oid !== entry.oid || existing.entry.mode !== entry.mode
    },
    async remove(path) {
      await take(path)
    },
    async move(from, to) {
      if (`${to}/`.startsWith(`${from}/`)) throw new InvalidTree(to, 'moved_into_itself')
      const node = await take(from)
      const directory = await parentOf(to, true)
      const name = lastName(to)
      const existing = directory?.get(keyOf(name))
      if (existing && !isEmpty(existing)) throw new InvalidTree(to, 'already_exists')
      const { mode, type, oid } = node.entry
      directory?.set(keyOf(name), { ...node, entry: { mode, type, oid, name } })
    },
    write: async (objects) => (await writeDirectory(root, objects)) ?? objects.add('tree', Buffer.alloc(0)),
  }
}

const isEmpty = (node: Node): boolean =>
  node.children !== undefined && [...node.children.values()].every(isEmpty)

const directoryEntry = (name: string): TreeEntry => ({
  mode: '040000',
  type: 'tree',
  oid: EMPTY_TREE_OID,
  name,
})
const keyOf = (name: string) => Buffer.from(name).toString('latin1')
const lastName = (path: TreePath) => path.slice(path.lastIndexOf('/') + 1)
