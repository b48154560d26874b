import { mkdtempSync, rmSync } from 'node:fs'
import { copyFile, mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { type Database, type DatabaseLocation, type DatabaseOptions, openDatabase } from '../db/database.ts'
import type { DialectName } from '../db/dialect.ts'
import { useInSuite } from './in-suite.ts'
import { createInCluster } from './postgres.ts'

/** A database that a test may do anything with. */
export interface TestDatabase extends AsyncDisposable {
  dialect: DialectName
  location: DatabaseLocation
  /** For `TRELLIS_DATABASE_URL`; undefined stands for SQLite in the data directory. */
  url: string | undefined
  drop(): Promise<void>
}

/** Nobody has used it yet. Unless it is to be empty, it may have been migrated already. */
export type CreateDatabase = (state?: 'empty') => Promise<TestDatabase>

/** Runs a suite once over SQLite and once over PostgreSQL. */
export function onEachDatabase(title: string, suite: (create: CreateDatabase) => void): void {
  describe(`${title} (SQLite)`, () => suite(createSqlite))
  describe(`${title} (PostgreSQL)`, () => suite(createPostgres))
}

export async function createSqlite(): Promise<TestDatabase> {
  const directory = await mkdtempDisposable(join(tmpdir(), 'trellis-sqlite-'))
  return {
    dialect: 'sqlite',
    location: { sqlite: join(directory.path, 'test.db') },
    url: undefined,
    drop: directory.remove,
    [Symbol.asyncDispose]: directory.remove,
  }
}

let migrated: Promise<string> | undefined

/** Puts a database where a server will open it, migrated already: copying is faster than migrating. */
export async function placeMigrated(path: string): Promise<void> {
  migrated ??= createMigrated()
  await copyFile(await migrated, path)
}

async function createMigrated(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'trellis-migrated-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'migrated.db')
  const database = await openDatabase({ sqlite: file })
  await database.close()
  return file
}

export async function createPostgres(state?: 'empty'): Promise<TestDatabase> {
  const { url, drop } = await createInCluster(state ?? 'migrated')
  return {
    dialect: 'postgres',
    location: { postgres: url, poolSize: 4 },
    url,
    drop,
    // The next suite need not wait, and should it fail, the cluster does not outlive the tests.
    [Symbol.asyncDispose]: async () => void drop().catch(() => {}),
  }
}

/** A database that the tests of a suite use together, opened in their own way. */
export const useDatabase = <Schema>(create: CreateDatabase, options: DatabaseOptions) =>
  useInSuite(async (made): Promise<Database<Schema> & { store: TestDatabase }> => {
    const store = made.use(await create('empty'))
    const database = await openDatabase<Schema>(store.location, options)
    made.defer(() => database.close())
    return { ...database, store }
  })
