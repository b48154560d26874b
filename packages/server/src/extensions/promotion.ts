import type { PlannedChange, PromotionPlan } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { type Landings, ObjectsPruned } from '../code/landing.ts'
import type { Revisions } from '../code/revisions.ts'
import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Oid } from '../git/names.ts'
import type { Clock } from '../platform/clock.ts'
import { hashOfJson } from '../platform/hashes.ts'
import { StalePreparation } from '../records/preparation.ts'
import type { PreparedMigration, RecordMigrations } from '../records/promotion.ts'
import { schemaHash } from '../records/schema-hash.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { type DeclaredWebhook, type DeclaredWebhooks, StaleWebhooks } from '../webhooks/declared.ts'
import { BUNDLER_VERSION } from './builder.ts'
import { CANONICAL_REF } from './canonical-ref.ts'
import { brokenFault } from './faults.ts'
import { firstProblems } from './problems.ts'
import { changesBetween, type ExtensionChange } from './promotion-changes.ts'
import type { Rebuild } from './provenance.ts'
import * as store from './store.ts'
import type { SoundExtension, Survey, Surveys } from './surveys.ts'
import { declarationOf, problemOf } from './webhook-declarations.ts'

interface PromotionDeps {
  database: Database
  repos: ReposService
  revisions: Revisions
  landings: Landings
  events: EventsService
  surveys: Surveys
  rebuild: Rebuild
  clock: Clock
  recordMigrations: RecordMigrations
  declaredWebhooks: DeclaredWebhooks
  following: readonly FollowsPromotion[]
}

/** Whoever keeps something of the canonical commit, and changes it in the transaction that puts another in force. */
export type FollowsPromotion = (
  tx: Tx,
  repo: RepoRow,
  extensions: readonly SoundExtension[],
  commit: string,
) => Promise<void>

/** A commit that is ready to be put in force. */
interface Flip {
  repo: RepoRow
  /** What is canonical so far. */
  before: store.Canonical
  commit: Oid
  survey: Survey
  webhooks: readonly DeclaredWebhook[]
  prepared: PreparedMigration
}

interface Promotion {
  name: string
  ref?: string | undefined
  dryRun?: boolean | undefined
}

/** Somebody else has promoted meanwhile. */
class Outrun extends Error {}

/** What was made ready does not fit any more: it is worth another look. */
const isOutrun = (error: unknown): boolean =>
  [Outrun, ObjectsPruned, StalePreparation, StaleWebhooks].some((kind) => error instanceof kind)

const ATTEMPTS = 5
const ERRORS_SHOWN = 1000

export type PromotionService = ReturnType<typeof createPromotionService>

