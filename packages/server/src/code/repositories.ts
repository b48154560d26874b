import { join } from 'node:path'
import { type BranchName, branchRef, type Oid, type RefName } from '../git/names.ts'
import { type ObjectReader, type StartedReader, startReader } from '../git/objects/reader.ts'
import { type QuarantinedRepo, withQuarantine } from '../git/packs/intake.ts'
import type { PackStore } from '../git/packs/pack-store.ts'
import type { StoredObjects } from '../git/packs/stored-objects.ts'
import type { WorkingDirectories } from '../git/packs/working-directory.ts'
import { type Git, type OpenRepo, openRepo } from '../git/process/command.ts'
import type { Ref, RefList } from '../git/protocol/advertisement.ts'
import { Fault } from '../platform/fault.ts'
import { isOutage } from '../platform/outages.ts'
import { type Room, requireRoom } from '../platform/room.ts'
import { placeOwnerOf } from '../repos/place-owner.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Db } from '../schema.ts'
import type { PackHealth } from './pack-health.ts'
import type { PackLists } from './pack-lists.ts'
import type { RefLists } from './ref-lists.ts'
import * as refStore from './ref-store.ts'

interface RepositoriesDeps {
  db: Db
  git: Git
  packs: PackStore
  objects: StoredObjects
  directories: WorkingDirectories
  refLists: RefLists
  packLists: PackLists
  health: PackHealth
  room: Room
  /** Below this each repository has the directory it is served from. */
  workDir: string
  /** Below this, what is being received and has not been accepted yet. */
  quarantineDir: string
}

export type Repositories = ReturnType<typeof createRepositories>

