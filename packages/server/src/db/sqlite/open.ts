import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { fieldOf, type OpenDialect } from '../dialect.ts'
import type { Outages } from '../outages.ts'
import { SHA256 } from './connection.ts'
import { SqliteDialect } from './dialect.ts'
import { inWords } from './start-errors.ts'
import { GroupLost } from './writer.ts'

const UNIQUE_OR_PRIMARY_KEY = [2067, 1555]

export function openSqlite(path: string, { outages }: { outages: Outages }): OpenDialect {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // SQLite would make it readable to all that the umask lets; its log and its index take after it.
  closeSync(openSync(path, 'a', 0o600))
  const errcode = (error: unknown) => Number(fieldOf(error, 'errcode') ?? 0)
  const dialect = openDialect(path, outages)
  return {
    name: 'sqlite',
    kysely: dialect,
    reads: dialect.reads,
    transact: (db, work) => dialect.transact(db, work),
    // Every transaction begins by taking the one write lock.
    transactAlone: (db, work) => dialect.transact(db, work),
    async reach() {},
    settled: () => dialect.settled(),
    inWords: (error) => inWords(error, path),
    close: () => dialect.close(),
    types: {
      text: 'text',
      integer: 'integer',
      boolean: 'integer',
      instant: 'text',
      sha256: (column) => `${SHA256}(${column})`,
    },
    columns: `select tables.name as table_name, columns.name as column_name
      from sqlite_master as tables, pragma_table_info(tables.name) as columns where tables.type = 'table'`,
    bytes: '(select page_count * page_size from pragma_page_count(), pragma_page_size())',
    isRetryable: (error) => error instanceof GroupLost,
    isDuplicate: (error) => UNIQUE_OR_PRIMARY_KEY.includes(errcode(error)),
  }
}

function openDialect(path: string, outages: Outages): SqliteDialect {
  try {
    return new SqliteDialect(path, outages)
  } catch (error) {
    throw inWords(error, path) ?? error
  }
}
