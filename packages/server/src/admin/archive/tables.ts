import { join } from 'node:path'
import { type DatabaseLocation, openDatabase } from '../../db/database.ts'
import { loadTables } from '../../db/load.ts'
import { SchemaTooNew } from '../../db/migrate.ts'
import { migrations } from '../../db/migrations/index.ts'
import type { Snapshot } from '../../db/snapshot.ts'
import type { Schema } from '../../schema.ts'
import { readLines, writeLines } from './files.ts'
import { type Manifest, tableFile } from './manifest.ts'

/** Writes every table of a snapshot into a file of its own. */
export async function writeTables(
  snapshot: Snapshot<Schema>,
  directory: string,
): Promise<Manifest['database']['tables']> {
  const written: Manifest['database']['tables'] = []
  for (const name of snapshot.tables) {
    const { lines, ...digest } = await writeLines(join(directory, tableFile(name)), rowsOf(snapshot, name))
    written.push({ name, rows: lines, ...digest })
  }
  return written
}

async function* rowsOf(snapshot: Snapshot<Schema>, table: string): AsyncGenerator<string> {
  for await (const rows of snapshot.rows(table)) for (const row of rows) yield JSON.stringify(row)
}

/** Fills an empty database of either kind with the tables of a backup, with the schema that they had. */
export async function loadBackup(
  directory: string,
  { schemaVersion, tables }: Manifest['database'],
  location: DatabaseLocation,
): Promise<void> {
  if (schemaVersion > migrations.length) throw new SchemaTooNew(schemaVersion, migrations.length)
  const database = await openDatabase<unknown>(location, { steps: migrations.slice(0, schemaVersion) })
  try {
    await loadTables(
      database,
      tables.map((table) => ({
        name: table.name,
        rows: parsed(readLines(join(directory, tableFile(table.name)), table)),
      })),
    )
  } finally {
    await database.close()
  }
}

async function* parsed(lines: AsyncIterable<string>): AsyncGenerator<Record<string, unknown>> {
  for await (const line of lines) yield JSON.parse(line)
}
