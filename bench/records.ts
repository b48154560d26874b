import { load, post } from './load.ts'
import { inTurns, milliseconds, type Row } from './measure.ts'
import { runTrellis } from './processes.ts'
import { fillRecords } from './record-rows.ts'

const ROUNDS = 5
const FEW = 10_000
const MANY = 1_000_000

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
      await fillRecords(trellis, { repos: [name], rows })
    }
    const reading = (name: string) => {
      const page = { name, record: 'task', where: { owner: 'owner7' }, limit: 50 }
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
