import type { Repo } from '@trellis/contract'
import { type Caller, can, requirePower, requireThawed } from '../access/caller.ts'
import type { Power } from '../access/powers.ts'
import { Duplicate } from '../db/database.ts'
import { type Author, by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import { parseBranchName } from '../git/names.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { Fault, forbidden, invalid } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Tx } from '../schema.ts'
import { createDeleting } from './deleting.ts'
import * as names from './name-store.ts'
import { createPresenter } from './presenting.ts'
import { createOrgQuotas, type OrgLimits, requireWithin } from './quotas.ts'
import type { RemoveSome } from './remains.ts'
import { createSearching } from './searching.ts'
import * as store from './store.ts'

export type { RepoRow } from './store.ts'

interface ReposDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  clock: Clock
  newId: NewId
  /** Where clients reach this server. */
  baseUrl: string
  /** What other domains keep of a repository, for when it is deleted. */
  remains: readonly RemoveSome[]
  limits: OrgLimits & { repoBytes: number }
}

interface NewRepo {
  name: string
  defaultBranch: string
  /** Where its history comes from. */
  source?: string
  sizeBytes?: number
}

export type ReposService = ReturnType<typeof createReposService>

export function createReposService(deps: ReposDeps) {
  const { database, events, orgs, clock, newId, limits } = deps
  const deleting = createDeleting(deps)
  const presenterFor = createPresenter(deps.baseUrl)
  const quotas = createOrgQuotas({ orgs, limits })

  function requireWritable(caller: Caller, repo: store.RepoRow): void {
    requireThawed(caller)
    if (repo.read_only === 1) throw forbidden('write_frozen')
  }

  /**
   * Finds a repository of the acting organization, by the name it has or the last one to have had it, and asks for
   * `power` on it: first existence, then permission. One that the caller may not see does not exist. `inside` throws when
   * what is asked for in it does not exist: only those hear of it first who lack the power, the others find out anyway.
   */
  async function open(
    caller: Caller,
    name: string,
    power: Power,
    inside?: (repo: store.RepoRow) => Promise<unknown>,
  ): Promise<store.RepoRow> {
    const place = { orgId: caller.org.id, name, now: clock() }
    const repo =
      (await store.findByName(database.db, place)) ?? (await names.findByFormerName(database.db, place))
    const visible = can(caller, 'repo:read') && (!caller.onlyRepoId || caller.onlyRepoId === repo?.id)
    if (!repo || !visible) throw new Fault('REPO_NOT_FOUND', { name })
    try {
      requirePower(caller, power)
      if (power === 'repo:write') requireWritable(caller, repo)
    } catch (error) {
      await inside?.(repo)
      throw error
    }
    return repo
  }

  /** What anybody needs who adds a repository to the acting organization. */
  function requireMayCreate(caller: Caller): void {
    requirePower(caller, 'repo:write')
    // A credential for one repository makes no others.
    if (caller.onlyRepoId)
      throw forbidden(
        'scope_missing',
        'A repository token makes no other repositories: this needs a key or a session',
      )
    requireThawed(caller)
  }

  const findOrgRoom = (orgId: string) => quotas.findRoom(database.db, orgId)

  async function createIn(tx: Tx, caller: Caller, { name, defaultBranch, source, sizeBytes }: NewRepo) {
    const { provisional } = caller.org
    const now = clock()
    const requireCounted = await quotas.countRepoIn(tx, caller.org)
    // A repository that is not made empty counts at once with all it holds.
    if (sizeBytes) await quotas.addBytesIn(tx, caller.org, sizeBytes)
    const repo = await store.insert(tx, {
      id: newId('repo'),
      org_id: caller.org.id,
      name,
      artifact_id: newId('art'),
      default_branch: defaultBranch,
      read_only: 0,
      size_bytes: sizeBytes ?? 0,
      last_push_at: null,
      source: source ?? null,
      expires_at: provisional ? await orgs.repoExpiryIn(tx, caller.org.id) : null,
      created_at: now,
      updated_at: now,
    })
    if (!repo) throw new Fault('REPO_ALREADY_EXISTS', { name })
    requireCounted()
    await events.begin(tx, {
      ...by(caller),
      scope: repoScope(repo.id),
      type: 'repo.created',
      subject: name,
      payload: { name, defaultBranch, ...(source && { source }) },
    })
    return repo
  }

  const tellUpdatedIn = (tx: Tx, author: Author, repo: store.RepoRow, previousName: string): Promise<void> =>
    events.append(tx, {
      ...author,
      scope: repoScope(repo.id),
      type: 'repo.updated',
      subject: repo.name,
      payload: {
        name: repo.name,
        previousName,
        defaultBranch: repo.default_branch,
        readOnly: repo.read_only === 1,
      },
    })

  return {
    open,
    requireWritable,
    presenterFor,
    requireMayCreate,
    createIn,

    /** Like `open`, for a repository addressed by its organization too; what is not the caller's does not exist. */
    async openAt(caller: Caller, { orgSlug, name }: { orgSlug: string; name: string }, power: Power) {
      const inside = await orgs.enter(caller, orgSlug)
      if (!inside) throw new Fault('REPO_NOT_FOUND', { name })
      return { repo: await open(inside, name, power), inside }
    },

    /** Until the transaction ends nobody else changes the row, or what is counted under this lock. */
    lockIn: store.lock,
    setRefRulesIn: store.setRefRules,

    /**
     * Notes that refs changed and how much the packs grew, within what the repository and its organization may take:
     * whatever many pushes at once were told before, here they come one after the other. Undefined when the repository
     * is gone.
     */
    async recordChangeIn(
      tx: Tx,
      { id, org_id, expires_at }: store.RepoRow,
      change: { addedBytes: number; pushedAt: number },
    ): Promise<store.RepoRow | undefined> {
      const { addedBytes } = change
      const org = { id: org_id, provisional: expires_at !== null }
      if (addedBytes > 0) await quotas.addBytesIn(tx, org, addedBytes)
      const repo = await store.recordChange(tx, id, change)
      if (repo && addedBytes > 0) requireWithin(limits.repoBytes, repo.size_bytes, addedBytes)
      return repo
    },

    /** Counts what is kept for a repository beside its packs, or is not any more, within what its organization may take. */
    async takeRoomIn(tx: Tx, { org_id, expires_at }: store.RepoRow, bytes: number): Promise<void> {
      await quotas.addBytesIn(tx, { id: org_id, provisional: expires_at !== null }, bytes)
    },
    recordServerChangeIn: store.recordServerChange,

    /** For `setSizeIn`, before anything else of the repository is locked. Undefined when the repository is gone. */
    async lockToResizeIn(tx: Tx, { id, org_id }: store.RepoRow): Promise<store.RepoRow | undefined> {
      await orgs.lockIn(tx, org_id)
      return store.lock(tx, id)
    },

    /** What the packs it lists have together now, of a repository that was locked for it. */
    async setSizeIn(tx: Tx, { id, org_id, size_bytes }: store.RepoRow, bytes: number): Promise<void> {
      if (bytes === size_bytes) return
      await orgs.addBytesIn(tx, org_id, bytes - size_bytes)
      await store.setSize(tx, id, bytes)
    },
    /** Makes a branch the default one, of a repository that is locked. */
    async setDefaultBranchIn(tx: Tx, author: Author, repo: store.RepoRow, branch: string): Promise<void> {
      const updated = await store.update(tx, repo, { default_branch: branch })
      await tellUpdatedIn(tx, author, updated, updated.name)
    },
    countPruneIn: store.countPrune,
    liftExpiryIn: store.liftExpiry,

    /** The repository of this name in the acting organization, whatever the caller may do with it. */
    findIn: (tx: Tx, caller: Caller, name: string): Promise<store.RepoRow | undefined> =>
      store.findByName(tx, { orgId: caller.org.id, name, now: clock() }),

    /** By id, whoever asks: for the service itself. */
    find: (id: string): Promise<store.RepoRow | undefined> => store.findById(database.db, id, clock()),

    /** For work that takes long and ends in a new repository: better to know before. */
    async requireFree(caller: Caller, name: string): Promise<void> {
      if (await store.findByName(database.db, { orgId: caller.org.id, name, now: clock() }))
        throw new Fault('REPO_ALREADY_EXISTS', { name })
    },

    deleteExpired: deleting.deleteExpired,
    findOrgRoom,

    /** How many bytes a repository may still grow by. */
    async findRoom(repo: store.RepoRow): Promise<number> {
      return Math.max(0, Math.min(limits.repoBytes - repo.size_bytes, await findOrgRoom(repo.org_id)))
    },

    async list(caller: Caller, { cursor, limit }: { cursor?: string | undefined; limit: number }) {
      requirePower(caller, 'repo:read')
      const page = {
        orgId: caller.org.id,
        now: clock(),
        after: textCursor.decode(cursor) ?? '',
        limit: limit + 1,
      }
      const rows = caller.onlyRepoId
        ? await store.listOnly(database.db, { ...page, id: caller.onlyRepoId })
        : await store.listByName(database.db, page)
      const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.name))
      return { items: items.map(presenterFor(caller)), nextCursor }
    },

    search: createSearching({ db: database.db, clock, presenterFor }),

    /** A repository costs one row until its first object arrives. */
    async create(
      caller: Caller,
      { name, defaultBranch }: { name: string; defaultBranch: string },
    ): Promise<Repo> {
      requireBranchName(defaultBranch)
      requireMayCreate(caller)
      return database.transact(async (tx) =>
        presenterFor(caller)(await createIn(tx, caller, { name, defaultBranch })),
      )
    },

    async get(caller: Caller, { name }: { name: string }): Promise<Repo> {
      return presenterFor(caller)(await open(caller, name, 'repo:read'))
    },

    async update(
      caller: Caller,
      input: {
        name: string
        newName?: string | undefined
        defaultBranch?: string | undefined
        readOnly?: boolean | undefined
      },
    ): Promise<Repo> {
      if (input.defaultBranch !== undefined) requireBranchName(input.defaultBranch)
      const repo = await open(caller, input.name, 'repo:admin')
      requireThawed(caller)
      const renamed = database.transact(async (tx) => {
        // As it is now: somebody else may have renamed it in the meantime.
        const before = await store.lock(tx, repo.id)
        if (!before) throw new Fault('REPO_NOT_FOUND', { name: input.name })
        const updated = await store.update(tx, before, {
          name: input.newName ?? before.name,
          default_branch: input.defaultBranch ?? before.default_branch,
          read_only: input.readOnly === undefined ? before.read_only : Number(input.readOnly),
          updated_at: clock(),
        })
        if (updated.name !== before.name) {
          await names.leaveName(tx, before, clock())
          await names.takeName(tx, updated)
        }
        await tellUpdatedIn(tx, by(caller), updated, before.name)
        return presenterFor(caller)(updated)
      })
      return renamed.catch((error) => {
        throw error instanceof Duplicate
          ? new Fault('REPO_ALREADY_EXISTS', { name: input.newName ?? repo.name })
          : error
      })
    },

    async delete(caller: Caller, { name }: { name: string }): Promise<{ deleted: boolean }> {
      const repo = await open(caller, name, 'repo:admin')
      requireThawed(caller)
      if (!(await database.transact((tx) => deleting.markDeletedIn(tx, by(caller), repo.id))))
        throw new Fault('REPO_NOT_FOUND', { name })
      await deleting.removeDeleted(repo)
      return { deleted: true }
    },
  }
}

function requireBranchName(name: string): void {
  if (!parseBranchName(name)) throw invalid(['defaultBranch'], 'This is not a valid branch name')
}
