import { type QueryExecutorProvider, sql } from 'kysely'
import { StartError } from '../platform/start-error.ts'
import type { OpenDialect } from './dialect.ts'
import type { Migration } from './migrations/index.ts'

/** The database was written by a newer Trellis than this one. */
class SchemaTooNew extends StartError {
  constructor(found: number, known: number) {
    super(
      `The database has schema version ${found}, but this Trellis knows only up to ${known}. ` +
        'Start the newer Trellis that wrote it, or restore a backup made before the upgrade.',
    )
  }
}

/**
 * Applies the migrations the database has not seen, all of them or none: the caller's transaction is exclusive, so of
 * several processes that start at once one migrates and the others find the work done.
 */
export async function migrate(
  tx: QueryExecutorProvider,
  { types }: OpenDialect,
  migrations: readonly Migration[],
): Promise<void> {
  await sql`create table if not exists schema_migrations (version integer primary key, name text not null)`.execute(
    tx,
  )
  const { rows } = await sql<{
    version: number
  }>`select max(version) as version from schema_migrations`.execute(tx)
  const found = rows[0]?.version ?? 0
  if (found > migrations.length) throw new SchemaTooNew(found, migrations.length)

  for (const [index, { name, statements }] of migrations.entries()) {
    const version = index + 1
    if (version <= found) continue
    for (const statement of statements(types)) await sql.raw(statement).execute(tx)
    await sql`insert into schema_migrations (version, name) values (${version}, ${name})`.execute(tx)
  }
}
