import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { fieldOf, type OpenDialect } from '../dialect.ts'
import type { Outages } from '../outages.ts'
import { createPool } from './pool.ts'
import { inWords } from './start-errors.ts'

/** Any number that no other user of the database is likely to take for an advisory lock. */
const ADVISORY_LOCK = 7_327_355_473

/** For transactions that keep others out: a few at the start, hardly any later. */
const PATIENT_CONNECTIONS = 2

export function openPostgres(
  url: string,
  { poolSize, outages }: { poolSize: number; outages: Outages },
): OpenDialect {
  const open = (size: number, patient: boolean) =>
    new PostgresDialect({ pool: createPool({ url, size, patient, outages }) })
  const patient = new Kysely<unknown>({ dialect: open(PATIENT_CONNECTIONS, true) })
  const sqlstate = (error: unknown) => String(fieldOf(error, 'code') ?? '')
  return {
    name: 'postgres',
    kysely: open(poolSize, false),
    transact: (db, work) => db.transaction().execute(work),
    transactAlone: <Schema, T>(_: Kysely<Schema>, work: (tx: Transaction<Schema>) => Promise<T>) =>
      (patient as Kysely<Schema>).transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK)})`.execute(tx)
        return work(tx)
      }),
    settled: () => undefined,
    async reach() {
      await sql`select 1`.execute(patient)
    },
    inWords: (error) => inWords(error, url),
    async close(db) {
      await Promise.all([db.destroy(), patient.destroy()])
    },
    types: {
      text: 'text collate "C"',
      integer: 'bigint',
      boolean: 'boolean',
      instant: 'timestamptz',
      sha256: (column) => `translate(encode(sha256(convert_to(${column}, 'UTF8')), 'base64'), '+/=', '-_')`,
    },
    columns: `select table_name, column_name from information_schema.columns
      where table_schema = current_schema()`,
    bytes: 'pg_database_size(current_database())',
    isRetryable: (error) => ['40001', '40P01'].includes(sqlstate(error)),
    isDuplicate: (error) => sqlstate(error) === '23505',
  }
}
