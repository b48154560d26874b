import type { MigrationPlanEntry } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { type Landings, ObjectsPruned } from '../code/landing.ts'
import type { Revisions } from '../code/revisions.ts'
import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Oid } from '../git/names.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { BUNDLER_VERSION } from './builder.ts'
import { CANONICAL_REF } from './canonical-ref.ts'
import type { DeclaredRecord } from './descriptor-schema.ts'
import { schemaHashOf } from './entries.ts'
import { brokenFault } from './faults.ts'
import { hashOfJson } from './hashes.ts'
import type { Rebuild } from './provenance.ts'
import * as store from './store.ts'
import type { SoundExtension, Survey, Surveys } from './surveys.ts'

/** A record of the commit that is to become canonical. */
interface PromotedRecord {
  extension: string
  record: DeclaredRecord
  schemaHash: string
}

/**
 * What records have to do with a promotion: say what would happen to the rows, make ready for it beside everything else,
 * and change over in the transaction of the promotion.
 */
export interface RecordMigrations {
  planMigration(
    repo: RepoRow,
    records: readonly PromotedRecord[],
    signal: AbortSignal,
  ): Promise<MigrationPlanEntry[]>
  prepare(repo: RepoRow, records: readonly PromotedRecord[], signal: AbortSignal): Promise<void>
  flipIn(tx: Tx, repo: RepoRow, records: readonly PromotedRecord[]): Promise<void>
}

/** Somebody else's part in a promotion, such as declared webhooks: in its transaction, or not at all. */
export type Follow = (tx: Tx, promotion: { repo: RepoRow; commit: Oid; survey: Survey }) => Promise<void>

interface PromotionDeps {
  database: Database
  repos: ReposService
  revisions: Revisions
  landings: Landings
  events: EventsService
  surveys: Surveys
  rebuild: Rebuild
  clock: Clock
  /** Undefined where there are no records: then a commit that declares one is not promoted. */
  records: RecordMigrations | undefined
  followers: readonly Follow[]
}

interface Promotion {
  name: string
  ref?: string | undefined
  dryRun?: boolean | undefined
}

/** Somebody else has promoted meanwhile. */
class Outrun extends Error {}

const ATTEMPTS = 5

export type PromotionService = ReturnType<typeof createPromotionService>

/** Makes a commit canonical: its extensions, what they are granted, and everything that follows from them. */
export function createPromotionService(deps: PromotionDeps) {
  const { database, repos, revisions, landings, events, surveys, rebuild, clock, records, followers } = deps
  const inTurn = createTurns()

  async function migrationsFor(repo: RepoRow, promoted: readonly PromotedRecord[], signal: AbortSignal) {
    if (promoted.length === 0) return []
    if (!records) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'records' })
    return records.planMigration(repo, promoted, signal)
  }

  async function promote(caller: Caller, { name, ref, dryRun = false }: Promotion, signal: AbortSignal) {
    const repo = await repos.open(caller, name, 'repo:admin')
    if (!dryRun) repos.requireWritable(caller, repo)
    const { commit: before } = await store.readCanonical(database.db, repo.id)
    const commit = await revisions.commitAt(repo, ref, signal)
    const survey = await surveys.at(repo, { commit, buildAll: rebuild }, signal)
    if (survey.problems.length > 0) throw brokenFault(repo, survey.problems)

    const promoted = survey.extensions.flatMap(recordOf)
    const migrations = await migrationsFor(repo, promoted, signal)
    const answer = { ref: CANONICAL_REF, oid: commit, migrations }
    if (dryRun) return answer
    const blocked = migrations.filter(({ kind }) => kind === 'blocked')
    if (blocked.length > 0)
      throw new Fault('RECORD_MIGRATION_BLOCKED', {
        name: repo.name,
        reasons: blocked.flatMap(({ reasons = [] }) => reasons),
      })
    if (promoted.length > 0) await records?.prepare(repo, promoted, signal)

    await database.transact(async (tx) => {
      const current = await landings.moveServerRefIn(tx, repo, { ref: CANONICAL_REF, oid: commit })
      // Under the lock of the repository: what was planned must still be what is changed.
      if ((await store.readCanonical(tx, repo.id)).commit !== before) throw new Outrun()
      await store.replaceCanonical(tx, {
        commit: { repo_id: repo.id, commit_oid: commit, promoted_at: clock() },
        extensions: survey.extensions.map((extension) => canonicalRow(repo, extension)),
      })
      await records?.flipIn(tx, current, promoted)
      for (const follow of followers) await follow(tx, { repo: current, commit, survey })
      await events.append(tx, {
        ...by(caller),
        scope: repoScope(repo.id),
        type: 'extension.promoted',
        subject: CANONICAL_REF,
        payload: {
          ref: CANONICAL_REF,
          before: before ?? null,
          after: commit,
          extensions: survey.extensions.map(({ name, moduleHash }) => ({ name, moduleHash })),
          migrations: migrations.map(({ recordName, kind, schemaHash }) => ({
            recordName,
            kind,
            schemaHash,
          })),
        },
      })
    })
    return answer
  }

  return {
    /** Those of one repository follow each other, here and wherever else the database is used. */
    promote: (caller: Caller, promotion: Promotion, signal: AbortSignal) =>
      inTurn(`${caller.org.id} ${promotion.name}`, async () => {
        for (let attempt = 1; ; attempt++)
          try {
            return await promote(caller, promotion, signal)
          } catch (error) {
            const isOutrun = error instanceof Outrun || error instanceof ObjectsPruned
            if (!isOutrun || attempt === ATTEMPTS) throw error
          }
      }),
  }
}

function recordOf({ name, descriptor: { record } }: SoundExtension): PromotedRecord[] {
  return record ? [{ extension: name, record, schemaHash: schemaHashOf(record) }] : []
}

function canonicalRow(repo: RepoRow, extension: SoundExtension): store.CanonicalExtensionRow {
  const { name, descriptor, json, descriptorHash, modulePath, moduleHash } = extension
  const granted = (descriptor.capabilities ?? []).toSorted()
  return {
    repo_id: repo.id,
    name,
    descriptor: JSON.stringify(json),
    descriptor_hash: descriptorHash,
    module_path: modulePath,
    module_hash: moduleHash,
    bundler_version: BUNDLER_VERSION,
    granted: JSON.stringify(granted),
    grant_hash: hashOfJson(granted),
    record_name: descriptor.record?.name ?? null,
    schema_hash: descriptor.record ? schemaHashOf(descriptor.record) : null,
  }
}

/** One after the other for each key. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key)
    const mine = (async () => {
      await before?.catch(() => {})
      return work()
    })()
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
