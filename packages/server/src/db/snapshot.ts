import type { Kysely } from 'kysely'
import type { DatabaseLocation } from './database.ts'
import type { DialectName } from './dialect.ts'
import { schemaVersion } from './migrate.ts'
import { openPostgresSnapshot } from './postgres/snapshot.ts'
import { openSqliteSnapshot } from './sqlite/snapshot.ts'

type Row = Record<string, unknown>

/** What a kind of database gives for it. */
export interface OpenSnapshot {
  dialect: DialectName
  db: Kysely<unknown>
  /** Pairs of tables: the rows of the first refer to rows of the second. */
  references(): Promise<[string, string][]>
  tables(): Promise<string[]>
  rows(table: string): AsyncIterable<Row[]> | Iterable<Row[]>
  close(): Promise<void>
}

/** Everything in a database as it was at one moment, whatever is written meanwhile. Nothing is changed, not the schema either. */
export interface Snapshot<Schema> extends AsyncDisposable {
  dialect: DialectName
  db: Kysely<Schema>
  /** 0 for a database that nobody has used. */
  schemaVersion: number
  /** Those first that rows of others refer to. */
  tables: readonly string[]
  /** All rows, some at a time. */
  rows(table: string): AsyncIterable<Row[]> | Iterable<Row[]>
}

const MIGRATIONS = 'schema_migrations'

export async function openSnapshot<Schema>(location: DatabaseLocation): Promise<Snapshot<Schema>> {
  const open = await ('sqlite' in location
    ? openSqliteSnapshot(location.sqlite)
    : openPostgresSnapshot(location.postgres))
  try {
    const names = await open.tables()
    const tables = inOrder(
      names.filter((name) => name !== MIGRATIONS),
      await open.references(),
    )
    return {
      dialect: open.dialect,
      db: open.db as Kysely<Schema>,
      schemaVersion: names.includes(MIGRATIONS) ? await schemaVersion(open.db) : 0,
      tables,
      rows: (table) => {
        if (!tables.includes(table)) throw new RangeError('not a table')
        return open.rows(table)
      },
      [Symbol.asyncDispose]: open.close,
    }
  } catch (error) {
    await open.close()
    throw error
  }
}

/** So that rows put in in this order refer only to those that are there. */
function inOrder(tables: readonly string[], references: readonly [string, string][]): string[] {
  const ordered: string[] = []
  const place = (table: string, above: readonly string[]) => {
    if (ordered.includes(table) || above.includes(table)) return
    for (const [from, to] of references) if (from === table && to !== table) place(to, [...above, table])
    ordered.push(table)
  }
  for (const table of tables.toSorted()) place(table, [])
  return ordered
}
