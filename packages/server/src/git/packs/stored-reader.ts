// Reads objects as git would, without git as long as they are small and nothing is strange about them. Whatever is,
// git answers as a whole: it is started when the first such question comes.

import type { Oid, TreePath } from '../names.ts'
import { type Commit, parseCommit, parseTagTarget, parseTree, type TreeEntry } from '../objects/format.ts'
import {
  MAX_TAG_DEPTH,
  type ObjectInfo,
  type ObjectReader,
  ObjectTooLarge,
  type SizedEntry,
} from '../objects/reader.ts'
import { stepInto } from '../objects/tree-path.ts'
import type { Sight } from './sight.ts'
import { Unusual } from './unusual.ts'

interface StoredReaderDeps {
  sight: Sight
  /** Starts it, if it has not been started. */
  git(): Promise<ObjectReader>
  onGit(): void
}

export function createStoredReader({ sight, git, onGit }: StoredReaderDeps): ObjectReader {
  /** The answer of git, where ours would be none. */
  async function orGit<T>(ours: () => Promise<T>, theirs: (git: ObjectReader) => Promise<T>): Promise<T> {
    try {
      return await ours()
    } catch (error) {
      if (!(error instanceof Unusual)) throw error
      onGit()
      return theirs(await git())
    }
  }

  /** Most are in memory: there is no promise to be made for those. */
  const infoOf = (oid: Oid) => sight.recallInfo(oid) ?? sight.findInfo(oid)

  async function commitOf(oid: Oid): Promise<Commit | undefined> {
    const found = sight.recall(oid) ?? (await sight.find(oid))
    if (found?.type !== 'commit') return undefined
    found.parsed ??= parseCommit(found.bytes)
    return found.parsed as Commit
  }

  async function treeOf(oid: Oid): Promise<TreeEntry[] | undefined> {
    const found = sight.recall(oid) ?? (await sight.find(oid))
    if (found?.type !== 'tree') return undefined
    found.parsed ??= await parseTree(found.bytes)
    return found.parsed as TreeEntry[]
  }

  /** Of a tree that something points to. What should be there and is not, git has to explain. */
  async function requireTree(oid: Oid): Promise<TreeEntry[]> {
    const tree = await treeOf(oid)
    if (!tree) throw new Unusual('a tree that is missing')
    return tree
  }

  async function rootOf(oid: Oid): Promise<TreeEntry[] | undefined> {
    const found = await infoOf(oid)
    if (found?.type !== 'commit') return treeOf(oid)
    return requireTree((await commitOf(oid))?.tree as Oid)
  }

  /** The bytes of the tree itself, or of a commit's. */
  async function rootBytes(root: Oid): Promise<Buffer | undefined> {
    const info = await infoOf(root)
    // Git follows tags, too.
    if (info?.type === 'tag') throw new Unusual('a path below a tag')
    if (info?.type === 'commit') return bytesOfTree((await commitOf(root))?.tree as Oid)
    return info?.type === 'tree' ? bytesOfTree(root) : undefined
  }

  async function bytesOfTree(oid: Oid): Promise<Buffer> {
    const found = sight.recall(oid) ?? (await sight.find(oid))
    if (found?.type !== 'tree') throw new Unusual('a tree that is missing')
    return found.bytes
  }

  async function at(root: Oid, path: TreePath): Promise<(ObjectInfo & { oid: Oid }) | undefined> {
    let tree = await rootBytes(root)
    let rest: Buffer = Buffer.from(path)
    while (tree) {
      const step = stepOrGit(tree, rest)
      if (!step) return undefined
      if (!step.rest) {
        const info = await infoOf(step.oid)
        // The commit of another repository is not expected to be here.
        if (!info && step.isSubmodule) return undefined
        if (!info) throw new Unusual('an entry that is missing')
        return { oid: step.oid, type: info.type, size: info.size }
      }
      rest = step.rest
      tree = await bytesOfTree(step.oid)
    }
    return undefined
  }

  async function blobOf(oid: Oid, maxBytes: number): Promise<Buffer | undefined> {
    const known = sight.recall(oid)
    const info = known ?? (await infoOf(oid))
    if (info?.type !== 'blob') return undefined
    if (info.size > maxBytes) throw new ObjectTooLarge(oid, info.size, maxBytes)
    return (known ?? (await sight.find(oid)))?.bytes
  }

  async function peeled(start: Oid): Promise<(ObjectInfo & { oid: Oid }) | undefined> {
    let oid = start
    for (let depth = 0; depth < MAX_TAG_DEPTH; depth++) {
      const info = await infoOf(oid)
      if (info?.type !== 'tag') return info && { type: info.type, size: info.size, oid }
      const target = parseTagTarget((await sight.find(oid))?.bytes ?? Buffer.alloc(0))
      if (!target) return undefined
      oid = target.oid
    }
    return undefined
  }

  const findInfo = (oid: Oid): Promise<ObjectInfo | undefined> =>
    orGit(
      async () => {
        const info = await infoOf(oid)
        return info && { type: info.type, size: info.size }
      },
      async (theirs) => (await theirs.listInfo([oid]))[0],
    )

  /** Many at once, most of which are in memory: a push asks for all that its trees name. */
  async function listInfo(oids: readonly Oid[]): Promise<(ObjectInfo | undefined)[]> {
    const known = oids.map(recallInfo)
    const others = oids.filter((_, i) => !known[i])
    const found = await Promise.all(others.map(findInfo))
    let next = 0
    return known.map((info) => (info ? { type: info.type, size: info.size } : found[next++]))
  }

  /** Of what is odd about it, whoever looks for it hears. */
  function recallInfo(oid: Oid): ObjectInfo | undefined {
    try {
      return sight.recallInfo(oid)
    } catch (error) {
      if (error instanceof Unusual) return undefined
      throw error
    }
  }

  const withSize = (entry: TreeEntry, info: ObjectInfo | undefined): SizedEntry =>
    info ? { ...entry, size: info.size } : entry

  const sized = (entry: TreeEntry): SizedEntry | Promise<SizedEntry> => {
    if (entry.type !== 'blob') return entry
    const known = recallInfo(entry.oid)
    return known ? withSize(entry, known) : findInfo(entry.oid).then((info) => withSize(entry, info))
  }

  return {
    listInfo,
    findCommit: (oid) =>
      orGit(
        () => commitOf(oid),
        (theirs) => theirs.findCommit(oid),
      ),
    findTree: (oid) =>
      orGit(
        () => treeOf(oid),
        (theirs) => theirs.findTree(oid),
      ),
    findBlob: (oid, maxBytes) =>
      orGit(
        () => blobOf(oid, maxBytes),
        (theirs) => theirs.findBlob(oid, maxBytes),
      ),
    findBytes: (oid, type) =>
      orGit(
        async () => {
          const found = sight.recall(oid) ?? (await sight.find(oid))
          return found?.type === type ? found.bytes : undefined
        },
        (theirs) => theirs.findBytes(oid, type),
      ),
    findAt: (root, path) =>
      orGit(
        () => at(root, path),
        (theirs) => theirs.findAt(root, path),
      ),
    findDirectory: (root, path) =>
      orGit(
        async () => {
          if (!path) return rootOf(root)
          const found = await at(root, path)
          return found?.type === 'tree' ? requireTree(found.oid) : undefined
        },
        (theirs) => theirs.findDirectory(root, path),
      ),
    addSizes: (entries) => Promise.all(entries.map(sized)),
    peel: (oid) =>
      orGit(
        () => peeled(oid),
        (theirs) => theirs.peel(oid),
      ),
  }
}

function stepOrGit(tree: Buffer, path: Buffer): ReturnType<typeof stepInto> {
  try {
    return stepInto(tree, path)
  } catch {
    throw new Unusual('a malformed tree')
  }
}
