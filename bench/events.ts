import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { load, post } from './load.ts'
import { inTurns, milliseconds, type Row } from './measure.ts'
import { runTrellis } from './processes.ts'

const ROUNDS = 5
const FEW = 1_000
const MANY = 1_000_000

/** A page of a type that is rare, in a log of a million events against one of a thousand. */
export async function rareEvents(): Promise<Row> {
  const trellis = await runTrellis()
  try {
    const headers = { authorization: `Bearer ${trellis.key}` }
    const logs = { few: FEW, many: MANY }
    for (const [name, length] of Object.entries(logs)) {
      const response = await fetch(`${trellis.url}/api/v1/repos/create`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      })
      if (!response.ok) throw new Error(await response.text())
      fill(join(trellis.data, 'trellis.db'), name, length)
    }
    const reading = (name: string) => {
      const request = post('/api/v1/events/list', { name, types: ['repo.created'] }, headers)
      return async () =>
        1000 / (await load({ port: trellis.port, connections: 1, seconds: 1, next: () => request }))
    }
    const { ours, theirs } = await inTurns(ROUNDS, reading('many'), reading('few'))
    return {
      work: 'a rare type among 1,000,000 events',
      peer: 'the same among 1,000',
      ours: milliseconds(ours),
      theirs: milliseconds(theirs),
      ratio: theirs / ours,
      goal: 0.67,
    }
  } finally {
    await trellis.stop()
  }
}

/** As if so much had been pushed. */
function fill(file: string, name: string, length: number): void {
  const db = new DatabaseSync(file, { timeout: 10_000 })
  try {
    const repo = db.prepare('select id from repos where name = ?').get(name)
    const scope = `repo:${repo?.id}`
    db.prepare(
      `with recursive numbers (seq) as (select 2 union all select seq + 1 from numbers where seq < ?)
       insert into events (scope, seq, id, type, ts, actor_kind, actor_id, payload)
       select ?, seq, ? || seq, 'git.push', 0, 'user', 'usr_x', '{"ref":"refs/heads/main"}' from numbers`,
    ).run(length, scope, `${name}-`)
    db.prepare('update event_counters set last_seq = ? where scope = ?').run(length, scope)
  } finally {
    db.close()
  }
}
