import { type QueryExecutorProvider, sql } from 'kysely'
import { StartError } from '../platform/start-error.ts'
import type { OpenDialect } from './dialect.ts'
import type { HasColumn, Migration } from './migrations/index.ts'

/** The database was written by a newer Trellis than this one. */
export class SchemaTooNew extends StartError {
  constructor(found: number, known: number) {
    super(
      `The database has schema version ${found}, but this Trellis knows only up to ${known}. ` +
        'Start the newer Trellis that wrote it, or restore a backup made before the upgrade.',
    )
  }
}

/** The database was last used by an older Trellis, and this is not the time to bring it up to date. */
class SchemaTooOld extends StartError {
  constructor(found: number, known: number) {
    super(
      `The database has schema version ${found}, and this Trellis would bring it to ${known}. ` +
        'Use the Trellis that runs on it, or start this one first.',
    )
  }
}

/** For whoever must not change the schema under a server that runs. */
export async function requireCurrent(
  tx: QueryExecutorProvider,
  migrations: readonly Migration[],
): Promise<void> {
  const found = await schemaVersion(tx)
  if (found > migrations.length) throw new SchemaTooNew(found, migrations.length)
  if (found < migrations.length) throw new SchemaTooOld(found, migrations.length)
}

/** How many migrations the database has seen. There must be the table that says so. */
export async function schemaVersion(db: QueryExecutorProvider): Promise<number> {
  const { rows } = await sql<{
    version: number | null
  }>`select max(version) as version from schema_migrations`.execute(db)
  return rows[0]?.version ?? 0
}

/**
 * Applies the migrations the database has not seen, all of them or none: the caller's transaction is exclusive, so of
 * several processes that start at once one migrates and the others find the work done.
 */
export async function migrate(
  tx: QueryExecutorProvider,
  { types, columns }: OpenDialect,
  migrations: readonly Migration[],
): Promise<void> {
  await sql`create table if not exists schema_migrations (version integer primary key, name text not null)`.execute(
    tx,
  )
  const found = await schemaVersion(tx)
  if (found > migrations.length) throw new SchemaTooNew(found, migrations.length)
  const hasColumn: HasColumn = async (table, column) => {
    const { rows } = await sql.raw<{ table_name: string; column_name: string }>(columns).execute(tx)
    return rows.some((row) => row.table_name === table && row.column_name === column)
  }

  for (const [index, { name, statements }] of migrations.entries()) {
    const version = index + 1
    if (version <= found) continue
    for (const statement of await statements(types, hasColumn)) await sql.raw(statement).execute(tx)
    await sql`insert into schema_migrations (version, name) values (${version}, ${name})`.execute(tx)
  }
}
