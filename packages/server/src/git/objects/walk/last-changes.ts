// Which commit changed each entry of a directory last, found for all of them in one walk. An entry is followed to the
// first parent that has the same; where none has, it was changed.

import type { Oid, TreePath } from '../../names.ts'
import { findEntry, type RawEntry, readEntries } from '../raw-tree.ts'
import { createDateQueue } from './date-queue.ts'
import { type Reading, unlessLeftToGit } from './reading.ts'

/** Some entries are here what they were in the beginning. */
interface Waiting {
  readonly oid: Oid
  readonly date: number
  readonly parents: readonly Oid[]
  readonly directory: Oid
  /** Their names, byte by byte. */
  readonly names: Set<string>
}

export interface LastChanges {
  /** By the bytes of the name, as Latin-1. */
  readonly found: ReadonlyMap<string, Oid>
  /** Nothing more will be found. */
  readonly isOver: boolean
  /** About how many bytes are remembered. */
  readonly size: number
  /** Goes on as far as the reading allows, or rejects, when nobody waits any more. */
  advance(reading: Reading): Promise<void>
}

/** An entry without its name, wherever it is remembered; or a commit. */
const ENTRY_BYTES = 200

export function createLastChanges(from: Oid, path: TreePath | undefined): LastChanges {
  const findDirectory = createDirectoryFinder(path)
  const found = new Map<string, Oid>()
  /** What they are in the beginning. */
  const wanted = new Map<string, string>()
  const queue = createDateQueue<Waiting>()
  const waiting = new Map<Oid, Waiting>()
  let namesBytes = 0
  let hasBegun = false
  let isStuck = false

  /** The names are its own from then on. */
  function put(commit: Omit<Waiting, 'names'>, names: Set<string>): void {
    const known = waiting.get(commit.oid)
    if (known) {
      for (const name of names) known.names.add(name)
      return
    }
    const added = { ...commit, names }
    waiting.set(commit.oid, added)
    queue.put(added)
  }

  async function look(reading: Reading, oid: Oid): Promise<Omit<Waiting, 'names'> | undefined> {
    const { date, parents, tree } = await reading.links(oid)
    const directory = await findDirectory(reading, tree)
    return directory && { oid, date, parents, directory }
  }

  async function begin(reading: Reading): Promise<void> {
    const commit = await look(reading, from)
    const bytes = commit && (await reading.tree(commit.directory))
    if (commit && bytes) {
      for (const entry of readEntries(bytes)) {
        wanted.set(entry.name.toString('latin1'), identityOf(entry))
        namesBytes += entry.name.length
      }
      put(commit, new Set(wanted.keys()))
    }
    hasBegun = true
  }

  /** Everything is read before anything changes: whoever fails here may go on from the same place. */
  async function step(reading: Reading, commit: Waiting): Promise<void> {
    let left: Set<string> = commit.names
    const handed: [Omit<Waiting, 'names'>, Set<string>][] = []
    for (const oid of commit.parents) {
      if (left.size === 0) break
      const parent = await look(reading, oid)
      if (!parent) continue
      const isSame = parent.directory === commit.directory
      const same = isSame ? left : await sameIn(reading, parent, left)
      left = isSame ? new Set() : left.difference(same)
      if (same.size > 0) handed.push([parent, same])
    }
    waiting.delete(commit.oid)
    for (const name of left) found.set(name, commit.oid)
    for (const [parent, names] of handed) put(parent, names)
  }

  async function sameIn(
    reading: Reading,
    { directory }: { directory: Oid },
    names: ReadonlySet<string>,
  ): Promise<Set<string>> {
    const same = new Set<string>()
    for (const entry of readEntries(await reading.tree(directory))) {
      const name = entry.name.toString('latin1')
      if (names.has(name) && wanted.get(name) === identityOf(entry)) same.add(name)
    }
    return same
  }

  return {
    found,
    get isOver() {
      return isStuck || (hasBegun && queue.size === 0)
    },
    get size() {
      return namesBytes + (1 + wanted.size + waiting.size) * ENTRY_BYTES
    },
    async advance(reading) {
      const before = found.size
      let steps = 0
      await unlessLeftToGit(async () => {
        if (!hasBegun) await begin(reading)
        for (let commit = queue.take(); commit; commit = queue.take()) {
          try {
            await step(reading, commit)
          } catch (error) {
            queue.put(commit)
            throw error
          }
          steps++
        }
      })
      // What is too large or too strange now will be the next time.
      isStuck = steps === 0 && found.size === before
    },
  }
}

const identityOf = ({ mode, oid }: RawEntry): string => `${mode}${oid}`

/** Finds the directory at a path below a root. Most of the way is the same for most commits. */
function createDirectoryFinder(path: TreePath | undefined) {
  const steps = (path?.split('/') ?? []).map((part) => ({
    name: Buffer.from(part),
    last: undefined as { below: Oid; is: Oid | undefined } | undefined,
  }))
  return async (reading: Reading, root: Oid): Promise<Oid | undefined> => {
    let directory: Oid | undefined = root
    for (const step of steps) {
      if (!directory) return undefined
      if (step.last?.below !== directory) {
        const entry: RawEntry | undefined = findEntry(await reading.tree(directory), step.name)
        step.last = { below: directory, is: entry?.mode === '040000' ? entry.oid : undefined }
      }
      directory = step.last.is
    }
    return directory
  }
}
