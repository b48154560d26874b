import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { openDatabase } from '../db/database.ts'

const MIGRATED = 'migrated'

/** A new database of the cluster that the tests run with. */
interface PostgresDatabase {
  url: string
  drop(): Promise<void>
}

/** Makes what migrated databases are copied from, by opening it as a server does: copying is faster than migrating. */
export async function createMigrated(cluster: string): Promise<void> {
  await run(cluster, `create database ${MIGRATED}`)
  const database = await openDatabase({ postgres: urlOf(cluster, MIGRATED), poolSize: 1 })
  await database.close()
}

export async function createInCluster(state: 'migrated' | 'empty'): Promise<PostgresDatabase> {
  const cluster = process.env.TEST_POSTGRES_URL
  if (!cluster) throw new Error('No PostgreSQL: run the tests with npm test, which starts one')
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = state === 'migrated' ? MIGRATED : 'template1'
  // To copy the files takes a third of the CPU of writing all that is in them to the log as well.
  await run(cluster, `create database ${name} template ${template} strategy file_copy`)
  return {
    url: urlOf(cluster, name),
    drop: () => run(cluster, `drop database if exists ${name} with (force)`),
  }
}

/** Ends every connection to a database, as when PostgreSQL is restarted. Returns when none of them is left. */
export async function cutConnections({ url }: { url: string | undefined }): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  const { rows: cut } = await client.query(`select pid, pg_terminate_backend(pid) ${others}`)
  const pids = cut.map(({ pid }) => pid)
  while ((await client.query(`select pid ${others} and pid = any($1)`, [pids])).rows.length > 0);
  await client.end()
}

function urlOf(cluster: string, name: string): string {
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return url.href
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
