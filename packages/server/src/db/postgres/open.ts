import { PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { fieldOf, type OpenDialect } from '../dialect.ts'

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
  const sqlstate = (error: unknown) => String(fieldOf(error, 'code') ?? '')
  return {
    name: 'postgres',
    kysely: new PostgresDialect({ pool }),
    transact: (db, work) => db.transaction().execute(work),
    close: (db) => db.destroy(),
    types: {
      text: 'text collate "C"',
      integer: 'bigint',
      boolean: 'boolean',
      instant: 'timestamptz',
      sha256: (column) => `translate(encode(sha256(convert_to(${column}, 'UTF8')), 'base64'), '+/=', '-_')`,
    },
    lockExclusively: async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK)})`.execute(tx)
    },
    isRetryable: (error) => ['40001', '40P01'].includes(sqlstate(error)),
    isOutOfSpace: (error) => sqlstate(error) === '53100',
    isDuplicate: (error) => sqlstate(error) === '23505',
  }
}
