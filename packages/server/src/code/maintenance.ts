import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Oid } from '../git/names.ts'
import { foldPacks, planFold, writeIndexes } from '../git/packs/maintenance.ts'
import type { PackInfo, PackStore } from '../git/packs/pack-store.ts'
import { foldSmallPacks, type PackFiles } from '../git/packs/small-fold.ts'
import type { WorkingDirectories } from '../git/packs/working-directory.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { createRecent } from '../platform/recent.ts'
import type { Room } from '../platform/room.ts'
import type { Scratch } from '../platform/scratch.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import { Outrun } from './outrun.ts'
import { directoryName, type Repositories } from './repositories.ts'
import * as store from './store.ts'

interface MaintenanceDeps {
  database: Database
  repos: ReposService
  repositories: Repositories
  directories: WorkingDirectories
  packs: PackStore
  scratch: Scratch
  room: Room
  clock: Clock
  log: Log
  /** Says that a repository may be worth a look. */
  hint(repoId: string): void
}

/** How long nobody must have listed a pack before it goes: whoever has just read the list may still open it. */
const GRACE_MS = 60 * 60_000
/** After this a directory that nobody has used goes. */
const IDLE_MS = 60 * 60_000
/** Commits by the hundred a second leave as many packs. */
const SWEPT_AT_ONCE = 50
const LOOKED_AT_AT_ONCE = 500
/** So much is folded without git, which finds out what is alike: it is what hundreds of small commits leave. */
const FOLDED_HERE_BYTES = 1024 * 1024
/** Sorted in one go in a few milliseconds. A small commit has three or four. */
const FOLDED_HERE_OBJECTS = 5_000
/** Smaller repositories are fast without indexes. */
const INDEXED_OBJECTS = 2_000
const INDEXED_REPOSITORIES = 10_000

