// A PostgreSQL database as SQL. There is no pg_dump among the binaries that the tests run with; what Trellis uses of
// PostgreSQL is little: tables, indexes, constraints and rows.

import pg from 'pg'

interface Column {
  table: string
  name: string
  type: string
  collation: string | null
  required: boolean
  fallback: string | null
}

const COLUMNS = `
  select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
    a.attnotnull as required, pg_get_expr(d.adbin, d.adrelid) as fallback,
    case when a.attcollation <> t.typcollation then o.collname end as collation
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_collation o on o.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
  order by c.relname, a.attnum`

/** Those that others refer to first. */
const CONSTRAINTS = `
  select format('alter table %I add constraint %I %s', c.relname, k.conname, pg_get_constraintdef(k.oid)) as sql
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where k.connamespace = current_schema()::regnamespace and k.contype <> 'n'
  order by k.contype = 'f', k.conname`

const INDEXES = `
  select pg_get_indexdef(i.indexrelid) as sql from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = current_schema()::regnamespace
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  order by c.relname`

/** Statements that make the same again in an empty database. */
export const dumpPostgres = (url: string): Promise<string> =>
  withPostgres(url, async (client) => {
    const tables = await columnsByTable(client)
    const rows: string[] = []
    for (const [table, columns] of tables) {
      const values = columns.map(({ name }) => `quote_nullable("${name}"::text)`).join(` || ', ' || `)
      const insert = `'insert into "${table}" values (' || ${values} || ')'`
      rows.push(...(await sqlOf(client, `select ${insert} as sql from "${table}"`)))
    }
    const statements = [
      ...[...tables].map(
        ([table, columns]) => `create table "${table}" (\n  ${columns.map(inWords).join(',\n  ')}\n)`,
      ),
      ...rows,
      ...(await sqlOf(client, CONSTRAINTS)),
      ...(await sqlOf(client, INDEXES)),
    ]
    return statements.map((statement) => `${statement};\n`).join('')
  })

export const loadPostgres = (url: string, dump: string): Promise<unknown> =>
  withPostgres(url, (client) => client.query(dump))

/** Every column, constraint and index, a line each. */
export const describePostgres = (url: string): Promise<string[]> =>
  withPostgres(url, async (client) => [
    ...[...(await columnsByTable(client)).values()]
      .flat()
      .map((column) => `column ${column.table}.${inWords(column)}`),
    ...(await sqlOf(client, CONSTRAINTS)),
    ...(await sqlOf(client, INDEXES)),
  ])

async function columnsByTable(client: pg.Client): Promise<Map<string, Column[]>> {
  const columns: Column[] = (await client.query(COLUMNS)).rows
  return Map.groupBy(columns, ({ table }) => table)
}

const sqlOf = async (client: pg.Client, query: string): Promise<string[]> =>
  (await client.query(query)).rows.map(({ sql }) => sql)

const inWords = ({ name, type, collation, required, fallback }: Column): string =>
  [
    `"${name}" ${type}`,
    collation && `collate "${collation}"`,
    required && 'not null',
    fallback && `default ${fallback}`,
  ]
    .filter(Boolean)
    .join(' ')

export async function withPostgres<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  return work(client).finally(() => client.end())
}
