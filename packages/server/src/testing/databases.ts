import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import pg from 'pg'
import type { DatabaseLocation } from '../db/database.ts'
import type { DialectName } from '../db/dialect.ts'

/** An empty database that a test may do anything with. */
export interface TestDatabase {
  dialect: DialectName
  location: DatabaseLocation
  /** For `TRELLIS_DATABASE_URL`; undefined stands for SQLite in the data directory. */
  url: string | undefined
  drop(): Promise<void>
}

/** Runs a suite once over SQLite and once over PostgreSQL. */
export function onEachDatabase(title: string, suite: (create: () => Promise<TestDatabase>) => void): void {
  describe(`${title} (SQLite)`, () => suite(createSqlite))
  describe(`${title} (PostgreSQL)`, () => suite(createPostgres))
}

export async function createSqlite(): Promise<TestDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'trellis-sqlite-'))
  return {
    dialect: 'sqlite',
    location: { sqlite: join(directory, 'test.db') },
    url: undefined,
    drop: () => rm(directory, { recursive: true, force: true }),
  }
}

export async function createPostgres(): Promise<TestDatabase> {
  const cluster = process.env.TEST_POSTGRES_URL
  if (!cluster) throw new Error('No PostgreSQL: run the tests with npm test, which starts one')
  const name = `test_${randomBytes(8).toString('hex')}`
  const url = new URL(cluster)
  url.pathname = `/${name}`
  await run(cluster, `create database ${name}`)
  return {
    dialect: 'postgres',
    location: { postgres: url.href, poolSize: 4 },
    url: url.href,
    drop: () => run(cluster, `drop database ${name} with (force)`),
  }
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
