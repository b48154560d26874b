import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { OpenSnapshot } from '../snapshot.ts'
import { SqliteConnection } from './connection.ts'

/** How many rows are held in memory at a time. */
const BATCH = 500

/** A reader in WAL mode sees one moment for as long as its transaction lasts, and holds nobody up. */
export async function openSqliteSnapshot(path: string): Promise<OpenSnapshot> {
  const connection = new SqliteConnection(path, { readOnly: true })
  connection.run('begin')
  const list = (query: string) => connection.run(query).rows as Record<string, string>[]
  // The moment is that of the first read.
  const tables = list("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
  return {
    dialect: 'sqlite',
    db: new Kysely<unknown>({ dialect: dialectOver(connection) }),
    tables: async () => tables.map(({ name = '' }) => name),
    references: async () =>
      list(
        `select tables.name as "from", keys."table" as "to"
        from sqlite_master as tables join pragma_foreign_key_list(tables.name) as keys where tables.type = 'table'`,
      ).map(({ from = '', to = '' }) => [from, to]),
    *rows(table) {
      let batch: Record<string, unknown>[] = []
      for (const row of connection.each(`select * from "${table}"`)) {
        batch.push(row)
        if (batch.length < BATCH) continue
        yield batch
        batch = []
      }
      yield batch
    },
    close: async () => connection.close(),
  }
}

/** Kysely over the one connection. */
function dialectOver(connection: SqliteConnection): Dialect {
  const session: DatabaseConnection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => ({
      rows: connection.run(sql, parameters).rows as R[],
    }),
    /** Rows are streamed past Kysely. */
    streamQuery(): never {
      throw new Error('Streaming rows is not supported')
    },
  }
  const nothing = async () => {}
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => session,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  }
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}
