import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Oid } from '../git/names.ts'
import { foldPacks, planFold, writeIndexes } from '../git/packs/maintenance.ts'
import type { PackStore } from '../git/packs/pack-store.ts'
import type { WorkingDirectories } from '../git/packs/working-directory.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { createRecent } from '../platform/recent.ts'
import type { Scratch } from '../platform/scratch.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import type { Repositories } from './repositories.ts'
import * as store from './store.ts'

interface MaintenanceDeps {
  database: Database
  repos: ReposService
  repositories: Repositories
  directories: WorkingDirectories
  packs: PackStore
  scratch: Scratch
  clock: Clock
  log: Log
}

/** A burst of pushes is looked at once, when it is over or has lasted for long. */
const SETTLE_MS = 3_000
const LONGEST_BURST_MS = 30_000
const SWEEP_EVERY_MS = 15 * 60_000
/** How long nobody must have listed a pack before it goes: whoever has just read the list may still open it. */
const GRACE_MS = 60 * 60_000
/** Smaller repositories are fast without indexes. */
const INDEXED_OBJECTS = 2_000
const INDEXED_REPOSITORIES = 10_000

/** Keeps repositories fast and removes what nobody needs, in the background, one repository at a time. */
export function createMaintenance(deps: MaintenanceDeps) {
  const { database, repos, repositories, directories, packs, scratch, clock, log } = deps
  const due = new Map<string, { since: number; timer: NodeJS.Timeout }>()
  /** The packs for which this process has written indexes. Where that is forgotten, they are written once more. */
  const indexed = createRecent<string, string>({ maxEntries: INDEXED_REPOSITORIES })
  let work: Promise<void> = Promise.resolve()
  let stopped = false

  function enqueue(what: string, task: () => Promise<void>): void {
    work = work.then(task).catch((error: unknown) => {
      if (!stopped) log.error('maintenance failed', { what, error })
    })
  }

  /** Folds small packs together, and writes the indexes that make large repositories fast to read. */
  async function tend(repoId: string): Promise<void> {
    const repo = await repos.find(repoId)
    if (!repo || stopped) return
    const folder = join(scratch.path, 'maintenance', randomBytes(8).toString('hex'))
    await mkdir(folder, { recursive: true })
    try {
      await fold(repo, folder)
      await index(repo, folder)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async function fold(repo: RepoRow, folder: string): Promise<void> {
    const listed = await store.listPacks(database.db, repo.id)
    const folded = planFold(listed).map(({ id }) => id)
    if (folded.length === 0) return
    const keep = listed.map(({ id }) => id).filter((id) => !folded.includes(id))
    const pack = await repositories.withGit(repo, undefined, async (opened) =>
      (await foldPacks(opened, { fold: folded, keep, scratch: folder })) ? packs.adopt(folder) : undefined,
    )
    const replaced = await database
      .transact(async (tx) => {
        const done = await store.replacePacks(tx, repo.id, { folded, pack, now: clock() })
        // Somebody else was quicker; what was made here is swept away.
        if (!done) throw new Outrun()
        return done
      })
      .catch((error: unknown) => {
        if (error instanceof Outrun) return false
        throw error
      })
    if (replaced) log.debug('folded packs', { repo: repo.id, packs: folded.length })
  }

  async function index(repo: RepoRow, folder: string): Promise<void> {
    const listed = await store.listPacks(database.db, repo.id)
    const objects = listed.reduce((sum, pack) => sum + pack.objects, 0)
    const contents = await repositories.contents(repo)
    const state = contents.packIds.toSorted().join()
    const isExact = await directories.ensure(contents)
    if (!isExact || objects < INDEXED_OBJECTS || indexed.get(repo.id) === state) return
    const tips = (await repositories.refs(repo)).map(({ oid, peeled }): Oid => peeled ?? oid)
    await repositories.withGit(repo, undefined, (opened) => writeIndexes(opened, [...new Set(tips)], folder))
    indexed.set(repo.id, state)
  }

  async function sweep(): Promise<void> {
    await scratch.sweep()
    const before = clock() - GRACE_MS
    const unlisted = await database.transact(async (tx) => {
      await store.markUnlisted(tx, clock())
      return store.deleteUnlisted(tx, before)
    })
    for (const id of unlisted) await packs.remove(id)
    // What a crash left between the store and the database.
    for await (const { packId, modifiedMs } of packs.list())
      if (modifiedMs < before && !(await store.listKnownPacks(database.db, [packId])).has(packId))
        await packs.remove(packId)
    for (const { repo_id } of await store.listFragmented(database.db, { minPacks: 8, limit: 100 }))
      hint(repo_id)
  }

  function hint(repoId: string): void {
    if (stopped) return
    const waiting = due.get(repoId)
    const since = waiting?.since ?? performance.now()
    if (performance.now() - since > LONGEST_BURST_MS) return
    clearTimeout(waiting?.timer)
    const run = () => {
      due.delete(repoId)
      enqueue('tend', () => tend(repoId))
    }
    due.set(repoId, { since, timer: setTimeout(run, SETTLE_MS).unref() })
  }

  const timer = setInterval(() => enqueue('sweep', sweep), SWEEP_EVERY_MS).unref()
  enqueue('sweep', sweep)

  return {
    /** Says that a repository may be worth a look. */
    hint,
    async stop(): Promise<void> {
      stopped = true
      clearInterval(timer)
      for (const { timer } of due.values()) clearTimeout(timer)
      await work
    },
  }
}

class Outrun extends Error {}
