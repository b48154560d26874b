import { newId } from '../platform/ids.ts'
import { createRecordMigrations } from '../records/promotion.ts'
import type { Database } from '../schema.ts'
import type { TestApp } from './test-app.ts'

/** How records are promoted, beside everything else of a promotion. */
export const recordMigrationsOf = (app: TestApp, database: Database = app.database) =>
  createRecordMigrations({ database, clock: app.now, newId })

/** A repository by its name: tests name each of theirs differently. */
export const repoNamed = (app: TestApp, name: string) =>
  app.database.db
    .selectFrom('repos')
    .select(['id', 'name', 'org_id'])
    .where('name', '=', name)
    .executeTakeFirstOrThrow()

/** Puts these records in force, and takes all others of the repository out of it. */
export async function promoteRecords(app: TestApp, name: string, ...declared: object[]) {
  const migrations = recordMigrationsOf(app)
  const repo = await repoNamed(app, name)
  const prepared = await migrations.prepare(repo, declared)
  await app.database.transact((tx) => migrations.flipIn(tx, repo, prepared))
  return prepared.migrations
}
