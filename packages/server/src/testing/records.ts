import { before } from 'node:test'
import type { Clock } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { createLog } from '../platform/log.ts'
import { createRecordMigrations } from '../records/promotion.ts'
import type { Database } from '../schema.ts'
import type { CreateDatabase } from './databases.ts'
import type { Person } from './organizations.ts'
import { type TestApp, useApp } from './test-app.ts'

/** What most tests keep rows of. */
export const taskRecord = {
  name: 'task',
  fields: {
    title: { type: 'string', required: true, maxLength: 200 },
    status: {
      type: 'enum',
      values: ['open', 'doing', 'done'],
      default: 'open',
      transitions: { open: ['doing', 'done'], doing: ['open', 'done'], done: [] },
    },
    priority: { type: 'integer', min: 1, max: 5, default: 3 },
  },
  indexes: ['status', 'status,priority'],
}

/** A Trellis that the tests of a suite use together, in which somebody has repositories with records. */
export function useRecords(create: CreateDatabase, env: Record<string, string> = {}) {
  const app = useApp(create, env)
  let owner: Person
  let made = 0
  before(async () => {
    owner = await app.signUp('ada')
  })
  const client = () => app.client(owner.token)
  return {
    app,
    client,
    owner: () => owner,
    /** A new repository with these records in force; gives its name. */
    async promoted(...declared: object[]): Promise<string> {
      const name = `repo-${++made}`
      await client().repos.create({ name })
      if (declared.length > 0) await promoteRecords(app, name, ...declared)
      return name
    },
    addTask: (name: string, data: object) =>
      client().records.create({ name, record: taskRecord.name, data: { ...data } }),
  }
}

/** How records are promoted, beside everything else of a promotion. */
export const recordMigrationsOf = (
  app: TestApp,
  { database = app.database, clock = app.now, onLog = () => {} }: RecordMigrationsParts = {},
) => createRecordMigrations({ database, clock, newId, log: createLog('info', onLog) })

interface RecordMigrationsParts {
  database?: Database
  clock?: Clock
  onLog?(lines: string): void
}

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
