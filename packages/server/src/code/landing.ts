import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import { type Oid, parseBranchName, type RefName, shortRef } from '../git/names.ts'
import type { ObjectType } from '../git/objects/format.ts'
import type { UpdateFacts } from '../git/objects/push-facts.ts'
import type { PackInfo } from '../git/packs/pack-store.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault, forbidden } from '../platform/fault.ts'
import { createPausesInTransaction } from '../platform/pauses.ts'
import { createSpaced } from '../platform/spaced.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import * as abandoned from './abandoned-tips.ts'
import { withoutObstacles } from './obstacles.ts'
import type { PackLists } from './pack-lists.ts'
import { eventsOf } from './push-events.ts'
import type { RefLists } from './ref-lists.ts'
import { type Mover, type RefRules, refRulesFor } from './ref-rules.ts'
import * as refStore from './ref-store.ts'
import { headRef } from './repositories.ts'
import * as store from './store.ts'

/** One ref that shall move. */
export interface RefChange {
  ref: RefName
  /** Where it must be; null when it must not exist. */
  before: Oid | null
  /** Where it goes; null deletes it. */
  after: Oid | null
  peeled: Oid | null
  /** Of the object it goes to. */
  type: ObjectType | null
  facts?: UpdateFacts | undefined
}

interface Landing {
  repo: RepoRow
  mover: Mover
  changes: readonly RefChange[]
  /** The objects that came with it, durable in the store. */
  pack?: PackInfo | undefined
  /** All refs or none. */
  atomic: boolean
  /** What the client said with `git push -o`. */
  options?: readonly string[]
}

/** Why a ref did not move: because of where it is, or because it may not. */
export type Refused = 'stale' | 'exists' | 'obstructed' | 'atomic' | Fault

type LandingResult = Map<RefName, Refused | null>

export type Landings = ReturnType<typeof createLandings>

/** On SQLite nobody else writes while so many refs move. */
const MANY = 200
/** How long those who move many rest between two of them, as a multiple. */
const REST = 4

/** What the refs shall point to was looked at before objects were taken away, and may be gone. Nothing has landed. */
export class ObjectsPruned extends Error {
  constructor() {
    super('unreachable objects have just been removed from the repository: try again')
  }
}

/** Rolls back what was done so far; the results tell why. */
class NothingLands extends Error {
  readonly results: LandingResult

  constructor(results: LandingResult) {
    super('no ref moves')
    this.results = results
  }
}

/**
 * The one place where refs move. Refs, the pack behind them, the events and whatever these set off are written in one
 * transaction; before it nothing has happened, after it nothing can be lost.
 */
export function createLandings({
  database,
  events,
  orgs,
  repos,
  refLists,
  packLists,
  clock,
  limits,
}: {
  database: Database
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  refLists: RefLists
  packLists: PackLists
  clock: Clock
  limits: { refsPerRepo: number }
}) {
  const spaced = createSpaced(REST)

  function noteMoved(
    tx: Tx,
    { id, refs_version }: RepoRow,
    moved: readonly Pick<RefChange, 'ref' | 'before' | 'after' | 'peeled'>[],
    counted?: number,
  ): void {
    const created = moved.filter(({ before, after }) => after && !before).length
    const deleted = moved.filter(({ before, after }) => before && !after).length
    const now = moved.map(({ ref, after, peeled }) => ({
      name: ref,
      ref: after && { name: ref, oid: after, peeled },
    }))
    const change = { moved: now, added: created - deleted, counted }
    database.afterCommit(tx, () => refLists.noteMoved(id, refs_version, change))
  }

  async function landIn(
    tx: Tx,
    { repo, mover, changes, pack, atomic, options }: Landing,
  ): Promise<LandingResult> {
    const now = clock()
    // Locks the row, so that pushes to one repository follow each other.
    const current = await repos.recordChangeIn(tx, repo, { addedBytes: pack?.bytes ?? 0, pushedAt: now })
    if (!current) throw new Fault('REPO_NOT_FOUND', { name: repo.name })
    // It may have been made read-only, or its organization frozen, while the pack was on its way.
    if (current.read_only === 1 || (await orgs.isFrozenIn(tx, repo.org_id))) throw forbidden('write_frozen')

    if (current.prunes !== repo.prunes && changes.some(({ after }) => after)) throw new ObjectsPruned()

    const rules = refRulesFor(mover, current)
    let counted: number | undefined
    const room = {
      repoId: repo.id,
      maxRefs: limits.refsPerRepo,
      async count() {
        // The lock of the row has counted one more.
        counted = await refLists.countIn(tx, repo.id, current.refs_version - 1)
        return counted
      },
    }
    const results = await moveAllowed(tx, rules, room, changes)
    const moved = changes.filter(({ ref }) => results.get(ref) === null)
    if (moved.length === 0 || (atomic && moved.length < changes.length)) {
      for (const { ref } of moved) results.set(ref, 'atomic')
      throw new NothingLands(results)
    }
    noteMoved(tx, current, moved, counted)
    if (pack) await store.insertPack(tx, repo.id, pack, now)
    database.afterCommit(tx, () => packLists.noteLanded(current, pack?.packId))
    await abandoned.note(tx, repo.id, moved.flatMap(leftBehind), now)
    const branch = counted === 0 ? defaultAmong(current, moved) : undefined
    const defaultBranch = headRef({ default_branch: branch ?? current.default_branch })
    const told = { defaultBranch, options: options ?? [] }
    await events.appendAll(tx, repoScope(repo.id), eventsOf(by(mover.caller), moved, told))
    if (branch) await repos.setDefaultBranchIn(tx, by(mover.caller), current, branch)
    return results
  }

  return {
    /** Moves a ref that is the server's own, wherever it is, and gives the repository, which stays locked. */
    async moveServerRefIn(tx: Tx, repo: RepoRow, { ref, oid }: { ref: RefName; oid: Oid }): Promise<RepoRow> {
      const now = clock()
      const current = await repos.recordServerChangeIn(tx, repo.id, now)
      if (!current) throw new Fault('REPO_NOT_FOUND', { name: repo.name })
      if (current.read_only === 1 || (await orgs.isFrozenIn(tx, repo.org_id))) throw forbidden('write_frozen')
      if (current.prunes !== repo.prunes) throw new ObjectsPruned()
      const known = await refStore.findRef(tx, repo.id, ref)
      if (!known) await refStore.insertRefs(tx, repo.id, [{ name: ref, oid, peeled: null }])
      else if (known.oid !== oid) {
        await refStore.moveRefs(tx, repo.id, [{ name: ref, before: known.oid, after: oid, peeled: null }])
        await abandoned.note(tx, repo.id, [known.oid], now)
      }
      noteMoved(tx, current, [{ ref, before: known?.oid ?? null, after: oid, peeled: null }])
      return current
    },

    async land(landing: Landing): Promise<LandingResult> {
      try {
        const transact = () => database.transact((tx) => landIn(tx, landing))
        return await (landing.changes.length > MANY ? spaced(transact) : transact())
      } catch (error) {
        if (error instanceof NothingLands) return error.results
        throw error
      }
    },
  }
}

