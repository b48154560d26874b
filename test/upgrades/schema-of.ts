import { DatabaseSync } from 'node:sqlite'
import { describePostgres } from './postgres-dump.ts'

const SQLITE_COLUMNS = `
  select 'column ' || tables.name || '.' || columns.name || ' ' || columns.type || iif("notnull", ' not null', '')
    || coalesce(' default ' || dflt_value, '') || iif(pk, ' key ' || pk, '') as line
  from sqlite_master as tables, pragma_table_info(tables.name) as columns where tables.type = 'table'`
const SQLITE_REFERENCES = `
  select 'reference ' || tables.name || '.' || "from" || ' to ' || "table" || '.' || "to" || ' ' || on_delete as line
  from sqlite_master as tables, pragma_foreign_key_list(tables.name) as keys where tables.type = 'table'`
const SQLITE_INDEXES = `
  select 'index ' || name || ' ' || coalesce(sql, 'of ' || tbl_name) as line from sqlite_master where type = 'index'`

/** All tables, columns and indexes, a line each. In which order the columns of a table were made makes no difference. */
export async function schemaOf(place: { sqlite: string } | { postgres: string }): Promise<string[]> {
  if ('postgres' in place) return (await describePostgres(place.postgres)).toSorted()
  using database = new DatabaseSync(place.sqlite, { readOnly: true })
  return [SQLITE_COLUMNS, SQLITE_REFERENCES, SQLITE_INDEXES]
    .flatMap((query) => database.prepare(query).all())
    .map(({ line }) => String(line))
    .toSorted()
}