/** Makes a commit canonical: its extensions, what they are granted, and everything that follows from them. */
export function createPromotionService(deps: PromotionDeps) {
  const { database, repos, revisions, landings, events, surveys, rebuild, clock } = deps
  const { recordMigrations, declaredWebhooks, following } = deps
  const inTurn = createTurns()

  /** What a commit declares, and what stands against putting it in force. */
  async function look(repo: RepoRow, ref: string | undefined, signal: AbortSignal) {
    const before = await store.readCanonical(database.db, repo.id)
    const commit = await revisions.commitAt(repo, ref, signal)
    const survey = await surveys.at(repo, { commit, buildAll: rebuild }, signal)
    const webhooks = survey.webhooks.map(declarationOf)
    const problems =
      survey.problems.length > 0
        ? survey.problems
        : (await declaredWebhooks.problems(repo, webhooks)).map(problemOf)
    const records = survey.extensions.flatMap(({ descriptor: { record } }) => record ?? [])
    return { before, commit, survey, webhooks, records, problems }
  }

  async function promote(caller: Caller, { name, ref, dryRun = false }: Promotion, signal: AbortSignal) {
    const repo = await repos.open(caller, name, 'repo:admin', (repo) => revisions.commitAt(repo, ref, signal))
    if (!dryRun) repos.requireWritable(caller, repo)
    const { before, commit, survey, webhooks, records, problems } = await look(repo, ref, signal)
    if (problems.length > 0) throw brokenFault(repo, problems)
    const answer = { ref: CANONICAL_REF, oid: commit }
    if (dryRun) {
      const planned = await recordMigrations.plan(repo, records, signal)
      return { ...answer, migrations: planned.map(({ entry }) => entry) }
    }
    const prepared = await recordMigrations.prepare(repo, records, signal)
    try {
      await flip(caller, { repo, before, commit, survey, webhooks, prepared })
    } catch (error) {
      // Should this fail, too, upkeep finds what was begun.
      await recordMigrations.discard(prepared).catch(() => {})
      throw error
    }
    return { ...answer, migrations: [...prepared.migrations] }
  }

  /** All of it comes into force at once. */
  async function flip(caller: Caller, { repo, before, commit, survey, webhooks, prepared }: Flip) {
    const extensions = survey.extensions.map((extension) => canonicalRow(repo, extension))
    const { changes, changesTruncated } = changesBetween(before.extensions, extensions)
    await database.transact(async (tx) => {
      const current = await landings.moveServerRefIn(tx, repo, { ref: CANONICAL_REF, oid: commit })
      // Under the lock of the repository: what was planned must still be what is changed.
      if ((await store.findCanonicalCommit(tx, repo.id)) !== before.commit) throw new Outrun()
      await store.replaceCanonical(tx, {
        commit: { repo_id: repo.id, commit_oid: commit, promoted_at: clock() },
        extensions,
      })
      const { rows, ...changed } = await declaredWebhooks.changeIn(tx, repo, webhooks)
      await recordMigrations.flipIn(tx, current, prepared)
      for (const follow of following) await follow(tx, current, survey.extensions, commit)
      // Webhooks that have just come hear of it, and those that went do not.
      await events.append(tx, {
        ...by(caller),
        scope: repoScope(repo.id),
        type: 'extension.promoted',
        subject: CANONICAL_REF,
        payload: {
          ref: CANONICAL_REF,
          before: before.commit ?? null,
          after: commit,
          extensions: survey.extensions.map(({ name, moduleHash }) => ({ name, moduleHash })),
          migrations: prepared.migrations.map(({ recordName, kind, schemaHash }) => ({
            recordName,
            kind,
            schemaHash,
          })),
          changes,
          changesTruncated,
          webhooks: changed,
        },
      })
      await declaredWebhooks.tellIn(tx, by(caller), repo, rows)
    })
  }

  return {
    /** What a promotion would change. */
    async plan(caller: Caller, { name, ref }: Promotion, signal: AbortSignal): Promise<PromotionPlan> {
      const repo = await repos.open(caller, name, 'repo:admin', (repo) =>
        revisions.commitAt(repo, ref, signal),
      )
      const { before, commit, survey, webhooks, records, problems } = await look(repo, ref, signal)
      const plan = { oid: commit, before: before.commit ?? null, errors: [] }
      if (problems.length > 0) {
        const errors = problems.map(({ path, message }) => ({ path, message }))
        return { ...nothing, ...plan, errors: firstProblems(errors, ERRORS_SHOWN, 'extensions') }
      }
      const after = survey.extensions.map((extension) => canonicalRow(repo, extension))
      const { changes, changesTruncated } = changesBetween(before.extensions, after)
      const migrations = await recordMigrations.plan(repo, records, signal)
      return {
        ...plan,
        changes: changes.map((change) => plannedChange(change, survey.extensions)),
        changesTruncated,
        migrations: migrations.map(({ entry, rows }) => ({ ...entry, rows })),
        webhooks: await declaredWebhooks.changesTo(repo, webhooks),
      }
    },

    /** Those of one repository follow each other, here and wherever else the database is used. */
    promote: (caller: Caller, promotion: Promotion, signal: AbortSignal) =>
      inTurn(`${caller.org.id} ${promotion.name}`, async () => {
        for (let attempt = 1; ; attempt++)
          try {
            return await promote(caller, promotion, signal)
          } catch (error) {
            if (!isOutrun(error) || attempt === ATTEMPTS) throw error
          }
      }),
  }
}

const nothing = {
  changes: [],
  changesTruncated: false,
  migrations: [],
  webhooks: { added: [], changed: [], removed: [] },
}

/** With what is then in force of it, where that changes. */
function plannedChange(
  { schema: _, ...change }: ExtensionChange,
  extensions: readonly SoundExtension[],
): PlannedChange {
  const { on, daemon } = extensions.find(({ name }) => name === change.extension)?.descriptor ?? {}
  return {
    ...change,
    ...(change.trigger && on && { on }),
    ...(change.daemon && daemon && { scheduleIntervalMinutes: daemon.scheduleIntervalMinutes }),
  }
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
    schema_hash: descriptor.record ? schemaHash(descriptor.record) : null,
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
