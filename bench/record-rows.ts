import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Trellis } from './processes.ts'

/** So many rows have a value, however many others there are. */
const ROWS_OF_A_VALUE = 100

/** What benchmarks keep rows of. */
export const declared = {
  name: 'task',
  fields: { title: { type: 'string' }, owner: { type: 'string' }, area: { type: 'string' } },
  indexes: ['owner'],
}

export interface Filling {
  /** Repositories that are there; each gets so many rows. */
  repos: readonly string[]
  rows: number
  /** Of text fields, one or several. */
  indexes?: readonly string[]
}

/** As if the record had been promoted in each repository, and so many rows been written. */
export async function fillRecords(trellis: Trellis, filling: Filling): Promise<void> {
  const statements = fillingStatements(filling, trellis.postgres ? 'postgres' : 'sqlite')
  if (!trellis.postgres) {
    using db = new DatabaseSync(join(trellis.data, 'trellis.db'), { timeout: 10_000 })
    db.exec('begin immediate')
    for (const statement of statements) db.exec(statement)
    db.exec('commit')
    // The server would find a log of hundreds of megabytes.
    db.exec('pragma wal_checkpoint(truncate)')
    return
  }
  const client = new pg.Client(trellis.postgres)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
    await client.query('analyze')
  } finally {
    await client.end()
  }
}

function fillingStatements(
  { repos, rows, indexes = declared.indexes }: Filling,
  dialect: 'sqlite' | 'postgres',
): string[] {
  const isPostgres = dialect === 'postgres'
  const numbers = isPostgres
    ? `(select generate_series(1, ${rows}) as seq)`
    : `(with recursive numbers (seq) as (select 1 union all select seq + 1 from numbers where seq < ${rows})
        select seq from numbers)`
  const value = (field: string) =>
    field === 'title' ? `'Number ' || seq` : `'${field}' || (seq % ${Math.ceil(rows / ROWS_OF_A_VALUE)})`
  // As the server writes it: that there is a value, the value, and its end.
  const key = (fields: string) =>
    fields
      .split(',')
      .map((field) => `'1' || ${value(field)} || ${isPostgres ? 'chr' : 'char'}(1)`)
      .join(' || ')
  const chosen = `(select id, org_id from repos where name in (${repos.map((name) => `'${name}'`).join()}))`
  const listed = indexes
    .map((fields, i) => {
      const ofFields = JSON.stringify(fields.split(','))
      return `'{"id":"idx_${i}_' || id || '","fields":${ofFields},"unique":false}'`
    })
    .join(` || ',' || `)
  const schema = JSON.stringify({ ...declared, indexes })
  return [
    `insert into record_collections (id, repo_id, org_id, name, declared, schema_hash, in_force, version, upgrades,
       indexes, row_count, bytes, reserved_bytes, changes, rewritten_to, created_at, updated_at)
     select 'col_' || id, id, org_id, '${declared.name}', '${schema}', 'sha256:', 1, 1, '[]',
       '[' || ${listed} || ']', ${rows}, ${rows * 300}, ${rows * 300}, ${rows}, null, 0, 0 from ${chosen} as r`,
    ...indexes.map(
      (_, i) => `insert into record_indexes (id, collection_id, state, touched_at)
        select 'idx_${i}_' || id, 'col_' || id, 'in force', 0 from ${chosen} as r`,
    ),
    `insert into records (id, collection_id, seq, change, version, revision, data, bytes, created_at, updated_at)
     select 'rec_' || id || seq, 'col_' || id, seq, seq, 1, 1,
       '{"title":"' || ${value('title')} || '","owner":"' || ${value('owner')} || '","area":"' || ${value('area')} || '"}',
       300, 0, 0 from ${chosen} as r, ${numbers} as n`,
    ...indexes.map(
      (fields, i) => `insert into record_entries (index_id, key, seq, record_id)
        select 'idx_${i}_' || id, ${key(fields)}, seq, 'rec_' || id || seq from ${chosen} as r, ${numbers} as n`,
    ),
  ]
}