/** Keeps repositories fast and removes what nobody needs. */
export function createMaintenance(deps: MaintenanceDeps) {
  const { database, repos, repositories, directories, packs, scratch, room, clock, log, hint } = deps
  /** The packs for which this process has written indexes. Where that is forgotten, they are written once more. */
  const indexed = createRecent<string, string>({ maxEntries: INDEXED_REPOSITORIES })

  /** Folds small packs together, and writes the indexes that make large repositories fast to read. */
  async function tend(repoId: string, signal: AbortSignal): Promise<void> {
    const repo = await repos.find(repoId)
    if (!repo) return
    const isFolded = await fold(repo, signal)
    await index(repo, { isFolded, signal })
  }

  async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const folder = join(scratch.path, 'maintenance', randomBytes(8).toString('hex'))
    await mkdir(folder, { recursive: true })
    try {
      return await work(folder)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Says whether other packs are listed now. */
  async function fold(repo: RepoRow, signal: AbortSignal): Promise<boolean> {
    const listed = await store.listPacks(database.db, repo.id)
    const planned = planFold(listed)
    const folded = planned.map(({ id }) => id)
    if (folded.length === 0) return false
    const bytes = planned.reduce((sum, pack) => sum + pack.bytes, 0)
    // The old packs stay for a while beside the new one, which is hardly larger. A push or the sweep asks again.
    if (await room.isShort(bytes)) {
      log.debug('no room to fold packs', { repo: repo.id, packs: folded.length })
      return false
    }
    const keep = listed.map(({ id }) => id).filter((id) => !folded.includes(id))
    const foldByGit = () =>
      withFolder((folder) =>
        repositories.withGit(repo, signal, async (opened) =>
          (await foldPacks(opened, { fold: folded, keep, scratch: folder }))
            ? packs.adopt(folder)
            : undefined,
        ),
      )
    const objects = planned.reduce((sum, pack) => sum + pack.objects, 0)
    const isSmall = bytes <= FOLDED_HERE_BYTES && objects <= FOLDED_HERE_OBJECTS
    const pack = (isSmall ? await foldHere(folded) : undefined) ?? (await foldByGit())
    const replaced = await database
      .transact(async (tx) => {
        // Of a repository that is being deleted nothing new is listed; and its size is written below, as a push does.
        const isThere = await repos.lockToResizeIn(tx, repo)
        const done = isThere && (await store.replacePacks(tx, repo.id, { folded, pack, now: clock() }))
        // What was made here is swept away.
        if (!done) throw new Outrun()
        await repos.setSizeIn(tx, isThere, await store.sumPacks(tx, repo.id))
        return done
      })
      .catch((error: unknown) => {
        if (error instanceof Outrun) return false
        throw error
      })
    if (replaced) log.debug('folded packs', { repo: repo.id, packs: folded.length })
    return replaced
  }

  /** Undefined where git has to do it. */
  async function foldHere(packIds: readonly string[]): Promise<PackInfo | undefined> {
    const read: PackFiles[] = []
    for (const id of packIds) {
      const files = await readWhole(packs, id)
      if (!files) return undefined
      read.push(files)
    }
    const folded = await foldSmallPacks(read)
    return folded && packs.add(folded)
  }

  async function index(
    repo: RepoRow,
    { isFolded, signal }: { isFolded: boolean; signal: AbortSignal },
  ): Promise<void> {
    const listed = await store.listPacks(database.db, repo.id)
    const objects = listed.reduce((sum, pack) => sum + pack.objects, 0)
    const isSmall = objects < INDEXED_OBJECTS
    if (isSmall && !isFolded) return
    const contents = await repositories.contents(repo)
    // What is small may never need a directory; but what was folded is to leave the one there is.
    if (isSmall && !directories.isMade(contents.dir)) return
    const state = contents.packIds.toSorted().join()
    const isExact = await directories.ensure(contents)
    if (!isExact || isSmall || indexed.get(repo.id) === state) return
    const tips = (await repositories.refs(repo)).map(({ oid, peeled }): Oid => peeled ?? oid)
    await withFolder((folder) =>
      repositories.withGit(repo, signal, (opened) => writeIndexes(opened, [...new Set(tips)], folder)),
    )
    indexed.set(repo.id, state)
  }

  async function sweep(signal: AbortSignal): Promise<void> {
    const before = clock() - GRACE_MS
    await database.transact((tx) => store.markUnlisted(tx, clock()))
    for (;;) {
      const unlisted = await database.transact((tx) =>
        store.deleteUnlisted(tx, { before, limit: SWEPT_AT_ONCE }),
      )
      for (const id of unlisted) await packs.remove(id)
      if (unlisted.length === 0 || signal.aborted) break
    }
    // What a crash left between the store and the database.
    const removeUnknown = async (ids: readonly string[]) => {
      const known = await store.listKnownPacks(database.db, ids)
      for (const id of ids) if (!known.has(id)) await packs.remove(id)
    }
    let old: string[] = []
    for await (const { packId, modifiedMs } of packs.list()) {
      if (signal.aborted) return
      if (modifiedMs < before) old.push(packId)
      if (old.length < LOOKED_AT_AT_ONCE) continue
      await removeUnknown(old)
      old = []
    }
    await removeUnknown(old)
    for (const { repo_id } of await store.listFragmented(database.db, { minPacks: 8, limit: 100 }))
      hint(repo_id)
  }

  /** A repository is served from a directory that costs disk; it is made again when somebody comes. */
  async function removeIdleDirectories(): Promise<void> {
    const removed = await directories.removeIdle({
      afterMs: IDLE_MS,
      isGone: async (dir) => {
        const name = basename(dir)
        const repo = await repos.find(name.slice(0, name.lastIndexOf('.')))
        return !repo || directoryName(repo) !== name
      },
    })
    if (removed > 0) log.debug('removed working directories', { removed })
  }

  return { tend, sweep, removeIdleDirectories }
}

/** Undefined where it cannot be: git will say why. */
async function readWhole(packs: PackStore, id: string): Promise<PackFiles | undefined> {
  try {
    const file = await packs.openPack(id)
    try {
      return { pack: await file.read(0, file.bytes), idx: await file.readIndex() }
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}
