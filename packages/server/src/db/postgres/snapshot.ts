import { Kysely, PostgresDialect, sql } from 'kysely'
import { trackOutages } from '../outages.ts'
import type { OpenSnapshot } from '../snapshot.ts'
import { createPool } from './pool.ts'
import { inWords } from './start-errors.ts'

/** How many rows are held in memory at a time. */
const BATCH = 500

export async function openPostgresSnapshot(url: string): Promise<OpenSnapshot> {
  // It is read for as long as a copy takes.
  const pool = createPool({ url, size: 1, patient: true, outages: trackOutages({}) })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  const tx = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute()
    .catch(async (error: unknown) => {
      await db.destroy()
      throw inWords(error, url) ?? error
    })
  return {
    dialect: 'postgres',
    db: tx,
    async tables() {
      const { rows } = await sql<{ name: string }>`
        select tablename as name from pg_tables where schemaname = current_schema()`.execute(tx)
      return rows.map(({ name }) => name)
    },
    async references() {
      const { rows } = await sql<{ from: string; to: string }>`
        select child.relname as "from", parent.relname as "to" from pg_constraint
        join pg_class child on child.oid = conrelid join pg_class parent on parent.oid = confrelid
        where contype = 'f' and connamespace = current_schema()::regnamespace`.execute(tx)
      return rows.map(({ from, to }) => [from, to])
    },
    async *rows(table) {
      await sql`declare every_row no scroll cursor for select * from ${sql.table(table)}`.execute(tx)
      for (;;) {
        const { rows } = await sql<Record<string, unknown>>`fetch ${sql.lit(BATCH)} from every_row`.execute(
          tx,
        )
        if (rows.length === 0) break
        yield rows
      }
      await sql`close every_row`.execute(tx)
    },
    async close() {
      await tx.rollback().execute()
      await db.destroy()
    },
  }
}
