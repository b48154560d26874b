// The bare git directory that git commands run in. Nothing in it is truth: packs are links into the pack store,
// refs are written before a command that needs them, and the whole may be deleted whenever nobody reads it.

import { mkdir, readdir, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { PackStore } from './pack-store.ts'
import { type RefSnapshot, replaceFile, type WrittenRefs, writeRefFiles } from './ref-files.ts'

/** Which packs a directory shall hold, and where they are. */
interface Contents {
  dir: string
  packIds: readonly string[]
  store: PackStore
}

export interface WorkingDirectories {
  /**
   * Makes the directory hold these packs. Packs that are no longer listed go, and a multi-pack index with them,
   * unless someone reads; says whether exactly the listed ones are there now.
   */
  ensure(contents: Contents): Promise<boolean>
  /** Whether there is one to be kept as it should be. */
  isMade(dir: string): boolean
  /** Like `ensure`, and keeps everything in the directory until the lease is disposed. */
  lease(contents: Contents): Promise<Disposable>
  /** Call it under a lease, so that the packs the refs point into are there. Until then there are no refs. */
  writeRefs(dir: string, snapshot: RefSnapshot): Promise<void>
  /** Removes the directories that nobody has used for so long, or of which `isGone` says so. What is read stays. */
  removeIdle(idle: { afterMs: number; isGone(dir: string): Promise<boolean> }): Promise<number>
}

/** One of these per process; two processes must not share directories. */
export function createWorkingDirectories(): WorkingDirectories {
  const states = new Map<string, State>()

  /** One at a time per directory. A state is kept while someone uses it or there is a directory to remember. */
  async function locked<T>(dir: string, work: (state: State) => Promise<T>): Promise<T> {
    const state = states.get(dir) ?? newState()
    states.set(dir, state)
    state.waiting++
    state.usedAt = performance.now()
    const result = state.tail.then(() => work(state))
    state.tail = result.then(ignore, ignore)
    try {
      return await result
    } finally {
      state.waiting--
      if (state.waiting === 0 && state.readers === 0 && !state.prepared) states.delete(dir)
    }
  }

  async function fill(state: State, { dir, packIds, store }: Contents): Promise<boolean> {
    const packDir = join(dir, 'objects/pack')
    let present = state.prepared ? await readdir(packDir).catch(() => undefined) : undefined
    if (!present) {
      await makeSkeleton(dir)
      present = await readdir(packDir)
      state.prepared = true
      state.refs = undefined
    }
    const names = new Set(present)
    for (const packId of packIds) {
      // The index is linked last: where it is, the rest is.
      if (!names.has(`pack-${packId}.idx`)) await store.linkInto(packId, packDir)
    }
    const unlisted = findUnlisted(present, packIds)
    if (unlisted.length === 0) return true
    if (state.readers > 0) return false
    // It may name a pack that goes, so it goes first.
    await removeFiles(packDir, present.filter(isMultiPackIndex))
    await removeFiles(packDir, unlisted)
    return true
  }

  async function lease(contents: Contents): Promise<Disposable> {
    return locked(contents.dir, async (state) => {
      await fill(state, contents)
      state.readers++
      let isHeld = true
      const dispose = () => {
        if (isHeld) state.readers--
        isHeld = false
        state.usedAt = performance.now()
      }
      return { [Symbol.dispose]: dispose }
    })
  }

  async function writeRefs(dir: string, snapshot: RefSnapshot): Promise<void> {
    await locked(dir, async (state) => {
      const { refs } = state
      // Where it breaks off, nobody knows what is there.
      state.refs = undefined
      state.refs = await writeRefFiles(dir, refs, snapshot)
    })
  }

  async function removeIdle({ afterMs, isGone }: Parameters<WorkingDirectories['removeIdle']>[0]) {
    let removed = 0
    for (const [dir, { usedAt, prepared }] of [...states]) {
      if (!prepared || (performance.now() - usedAt < afterMs && !(await isGone(dir)))) continue
      await locked(dir, async (state) => {
        if (state.readers > 0) return
        state.prepared = false
        state.refs = undefined
        await rm(dir, { recursive: true, force: true })
        removed++
      })
    }
    return removed
  }

  return {
    ensure: (contents) => locked(contents.dir, (state) => fill(state, contents)),
    isMade: (dir) => states.get(dir)?.prepared ?? false,
    lease,
    writeRefs,
    removeIdle,
  }
}

interface State {
  readers: number
  waiting: number
  usedAt: number
  tail: Promise<unknown>
  /** The skeleton has been made or checked by this process. */
  prepared: boolean
  refs: WrittenRefs | undefined
}

function newState(): State {
  return {
    readers: 0,
    waiting: 0,
    usedAt: performance.now(),
    tail: Promise.resolve(),
    prepared: false,
    refs: undefined,
  }
}

async function makeSkeleton(dir: string): Promise<void> {
  // What an earlier process left: unfinished files, and refs or alternates that nobody stands for now.
  const unfinished = (await readdir(dir).catch(() => [])).filter((name) => /\.(tmp|lock)$/.test(name))
  for (const stale of ['refs', 'packed-refs', 'objects/info/alternates', ...unfinished])
    await rm(join(dir, stale), { recursive: true, force: true })
  for (const folder of ['objects/pack', 'objects/info', 'refs/heads'])
    await mkdir(join(dir, folder), { recursive: true })
  await replaceFile(join(dir, 'config'), CONFIG)
  // git takes a directory for a repository once HEAD is there.
  await replaceFile(join(dir, 'HEAD'), 'ref: refs/heads/main\n')
}

// A sparse filter costs a pattern match for every path, and one that names nothing breaks off in the middle of the pack.
const CONFIG = `[core]
	repositoryFormatVersion = 0
	bare = true
	hooksPath = /dev/null
	fsmonitor = false
	logAllRefUpdates = false
[gc]
	auto = 0
[maintenance]
	auto = false
[receive]
	autoGc = false
[transfer]
	fsckObjects = true
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[uploadpackfilter "sparse:oid"]
	allow = false
[pack]
	writeReverseIndex = true
`

const isMultiPackIndex = (name: string) => name.startsWith('multi-pack-index')

/** Indexes come first, so that removing in this order never leaves an index without its pack. */
function findUnlisted(names: readonly string[], packIds: readonly string[]): string[] {
  const listed = new Set(packIds)
  const isListed = (name: string) => listed.has(name.replace(/^pack-/, '').replace(/\..*$/, ''))
  const unlisted = names.filter((name) => !isMultiPackIndex(name) && !isListed(name))
  const isIndex = (name: string) => name.endsWith('.idx')
  return [...unlisted.filter(isIndex), ...unlisted.filter((name) => !isIndex(name))]
}

async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await unlink(join(folder, name))
}

const ignore = () => undefined