/** As long as the name of a default branch may be. */
const LONGEST_DEFAULT = 139

/** Which of the first branches of a repository becomes the default one; undefined when that one is among them. */
function defaultAmong(repo: RepoRow, moved: readonly RefChange[]): string | undefined {
  const names = moved
    .map(({ ref }) => shortRef(ref))
    .flatMap(({ name, type }) => (type === 'branch' ? name : []))
  if (names.includes(repo.default_branch)) return undefined
  const short = names.filter((name) => name.length <= LONGEST_DEFAULT && parseBranchName(name))
  return short.find((name) => name === 'main') ?? short.find((name) => name === 'master') ?? short[0]
}

/** The tip that no ref may lead to any more. */
const leftBehind = ({ before, facts }: RefChange): Oid[] => (before && !facts?.fastForward ? [before] : [])

/** Where refs move, and how many there may be. */
interface RefRoom {
  repoId: string
  maxRefs: number
  /** How many there are. */
  count(): Promise<number>
}

async function moveAllowed(
  tx: Tx,
  rules: RefRules,
  room: RefRoom,
  changes: readonly RefChange[],
): Promise<LandingResult> {
  const refused = new Map<RefName, Fault>()
  const pause = createPausesInTransaction()
  for (const change of changes) {
    const reason = rules(change)
    if (reason) refused.set(change.ref, reason)
    await pause()
  }
  const moved = await moveRefs(
    tx,
    room,
    changes.filter(({ ref }) => !refused.has(ref)),
  )
  return new Map([...moved, ...refused])
}

async function moveRefs(
  tx: Tx,
  { repoId, maxRefs, count }: RefRoom,
  changes: readonly RefChange[],
): Promise<LandingResult> {
  const results: LandingResult = new Map()
  const existing = changes.flatMap(({ ref, before, after, peeled }) =>
    before ? [{ name: ref, before, after, peeled }] : [],
  )
  const created = changes.flatMap(({ ref, before, after, peeled }) =>
    after && !before ? [{ name: ref, oid: after, peeled }] : [],
  )
  const counted = created.length > 0 ? await count() : 0
  // Deletions before what is created: they may make room for a ref below the name of another.
  const moved = await refStore.moveRefs(tx, repoId, existing)
  for (const { name } of existing) results.set(name, moved.has(name) ? null : 'stale')
  if (created.length === 0) return results

  const deleted = existing.filter(({ name, after }) => !after && moved.has(name)).length
  const observed = counted - deleted
  const clear = await withoutObstacles(tx, { repoId, stored: observed }, created)
  const fitting = clear.slice(0, Math.max(0, maxRefs - observed))
  const inserted = await refStore.insertRefs(tx, repoId, fitting)
  for (const { name } of created) results.set(name, 'obstructed')
  for (const { name } of clear) results.set(name, tooManyRefs(maxRefs, observed))
  for (const { name } of fitting) results.set(name, inserted.has(name) ? null : 'exists')
  return results
}

export const tooManyRefs = (limit: number, observed: number) =>
  new Fault(
    'QUOTA_EXCEEDED',
    { scope: 'org', limit, observed, projected: observed + 1 },
    { message: `A repository may have up to ${limit} refs` },
  )
