import { join } from 'node:path'
import { call } from './git-stage.ts'
import { converse, load, post } from './load.ts'
import { inTurns, milliseconds, perSecond, type Row } from './measure.ts'
import { runScript, runTrellis, type Trellis } from './processes.ts'
import { declared, fillRecords } from './record-rows.ts'

const ROUNDS = 5
const SECONDS = 1.5
const FEW = 10_000
const MANY = 1_000_000
const REPOS = Number(process.env.BENCH_REPOS ?? 10_000)
const ROWS_A_REPO = 20
const THREE_INDEXES = ['owner', 'area', 'owner,title']

const authorized = (trellis: Trellis) => ({ authorization: `Bearer ${trellis.key}` })

/** A page that an index finds, among a million rows against ten thousand. */
export async function recordPage(): Promise<Row> {
  const trellis = await runTrellis()
  try {
    for (const [name, rows] of Object.entries({ few: FEW, many: MANY })) {
      await call(trellis, 'repos/create', { name })
      await fillRecords(trellis, { repos: [name], rows })
    }
    const reading = (name: string) => {
      const page = { name, record: declared.name, where: { owner: 'owner7' }, limit: 50 }
      const request = post('/api/v1/records/list', page, authorized(trellis))
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

let made = 0
/** A new row of a repository. */
const writing = (trellis: Trellis, name: string): string => {
  const data = { title: `Number ${made++}`, owner: `owner${made % 100}`, area: `area${made % 10}` }
  return post('/api/v1/records/create', { name, record: declared.name, data }, authorized(trellis))
}

/** Rows with an index, checks and events, against the same JSON put into a table of the same database. */
export async function recordWrites(): Promise<Row> {
  const trellis = await runTrellis()
  const bare = await runScript('bench/peers/bare-insert.ts', { args: [join(trellis.data, 'trellis.db')] })
  try {
    await call(trellis, 'repos/create', { name: 'one' })
    await fillRecords(trellis, { repos: ['one'], rows: FEW })
    const against = (port: number) => () =>
      load({ port, connections: 8, seconds: SECONDS, next: () => writing(trellis, 'one') })
    // A server runs for weeks; its first seconds, in which Node compiles it, say little.
    for (let i = 0; i < ROUNDS; i++) await against(trellis.port)()
    const { ours, theirs } = await inTurns(ROUNDS, against(trellis.port), against(bare.port))
    return {
      work: 'records/create with an index',
      peer: 'bare Node handler that inserts the JSON into the same SQLite',
      ours: perSecond(ours),
      theirs: perSecond(theirs),
      ratio: ours / theirs,
      goal: 0.33,
    }
  } finally {
    await bare.stop()
    await trellis.stop()
  }
}

/** A write where ten thousand repositories have three indexes each, against one where a single one has. */
export async function recordWritesOfMany(): Promise<Row> {
  const servers = [await runTrellis(), await runTrellis()]
  try {
    const [few, many] = await Promise.all(
      servers.map(async (trellis, i) => {
        const repos = Array.from({ length: i === 0 ? 1 : REPOS }, (_, n) => `repo-${n}`)
        const creating = repos.map((name) => post('/api/v1/repos/create', { name }, authorized(trellis)))
        await converse(trellis.port, creating)
        await fillRecords(trellis, { repos, rows: ROWS_A_REPO, indexes: THREE_INDEXES })
        let turn = 0
        // Another repository each time, all over the tables.
        const next = () => writing(trellis, repos[(turn++ * 7919) % repos.length] ?? '')
        return async () => 1000 / (await load({ port: trellis.port, connections: 1, seconds: SECONDS, next }))
      }),
    )
    if (!few || !many) throw new Error('two servers were started')
    for (let i = 0; i < ROUNDS; i++) await inTurns(1, many, few)
    const { ours, theirs } = await inTurns(ROUNDS, many, few)
    return {
      work: `records/create, each in another of ${REPOS.toLocaleString('en')} repositories with 3 indexes`,
      peer: 'the same in the only one',
      ours: milliseconds(ours),
      theirs: milliseconds(theirs),
      ratio: theirs / ours,
      goal: 0.77,
    }
  } finally {
    for (const server of servers) await server.stop()
  }
}
