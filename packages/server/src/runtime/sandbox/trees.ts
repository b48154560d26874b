// The files of commits, checked out once and then shared by all runs of that commit, none of which can change them.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROGRAMS_PATH } from './command.ts'

interface Commit {
  repoId: string
  commitSha: string
}

/**
 * Fills an empty directory with the files of a commit, bounded in what that may take. Whoever gives it sees to it that
 * nothing of the commit is executed. Throws TreeRefused for one that can never be had.
 */
export type CheckOut = (commit: Commit, directory: string, signal: AbortSignal) => Promise<void>

/** There is no tree for a run, and trying again would not help. */
export class TreeRefused extends Error {
  override readonly name = 'TreeRefused'
}

/** Held while it is in use. */
export interface Tree extends Disposable {
  /** Relative to the directory that trees are in. */
  name: string
  bytes: number
}

interface TreesOptions {
  directory: string
  checkOut: CheckOut
  /** What those may take together that nobody uses. */
  maxBytes: number
  maxTrees: number
  /** Whom the files are given to. */
  owner: number | undefined
}

interface Kept {
  name: string
  users: number
  /** Known when it is there. */
  bytes: number
  ready: Promise<void>
  abandon: AbortController
}

const run = promisify(execFile)
const OPTIONS = { env: { PATH: PROGRAMS_PATH, LC_ALL: 'C' } }

export function createTrees({ directory, checkOut, maxBytes, maxTrees, owner }: TreesOptions) {
  // Insertion order is the order of use: the first is the one to go.
  const kept = new Map<string, Kept>()
  const removals = new Set<Promise<void>>()
  const counts = { made: 0, found: 0 }

  async function make(commit: Commit, tree: Kept): Promise<void> {
    // Made under another name, so that one that is half there is never taken for whole.
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const unfinished = await mkdtemp(join(directory, 'new-'))
    try {
      const { signal } = tree.abandon
      await checkOut(commit, unfinished, signal)
      if (owner !== undefined) await run('chown', ['-hR', `${owner}:${owner}`, '--', unfinished], OPTIONS)
      await chmod(unfinished, 0o755)
      const { stdout } = await run('du', ['-sk', '--', unfinished], OPTIONS)
      signal.throwIfAborted()
      await rename(unfinished, join(directory, tree.name))
      tree.bytes = Math.max(1, Number.parseInt(stdout, 10) * 1024)
      counts.made++
    } catch (error) {
      await remove(unfinished)
      throw error
    }
  }

  function begin(commit: Commit, key: string): Kept {
    const tree: Kept = {
      // A name is never used twice: the one before may still be on its way out.
      name: `${key.slice(0, 40)}-${performance.now().toString(36).replace('.', '')}`,
      users: 0,
      bytes: 0,
      ready: Promise.resolve(),
      abandon: new AbortController(),
    }
    kept.set(key, tree)
    tree.ready = make(commit, tree)
    tree.ready.catch(() => {
      if (kept.get(key) === tree) kept.delete(key)
    })
    return tree
  }

  function letGo(key: string, tree: Kept): void {
    tree.users--
    if (tree.users === 0 && tree.bytes === 0 && kept.get(key) === tree) {
      kept.delete(key)
      tree.abandon.abort()
    }
    shrink()
  }

  function shrink(): void {
    const isTooMuch = () => kept.size > maxTrees || sum(kept.values()) > maxBytes
    for (const [key, tree] of kept) {
      if (!isTooMuch()) return
      if (tree.users > 0) continue
      kept.delete(key)
      const removal = remove(join(directory, tree.name)).finally(() => removals.delete(removal))
      removals.add(removal)
    }
  }

  return {
    counts,
    get bytes() {
      return sum(kept.values())
    },

    /** The tree of a commit, to be given back. Whoever stops waiting does not stop others who wait for the same. */
    async use(commit: Commit, signal: AbortSignal): Promise<Tree> {
      signal.throwIfAborted()
      const key = createHash('sha256').update(`${commit.repoId} ${commit.commitSha}`).digest('hex')
      const known = kept.get(key)
      const tree = known ?? begin(commit, key)
      if (known) counts.found++
      kept.delete(key)
      kept.set(key, tree)
      tree.users++
      try {
        await unlessAborted(tree.ready, signal)
        shrink()
        let isGiven = false
        const give = () => {
          if (!isGiven) letGo(key, tree)
          isGiven = true
        }
        return { name: tree.name, bytes: tree.bytes, [Symbol.dispose]: give }
      } catch (error) {
        letGo(key, tree)
        throw error
      }
    },

    async close(): Promise<void> {
      for (const { abandon } of kept.values()) abandon.abort()
      await Promise.allSettled([...kept.values()].map(({ ready }) => ready))
      kept.clear()
      await Promise.all(removals)
      await remove(directory)
    },
  }
}

const sum = (trees: Iterable<Kept>): number => [...trees].reduce((total, { bytes }) => total + bytes, 0)

/** Paths in it may be longer than Node can name. */
const remove = async (path: string): Promise<void> =>
  void (await run('rm', ['-rf', '--', path], OPTIONS).catch(() => {}))

function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}