/** Stored repositories as git sees them: refs from the database, objects in a directory that can be thrown away. */
export function createRepositories(deps: RepositoriesDeps) {
  const { db, git, packs, objects, directories, refLists, packLists, health } = deps
  const { room, workDir, quarantineDir } = deps

  /** Anew after each pruning: in the one before, what is gone may still be there for its readers. */
  const directoryOf = (repo: RepoRow) => join(workDir, directoryName(repo))

  /** Call it after reading refs: a pack listed too many does no harm, one too few would. */
  async function packIds(repo: RepoRow, read = packLists.read): Promise<readonly string[]> {
    const { ids, states } = await read(repo)
    health.requireSound(repo, states)
    return ids
  }

  /** For those who ask again for what they do not find. */
  function packIdsLately(repo: RepoRow): readonly string[] | undefined {
    const known = packLists.lately(repo)
    if (known) health.requireSound(repo, known.states)
    return known?.ids
  }

  const contents = async (repo: RepoRow) => ({
    dir: directoryOf(repo),
    packIds: await packIds(repo),
    store: packs,
  })

  /** Holds the repository's directory, with its refs as of `repo`, for as long as `work` takes. */
  async function withGit<T>(
    repo: RepoRow,
    signal: AbortSignal | undefined,
    work: (opened: OpenRepo) => Promise<T>,
  ): Promise<T> {
    using _lease = await lease(repo)
    return await work(openLeased(repo, signal)).catch(async (error: unknown) => {
      throw await health.diagnose(repo, error)
    })
  }

  /** Throws REPO_WORKSPACE_REQUIRED when the directory cannot be made, as of damaged packs. */
  async function lease(repo: RepoRow): Promise<Disposable> {
    return prepare(repo).catch(async (error: unknown) => {
      if (isOutage(error)) throw error
      const cause = await health.diagnose(repo, error)
      throw cause instanceof Fault
        ? cause
        : new Fault('REPO_WORKSPACE_REQUIRED', { name: repo.name }, { cause })
    })
  }

  async function prepare(repo: RepoRow): Promise<Disposable> {
    const { version, refs } = await refLists.of(repo)
    const held = await directories.lease(await contents(repo))
    await directories.writeRefs(directoryOf(repo), {
      headBranch: headRef(repo),
      version: String(version),
      refs: () => refs,
      movedSince: (from) => refLists.movedSince(repo.id, { from: Number(from), to: version }),
    })
    return held
  }

  /** Call it under a lease. */
  const openLeased = (repo: RepoRow, signal?: AbortSignal): OpenRepo =>
    openRepo(git, directoryOf(repo), {
      owner: placeOwnerOf(repo),
      ...(signal && { signal }),
    })

  /** A reader that holds the repository's directory. */
  async function startGit(repo: RepoRow, signal: AbortSignal | undefined): Promise<StartedReader> {
    const held = await lease(repo)
    try {
      const { objects, ...started } = await startReader(openLeased(repo, signal))
      const dispose = () => {
        started[Symbol.dispose]()
        held[Symbol.dispose]()
      }
      return { objects, [Symbol.dispose]: dispose }
    } catch (error) {
      held[Symbol.dispose]()
      throw error
    }
  }

  const refCalled = (repo: RepoRow, name: RefName | 'HEAD') => (name === 'HEAD' ? headRef(repo) : name)

  async function findOid(repo: RepoRow, name: RefName | 'HEAD'): Promise<Oid | undefined> {
    return (await refStore.findRef(db, repo.id, refCalled(repo, name)))?.oid
  }

  return {
    lease,
    openLeased,
    contents,
    withGit,

    /** Reads objects of the repository, for as long as `use` takes. Most need neither git nor its directory. */
    async withObjects<T>(
      repo: RepoRow,
      signal: AbortSignal | undefined,
      use: (objects: ObjectReader) => Promise<T>,
    ): Promise<T> {
      const reading = {
        owner: repo.org_id,
        knownPacks: packIdsLately(repo),
        listPacks: () => packIds(repo, packLists.readMissed),
        startGit: () => startGit(repo, signal),
        signal,
      }
      return objects.read(reading, use).catch(async (error: unknown) => {
        throw await health.diagnose(repo, error)
      })
    },

    /**
     * Looks at single objects for somebody who shows them, unless it has been done before. The key has to name by ids what
     * is looked at: then it is always the same, until it is pruned.
     */
    async show<T extends object>(
      repo: RepoRow,
      key: string,
      { sizeOf, look }: { sizeOf(shown: T): number; look(): Promise<T> },
    ): Promise<T> {
      const name = `${directoryName(repo)} ${key}`
      // Where the packs are not known, they may be damaged.
      const known = packIdsLately(repo) && objects.recallShown<T>(repo.org_id, name)
      if (known) return known
      const value = await look()
      objects.keepShown(repo.org_id, name, { value, size: sizeOf(value) })
      return value
    },

    /** Throws when what is known of its packs forbids to make or give out anything from them. */
    async requireSound(repo: RepoRow): Promise<void> {
      health.requireSound(repo, (await packLists.read(repo)).states)
    },

    /** What to throw of an error that happened under a lease. */
    diagnose: health.diagnose,

    /** Like `withGit`, with a place for new objects that is gone afterwards. Throws OutOfSpace. */
    async withQuarantine<T>(
      repo: RepoRow,
      signal: AbortSignal | undefined,
      work: (quarantined: QuarantinedRepo, opened: OpenRepo) => Promise<T>,
    ): Promise<T> {
      await requireRoom(room)
      return withGit(repo, signal, (opened) =>
        withQuarantine(opened, quarantineDir, (quarantined) => work(quarantined, opened)),
      )
    },

    async refs(repo: RepoRow): Promise<Ref[]> {
      return [...(await refLists.of(repo)).refs]
    },

    async refList(repo: RepoRow): Promise<RefList & { version: number }> {
      const { version, refs } = await refLists.of(repo)
      const headBranch = headRef(repo)
      return { version, headBranch, headOid: refs.find(headBranch)?.oid ?? null, refs }
    },

    findOid,

    /** Where a ref was when the row was read, or later: for those who only look. */
    async findOidAsRead(repo: RepoRow, name: RefName | 'HEAD'): Promise<Oid | undefined> {
      const known = refLists.recall(repo)
      return known ? known.refs.find(refCalled(repo, name))?.oid : findOid(repo, name)
    },
  }
}

/** Below this are the refs that only the server moves. */
export const SERVER_REFS = 'refs/trellis/'

export const directoryName = ({ id, prunes }: RepoRow): string => `${id}.${prunes}`

export const headRef = (repo: Pick<RepoRow, 'default_branch'>): RefName =>
  branchRef(repo.default_branch as BranchName)
