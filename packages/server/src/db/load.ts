import type { Database } from './database.ts'

type Row = Record<string, unknown>
type AnyTables = Record<string, Row>

interface LoadedTable {
  name: string
  rows: AsyncIterable<Row>
}

/** Fits into one statement of either database, of every table. */
const BATCH = 200

/**
 * Fills the tables of a database that has its schema and nothing else, all of them or none. The rows may come from
 * either kind: what one of them has a type for and the other has not is turned into what the target keeps.
 */
export async function loadTables(
  database: Database<unknown>,
  tables: AsyncIterable<LoadedTable> | Iterable<LoadedTable>,
): Promise<void> {
  const known = await database.db.introspection.getTables()
  const booleans = new Set(
    known.flatMap(({ name, columns }) =>
      columns.filter(({ dataType }) => dataType === 'bool').map((column) => `${name}.${column.name}`),
    ),
  )
  const fit = (table: string, column: string, value: unknown): unknown => {
    if (booleans.has(`${table}.${column}`)) return value === null ? null : Boolean(value)
    return typeof value === 'boolean' ? Number(value) : value
  }
  await database.transact(async (tx) => {
    const into = tx.withTables<AnyTables>()
    for await (const { name, rows } of tables) {
      if (!known.some((table) => table.name === name)) throw new Error(`There is no table ${name}`)
      let batch: Row[] = []
      const flush = async () => {
        if (batch.length > 0) await into.insertInto(name).values(batch).execute()
        batch = []
      }
      for await (const row of rows) {
        batch.push(
          Object.fromEntries(Object.entries(row).map(([key, value]) => [key, fit(name, key, value)])),
        )
        if (batch.length === BATCH) await flush()
      }
      await flush()
    }
  })
}
