// What a database holds of runs while nobody changes it: read past the server, which is dead.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestDatabase } from '@trellis/server/testing'
import pg from 'pg'

export interface RunState {
  id: string
  status: string
  runtime: string
  worker_id: string | null
  ended_at: number | null
  error: string | null
  output: string | null
}

interface StepState {
  run_id: string
  name: string
  kind: string
  state: string
  attempt: number
  place: number | null
  result: string | null
}

export interface Snapshot {
  runs: Map<string, RunState>
  /** By run and name. */
  steps: Map<string, StepState>
  /** How often each step was done, by run and name. */
  marks: Map<string, number>
  queues: { ready: number; running: number; kept_bytes: number }[]
  keptBytes: number
}

export async function takeSnapshot(database: TestDatabase, data: string): Promise<Snapshot> {
  const runs = await read<RunState & { bytes: number }>(database, data, 'select * from runs')
  const steps = await read<StepState>(database, data, 'select * from run_steps')
  const records = await read<{ data: string }>(database, data, 'select data from records')
  const marks = records.flatMap((row) => {
    const { run, step } = JSON.parse(row.data) as { run?: string; step?: string }
    return run === undefined ? [] : `${run} ${step}`
  })
  return {
    runs: new Map(runs.map((run) => [run.id, run])),
    steps: new Map(steps.map((step) => [`${step.run_id} ${step.name}`, step])),
    marks: new Map([...Map.groupBy(marks, (mark) => mark)].map(([mark, { length }]) => [mark, length])),
    queues: await read(database, data, 'select ready, running, kept_bytes from run_queues'),
    keptBytes: runs.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Those that wait, run or sleep, all counted in the same moment. */
export async function countUnended(database: TestDatabase, data: string): Promise<number> {
  const [row] = await read<{ count: number }>(
    database,
    data,
    'select count(*) as count from runs where ended_at is null',
  )
  return row?.count ?? 0
}

async function read<Row extends object>({ url }: TestDatabase, data: string, query: string): Promise<Row[]> {
  if (!url) {
    using sqlite = new DatabaseSync(join(data, 'trellis.db'), { timeout: 10_000 })
    return sqlite
      .prepare(query)
      .all()
      .map((row) => ({ ...row }) as Row)
  }
  // Numbers as SQLite gives them.
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, Number)
  const client = new pg.Client({ connectionString: url, types })
  await client.connect()
  const { rows } = await client.query<Row>(query).finally(() => client.end())
  return rows
}
