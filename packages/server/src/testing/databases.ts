import { randomBytes } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import pg from 'pg'
import { type Database, type DatabaseLocation, openDatabase } from '../db/database.ts'
import type { DialectName } from '../db/dialects.ts'
import type { Migration } from '../db/migrations/index.ts'
import { useInSuite } from './in-suite.ts'

/** An empty database that a test may do anything with. */
export interface TestDatabase extends AsyncDisposable {
  dialect: DialectName
  location: DatabaseLocation
  /** For `TRELLIS_DATABASE_URL`; undefined stands for SQLite in the data directory. */
  url: string | undefined
  drop(): Promise<void>
}

export type CreateDatabase = () => Promise<TestDatabase>

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

export async function createPostgres(): Promise<TestDatabase> {
  const cluster = process.env.TEST_POSTGRES_URL
  if (!cluster) throw new Error('No PostgreSQL: run the tests with npm test, which starts one')
  const name = `test_${randomBytes(8).toString('hex')}`
  const url = new URL(cluster)
  url.pathname = `/${name}`
  await run(cluster, `create database ${name}`)
  const drop = () => run(cluster, `drop database if exists ${name} with (force)`)
  return {
    dialect: 'postgres',
    location: { postgres: url.href, poolSize: 4 },
    url: url.href,
    drop,
    [Symbol.asyncDispose]: drop,
  }
}

/** A database that the tests of a suite use together, opened with its own migrations. */
export const useDatabase = <Schema>(create: CreateDatabase, steps: readonly Migration[]) =>
  useInSuite(async (made): Promise<Database<Schema> & { store: TestDatabase }> => {
    const store = made.use(await create())
    const database = await openDatabase<Schema>(store.location, steps)
    made.defer(() => database.close())
    return { ...database, store }
  })

/** Ends every connection to a PostgreSQL, as when it is restarted. Returns when none of them is left. */
export async function cutConnections({ url }: TestDatabase): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  const { rows: cut } = await client.query(`select pid, pg_terminate_backend(pid) ${others}`)
  const pids = cut.map(({ pid }) => pid)
  while ((await client.query(`select pid ${others} and pid = any($1)`, [pids])).rows.length > 0);
  await client.end()
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
