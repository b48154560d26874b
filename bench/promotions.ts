import { createClient, createSandbox } from '../test/git/harness.ts'
import { createBenchPostgres } from './databases.ts'
import { createRepo } from './git-stage.ts'
import { converse, post, visit } from './load.ts'
import { milliseconds, quantile, type Row } from './measure.ts'
import { runTrellis, type Trellis } from './processes.ts'
import { declared, fillRecords } from './record-rows.ts'

const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000)
const NAME = 'large'
const USUAL_MS = 15_000
const WARM_MS = 5_000
const REST_MS = 5

/** Every row is looked at, changes, and gets entries of two new indexes. */
const next = {
  ...declared,
  fields: {
    ...declared.fields,
    title: { type: 'string', required: true, maxLength: 500 },
    rank: { type: 'integer', required: true, default: 3 },
  },
  indexes: ['owner', 'area,title', 'rank,owner'],
}

/**
 * What others notice of a promotion over a million rows: somebody of another organization who makes repositories, and
 * whoever writes rows of the same record.
 */
const besidePromotion = (title: string, run: () => Promise<Trellis>) => async (): Promise<Row> => {
  const trellis = await run()
  const sandbox = createSandbox()
  try {
    const remote = await createRepo(trellis, NAME)
    await fillRecords(trellis, { repos: [NAME], rows: ROWS })
    const client = createClient(sandbox.path('author'), {})
    await client.run('init', '-q')
    await client.commit({
      'extensions/tasks/extension.json': JSON.stringify({ version: 1, name: 'tasks', record: next }),
      'extensions/tasks/index.ts': 'export default (input: unknown) => input\n',
    })
    await client.run('push', '-q', remote.url, 'main')

    const stranger = await signUp(trellis)
    let made = 0
    const owner = { authorization: `Bearer ${trellis.key}` }
    const requests = {
      'repos/create': () => post('/api/v1/repos/create', { name: `repo-${made++}` }, stranger),
      'records/create': () =>
        post(
          '/api/v1/records/create',
          { name: NAME, record: declared.name, data: { title: `New ${made++}`, owner: 'owner1' } },
          owner,
        ),
    }
    const visitors = async (isWanted: () => boolean) =>
      Promise.all(
        Object.values(requests).map((request) =>
          visit({ port: trellis.port, restMs: REST_MS, isWanted, next: request }),
        ),
      )
    const during = (ms: number) => {
      const until = performance.now() + ms
      return () => performance.now() < until
    }
    await visitors(during(WARM_MS))
    const usual = await visitors(during(USUAL_MS))
    let isGoingOn = true
    const began = performance.now()
    // Not with fetch, which waits for five minutes at the most.
    const promoting = converse(trellis.port, [
      post('/api/v1/extensions/promote', { name: NAME }, owner),
    ]).finally(() => {
      isGoingOn = false
    })
    const meanwhile = await visitors(() => isGoingOn)
    await promoting
    const seconds = (performance.now() - began) / 1000
    const p99 = (all: number[][]) => all.map((times) => quantile(times, 0.99))
    const [before, beside] = [p99(usual), p99(meanwhile)]
    const told = (times: number[]) =>
      Object.keys(requests)
        .map((name, i) => `${name} ${milliseconds(times[i] ?? Number.NaN)}`)
        .join(', ')
    const ratios = beside.map((time, i) => time / (before[i] ?? Number.NaN))
    return {
      work: `others' p99 during ${seconds.toFixed()} s of a promotion over ${ROWS.toLocaleString('en')} rows (${title})`,
      peer: 'the same before',
      ours: told(beside),
      theirs: told(before),
      ratio: 1 / Math.max(...ratios),
      goal: 0.33,
    }
  } finally {
    await trellis.stop()
    sandbox.remove()
  }
}

async function signUp({ url }: Trellis): Promise<{ authorization: string }> {
  const response = await fetch(`${url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bob@example.com', name: 'bob', password: 'correct horse battery' }),
  })
  const { token } = (await response.json()) as { token: string }
  return { authorization: `Bearer ${token}` }
}

export const promotions = {
  'beside-promotion': besidePromotion('SQLite', runTrellis),
  'beside-promotion-postgres': besidePromotion('PostgreSQL', async () =>
    runTrellis({ postgres: await createBenchPostgres() }),
  ),
}
