import { ObjectMissing } from '../git/objects/reader.ts'
import { type PackDamage, PackMissing, type PackStore } from '../git/packs/pack-store.ts'
import { GitError } from '../git/process/command.ts'
import { ProtocolError } from '../git/protocol/pkt-line.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { Log } from '../platform/log.ts'
import { createRecent } from '../platform/recent.ts'
import type { RepoRegister } from '../repos/register.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import * as healthStore from './health-store.ts'
import type { PackLists } from './pack-lists.ts'
import * as store from './store.ts'

interface PackHealthDeps {
  database: Database
  packs: PackStore
  packLists: PackLists
  register: RepoRegister
  clock: Clock
  log: Log
}

/** More than this is not read while somebody waits: it is left to the scrub, which takes it first. */
const READ_AT_ONCE_BYTES = 256 * 1024 * 1024
/** Whoever asks for what does not exist must not have packs read again and again. */
const READ_AGAIN_MS = 10 * 60_000
const REMEMBERED_READS = 10_000
/** So many repositories are named where a pack is told of; a pack may be listed by thousands of forks. */
const NAMED = 10

const DAMAGED = "This repository's data is damaged; the operator has been told"

export type PackHealth = ReturnType<typeof createPackHealth>

/** Knows which packs are not what they were, and keeps what is in them from being taken for the truth. */
export function createPackHealth({ database, packs, packLists, register, clock, log }: PackHealthDeps) {
  const { db } = database
  const lastRead = createRecent<string, number>({ maxEntries: REMEMBERED_READS })

  /** The repositories that list a pack, as people call them. */
  const namesOf = async (packId: string): Promise<string[]> => {
    const names = await register.namesOf(await healthStore.listReposWith(db, packId, NAMED))
    return [...names.values()]
  }

  /** Writes down what a check has found; what is new is logged. */
  async function record(pack: store.PackRow, damage: PackDamage | undefined): Promise<void> {
    const found = { checkedAt: clock(), damage: damage ?? null }
    await database.transact((tx) => healthStore.recordCheck(tx, pack.id, found))
    if (pack.damage !== found.damage) packLists.forgetAll()
    const about = { pack: pack.id, repositories: await namesOf(pack.id) }
    if (damage && pack.damage !== damage) log.error('a pack is damaged', { ...about, damage })
    if (!damage && pack.damage) log.info('a pack that was damaged is whole again', about)
  }

  const damaged = (repo: RepoRow, cause?: unknown) =>
    new Fault('REPO_WORKSPACE_REQUIRED', { name: repo.name }, { message: DAMAGED, cause })

  /** Looks at the packs of a repository after something went wrong there. Says whether one is not what it was. */
  async function isDamaged(repo: RepoRow, { mayRead }: { mayRead: boolean }): Promise<boolean> {
    const listed = await store.listPacks(db, repo.id)
    const bytes = listed.reduce((sum, pack) => sum + pack.bytes, 0)
    const isDue = mayRead && clock() - (lastRead.get(repo.id) ?? Number.NEGATIVE_INFINITY) > READ_AGAIN_MS
    if (isDue) lastRead.set(repo.id, clock())
    const isRead = isDue && bytes <= READ_AT_ONCE_BYTES
    let found = false
    for (const pack of listed) {
      const damage = await packs.examine(pack, isRead ? {} : undefined)
      if (damage) await record(pack, damage)
      found ||= damage !== undefined
    }
    if (isDue && !isRead && !found) {
      const ids = listed.map(({ id }) => id)
      await database.transact((tx) => healthStore.hastenCheck(tx, ids))
    }
    return found
  }

  return {
    record,
    namesOf,

    /** Throws when a pack is known to be damaged: what git made of it might be wrong. */
    requireSound(repo: RepoRow, listed: readonly store.PackState[]): void {
      const bad = listed.find(({ damage }) => damage !== null)
      if (bad) throw damaged(repo, new Error(`pack ${bad.id} is damaged: ${bad.damage}`))
    },

    /** What to throw in place of an error: where packs are damaged or gone, that is the reason. */
    async diagnose(repo: RepoRow, error: unknown): Promise<unknown> {
      const isOfGit = error instanceof GitError && error.exitCode !== null
      const isMiss = error instanceof Fault && error.code === 'GIT_OBJECT_NOT_FOUND'
      const isSuspicious = isOfGit || error instanceof ObjectMissing || error instanceof ProtocolError
      if (error instanceof PackMissing) return damaged(repo, error)
      if (!isMiss && !isSuspicious) return error
      try {
        return (await isDamaged(repo, { mayRead: isSuspicious })) ? damaged(repo, error) : error
      } catch (cause) {
        if (cause instanceof PackMissing) return damaged(repo, cause)
        log.error('packs could not be examined', { repo: repo.id, error: cause })
        return error
      }
    },
  }
}
