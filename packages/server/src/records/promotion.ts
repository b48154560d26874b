import type { MigrationPlanEntry } from '@trellis/contract'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { type Index, wantedIndexes } from './collection.ts'
import * as entryStore from './entry-store.ts'
import { createPreparations, type Preparation, StalePreparation } from './preparation.ts'
import { publicSchema } from './schema-hash.ts'
import * as store from './store.ts'
import { type Declared, type Planned, planMigrations } from './survey.ts'

type Repo = Pick<RepoRow, 'id' | 'name' | 'org_id'>

/** Everything that the flip needs. */
export interface PreparedMigration {
  migrations: readonly MigrationPlanEntry[]
  planned: readonly Planned[]
  preparations: readonly Preparation[]
}

export type RecordMigrations = ReturnType<typeof createRecordMigrations>

/**
 * How the schemas of a repository change: planned, then prepared beside everything that goes on, then put in force in
 * one short transaction. Whatever ends it before that leaves the old ones in force, and entries that upkeep removes.
 */
export function createRecordMigrations({
  database,
  clock,
  newId,
  log,
}: {
  database: Database
  clock: Clock
  newId: NewId
  log: Log
}) {
  const preparing = createPreparations({ database, clock, newId, log })

  function blocked({ name }: Repo, entries: readonly MigrationPlanEntry[]): Fault {
    const reasons = entries.flatMap(({ recordName, reasons = [] }) =>
      reasons.map((reason) => `${recordName}: ${reason}`),
    )
    return new Fault('RECORD_MIGRATION_BLOCKED', { name, reasons })
  }

  async function createIn(tx: Tx, repo: Repo, { schema, declared, hash }: Planned): Promise<void> {
    const now = clock()
    const id = newId('col')
    const indexes: Index[] = wantedIndexes(schema).map((index) => ({ id: newId('idx'), ...index }))
    await store.insertCollection(tx, {
      id,
      repo_id: repo.id,
      org_id: repo.org_id,
      name: schema.name,
      declared: JSON.stringify(publicSchema(declared)),
      schema_hash: hash,
      in_force: 1,
      version: 1,
      upgrades: '[]',
      indexes: JSON.stringify(indexes),
      row_count: 0,
      bytes: 0,
      reserved_bytes: 0,
      changes: 0,
      rewritten_to: null,
      created_at: now,
      updated_at: now,
    })
    for (const index of indexes)
      await entryStore.insertIndex(tx, {
        id: index.id,
        collection_id: id,
        state: 'in force',
        touched_at: now,
      })
  }

  return {
    /** What promoting these records would do, all of it counted. Changes nothing. */
    async plan(
      repo: Repo,
      declared: readonly Declared[],
      signal?: AbortSignal,
    ): Promise<{ entry: MigrationPlanEntry; rows: number }[]> {
      const planned = await planMigrations(database.db, repo.id, declared, signal)
      return planned.map(({ entry, current }) => ({ entry, rows: current?.row.row_count ?? 0 }))
    },

    /** Does all that takes long. Throws RECORD_MIGRATION_BLOCKED. */
    async prepare(
      repo: Repo,
      declared: readonly Declared[],
      signal?: AbortSignal,
    ): Promise<PreparedMigration> {
      const planned = await planMigrations(database.db, repo.id, declared, signal)
      const migrations = planned.map(({ entry }) => entry)
      if (migrations.some(({ kind }) => kind === 'blocked')) throw blocked(repo, migrations)
      const preparations: Preparation[] = []
      try {
        for (const one of planned) {
          if (!one.current || !one.comparison) continue
          const preparation = await preparing.begin(one)
          preparations.push(preparation)
          await preparing.catchUp(preparation, signal)
        }
      } catch (error) {
        // Should this fail, too, upkeep finds what was begun.
        await preparing.discard(preparations).catch(() => {})
        throw error
      }
      return { migrations, planned, preparations }
    },

    /** For a preparation that does not come to its flip. */
    discard: ({ preparations }: PreparedMigration): Promise<void> => preparing.discard(preparations),

    /** Puts the schemas in force, and takes all others of the repository out of it. */
    async flipIn(tx: Tx, repo: Repo, { planned, preparations }: PreparedMigration): Promise<void> {
      const existing = new Map((await store.listCollections(tx, repo.id)).map((row) => [row.name, row]))
      const byName = planned.toSorted((a, b) => (a.schema.name < b.schema.name ? -1 : 1))
      for (const one of byName) {
        const row = existing.get(one.schema.name)
        if (row?.id !== one.current?.row.id) throw new StalePreparation()
        if (!one.current) await createIn(tx, repo, one)
        else {
          const preparation = preparations.find(({ collectionId }) => collectionId === row?.id)
          if (!preparation) throw new StalePreparation()
          const problems = await preparing.finishIn(tx, preparation)
          if (problems.length > 0)
            throw new Fault('RECORD_MIGRATION_BLOCKED', {
              name: repo.name,
              reasons: problems.map((problem) => `${one.schema.name}: ${problem}`),
            })
        }
      }
      for (const [name, { id, in_force }] of existing)
        if (in_force === 1 && !planned.some(({ schema }) => schema.name === name))
          await store.updateCollection(tx, id, { in_force: 0, updated_at: clock() })
    },
  }
}
