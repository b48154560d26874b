import { load, post } from './load.ts'
import { milliseconds, type Row } from './measure.ts'
import { runTrellis, type Trellis } from './processes.ts'

const REPOS = 4
const PER_REPO = 250
const DAEMONS = REPOS * PER_REPO

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A thousand daemons that come due in one moment, and how late the last of them is woken; the peer is one alone. */
export async function daemonLateness(): Promise<Row> {
  const trellis = await runTrellis()
  try {
    const call = callerOf(trellis)
    for (let i = 0; i < REPOS; i++) await makeRepo(call, `many-${i}`, PER_REPO)
    await makeRepo(call, 'alone', 1)
    const update = (name: string) => call('repos/update', { name, readOnly: false })
    const woken = async (): Promise<number> =>
      Number(/^trellis_daemon_lateness_seconds_count (\d+)/m.exec(await metricsOf(trellis))?.[1] ?? 0)

    async function untilWoken(count: number, names: string[]): Promise<number> {
      const before = await woken()
      const began = performance.now()
      await Promise.all(names.map(update))
      while ((await woken()) < before + count) await sleep(100)
      return performance.now() - began
    }
    const theirs = await untilWoken(1, ['alone'])
    // Whether anybody else is held up meanwhile.
    const headers = { authorization: `Bearer ${trellis.key}` }
    const listing = post('/api/v1/repos/list', {}, headers)
    const others = load({ port: trellis.port, connections: 1, seconds: 3, next: () => listing })
    const ours = await untilWoken(
      DAEMONS,
      Array.from({ length: REPOS }, (_, i) => `many-${i}`),
    )
    return {
      work: `the last of ${DAEMONS} daemons due at once is woken (beside ${Math.round(await others)} listings/s)`,
      peer: 'one daemon alone',
      ours: milliseconds(ours),
      theirs: milliseconds(theirs),
      ratio: theirs / ours,
    }
  } finally {
    await trellis.stop()
  }
}

type Call = (path: string, input: object) => Promise<void>

const callerOf =
  ({ url, key }: Trellis): Call =>
  async (path, input) => {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }

async function makeRepo(call: Call, name: string, daemons: number): Promise<void> {
  await call('repos/create', { name })
  const daemon = { scheduleIntervalMinutes: 1440, onEventTypes: ['repo.updated'] }
  const changes = Array.from({ length: daemons }, (_, i) => `d${i}`).flatMap((extension) => [
    {
      op: 'put',
      path: `extensions/${extension}/extension.json`,
      content: JSON.stringify({ version: 1, name: extension, daemon }),
    },
    { op: 'put', path: `extensions/${extension}/index.ts`, content: 'export default () => {}\n' },
  ])
  await call('git/commits/create', { name, branch: 'main', message: 'Daemons', changes })
  await call('extensions/promote', { name })
}

const metricsOf = async ({ url }: Trellis): Promise<string> => (await fetch(`${url}/metrics`)).text()
