import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  type Dialect,
  type Kysely,
  PostgresDialect,
  type QueryExecutorProvider,
  sql,
  type Transaction,
} from 'kysely'
import pg from 'pg'
import type { Direct } from './prepared.ts'
import { SqliteDialect } from './sqlite/dialect.ts'
import { GroupLost } from './sqlite/writer.ts'

export type DialectName = 'sqlite' | 'postgres'

/** Column types for migrations: everything that has to be said differently to the two databases is said here. */
export interface ColumnTypes {
  /** Text ordered by code point, so that pages come in the same order everywhere. */
  text: string
  /** Exact up to 2^53. Also flags, as 0 and 1, and Unix milliseconds. */
  integer: string
  /** A true boolean, for tables whose rows a library writes. */
  boolean: string
  /** A point in time, for tables whose rows a library writes. */
  instant: string
}

export interface OpenDialect {
  name: DialectName
  kysely: Dialect
  types: ColumnTypes
  /** Where prepared queries run at once, of a database that need not be waited for. */
  reads?: Direct
  transact<Schema, T>(db: Kysely<Schema>, work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  close<Schema>(db: Kysely<Schema>): Promise<void>
  /** Held to the end of the transaction: only one process migrates or initialises at a time. */
  lockExclusively(tx: QueryExecutorProvider): Promise<void>
  /** Whether the database gave up on a transaction for reasons that running it again will cure. */
  isRetryable(error: unknown): boolean
  isOutOfSpace(error: unknown): boolean
  /** Whether a row would have been the second with something that must be unique. */
  isDuplicate(error: unknown): boolean
}

const UNIQUE_OR_PRIMARY_KEY = [2067, 1555]

export function openSqlite(path: string): OpenDialect {
  mkdirSync(dirname(path), { recursive: true })
  const errcode = (error: unknown) => (isCoded(error, 'errcode') ? Number(error.errcode) : 0)
  const dialect = new SqliteDialect(path)
  return {
    name: 'sqlite',
    kysely: dialect,
    reads: dialect.reads,
    transact: (db, work) => dialect.transact(db, work),
    close: () => dialect.close(),
    types: { text: 'text', integer: 'integer', boolean: 'integer', instant: 'text' },
    // Every transaction begins by taking the one write lock.
    lockExclusively: async () => {},
    isRetryable: (error) => error instanceof GroupLost,
    isOutOfSpace: (error) => (errcode(error) & 0xff) === 13,
    isDuplicate: (error) => UNIQUE_OR_PRIMARY_KEY.includes(errcode(error)),
  }
}

/** Any number that no other user of the database is likely to take for an advisory lock. */
const ADVISORY_LOCK = 7_327_355_473

export function openPostgres(url: string, { poolSize }: { poolSize: number }): OpenDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  })
  // A connection that breaks is replaced on next use. Without a listener it would end the process: an idle one by the
  // pool's, one in the middle of a transaction by its own. Whoever uses it hears of it from the next query.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const sqlstate = (error: unknown) => (isCoded(error, 'code') ? String(error.code) : '')
  return {
    name: 'postgres',
    kysely: new PostgresDialect({ pool }),
    transact: (db, work) => db.transaction().execute(work),
    close: (db) => db.destroy(),
    types: { text: 'text collate "C"', integer: 'bigint', boolean: 'boolean', instant: 'timestamptz' },
    lockExclusively: async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK)})`.execute(tx)
    },
    isRetryable: (error) => ['40001', '40P01'].includes(sqlstate(error)),
    isOutOfSpace: (error) => sqlstate(error) === '53100',
    isDuplicate: (error) => sqlstate(error) === '23505',
  }
}

function isCoded<K extends string>(error: unknown, key: K): error is Error & Record<K, unknown> {
  return error instanceof Error && key in error
}
