import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { load, post } from './load.ts'
import { inTurns, milliseconds, type Row } from './measure.ts'
import { runTrellis } from './processes.ts'

const ROUNDS = 5
const FEW = 10_000
const MANY = 1_000_000
/** So many rows have a value, however many others there are. */
const ROWS_OF_A_VALUE = 100

const declared = {
  name: 'task',
  fields: { title: { type: 'string' }, owner: { type: 'string' } },
  indexes: ['owner'],
}

/** A page that an index finds, among a million rows against ten thousand. */
export async function recordPage(): Promise<Row> {
  const trellis = await runTrellis()
  try {
    const headers = { authorization: `Bearer ${trellis.key}` }
    for (const [name, rows] of Object.entries({ few: FEW, many: MANY })) {
      const response = await fetch(`${trellis.url}/api/v1/repos/create`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      })
      if (!response.ok) throw new Error(await response.text())
      fill(join(trellis.data, 'trellis.db'), name, rows)
    }
    const reading = (name: string) => {
      const page = { name, record: 'task', where: { owner: 'o7' }, limit: 50 }
      const request = post('/api/v1/records/list', page, headers)
      return async () =>
        1000 / (await load({ port: trellis.port, connections: 1, seconds: 1, next: () => request }))
    }
    const { ours, theirs } = await inTurns(ROUNDS, reading('many'), reading('few'))
    return {
      work: 'a page by index among 1,000,000 rows',
      peer: 'the same among 10,000',
      ours: milliseconds(ours),
      theirs: milliseconds(theirs),
      ratio: theirs / ours,
      goal: 0.77,
    }
  } finally {
    await trellis.stop()
  }
}

/** As if the record had been promoted, and so many rows been written. */
function fill(file: string, name: string, rows: number): void {
  const db = new DatabaseSync(file, { timeout: 10_000 })
  try {
    const repo = db.prepare('select id, org_id from repos where name = ?').get(name)
    const [collection, index] = [`col_${name}`, `idx_${name}`]
    const indexes = [{ id: index, fields: ['owner'], unique: false }]
    db.exec('begin immediate')
    db.prepare(
      `insert into record_collections (id, repo_id, org_id, name, declared, schema_hash, in_force, version, upgrades,
         indexes, row_count, bytes, reserved_bytes, changes, rewritten_to, created_at, updated_at)
       values (?, ?, ?, 'task', ?, 'sha256:', 1, 1, '[]', ?, ?, 0, 0, ?, null, 0, 0)`,
    ).run(
      collection,
      String(repo?.id),
      String(repo?.org_id),
      JSON.stringify(declared),
      JSON.stringify(indexes),
      rows,
      rows,
    )
    const numbers = `with recursive numbers (seq) as (select 1 union all select seq + 1 from numbers where seq < ${rows})`
    const owner = `'o' || (seq % ${rows / ROWS_OF_A_VALUE})`
    db.prepare(
      `${numbers} insert into records (id, collection_id, seq, change, version, revision, data, bytes, created_at, updated_at)
       select 'rec_${name}' || seq, ?, seq, seq, 1, 1,
         '{"title":"Number ' || seq || '","owner":"' || ${owner} || '"}', 300, 0, 0 from numbers`,
    ).run(collection)
    db.prepare(
      `${numbers} insert into record_entries (index_id, key, seq, record_id)
       select ?, '1' || ${owner} || char(1), seq, 'rec_${name}' || seq from numbers`,
    ).run(index)
    db.exec('commit')
  } finally {
    db.close()
  }
}
