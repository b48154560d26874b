import { Agent } from 'node:http'
import { ask } from './ask.ts'
import { inTurns, median, milliseconds, type Row } from './measure.ts'
import { runTrellis, type Trellis } from './processes.ts'
import { startBare } from './worker.ts'

const ROUNDS = 5
const RUNS = 50

type Call = (path: string, input: object) => Promise<{ run: { id: string; status: string } }>

/** From asking for a run to its stored result, one after the other, against calls of workerd by itself. */
export const runDispatch = () =>
  withExtension({ runtime: 'worker' }, 'return input', async (run) => {
    await using bare = await startBare()
    const { ours, theirs } = await inTurns(ROUNDS, each(run), each(bare.call))
    return rowOf('a run from dispatch to result', 'a call of bare workerd', ours, theirs)
  })

/** The same with a step that is journaled. */
export const runWorkflow = () =>
  withExtension({ runtime: 'workflow' }, "return ctx.step.do('only', async () => input)", async (run) => {
    await using bare = await startBare()
    const { ours, theirs } = await inTurns(ROUNDS, each(run), each(bare.call))
    return rowOf('a workflow of one step', 'a call of bare workerd', ours, theirs)
  })

/** Eight at a time: how long each takes of the whole. */
export const runsAtOnce = () =>
  withExtension({ runtime: 'worker' }, 'return input', async (run) => {
    const together = async () => {
      const began = performance.now()
      let left = RUNS * 4
      const one = async () => {
        while (left-- > 0) await run()
      }
      await Promise.all(Array.from({ length: 8 }, one))
      return (performance.now() - began) / (RUNS * 4)
    }
    const { ours, theirs } = await inTurns(ROUNDS, together, each(run))
    return rowOf('a run of many, 8 at a time', 'one after the other', ours, theirs)
  })

const each = (work: () => Promise<unknown>) => async () => {
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return median(times)
}

async function withExtension(
  declares: object,
  does: string,
  measure: (run: () => Promise<void>) => Promise<Row>,
): Promise<Row> {
  const trellis = await runTrellis()
  const agent = new Agent({ keepAlive: true })
  try {
    const call = callsTo(trellis, agent)
    await call('repos/create', { name: 'tools' })
    const files = {
      'extensions/one/extension.json': JSON.stringify({
        version: 1,
        name: 'one',
        dispatch: true,
        ...declares,
      }),
      'extensions/one/index.ts': `export default async (input: unknown, ctx: any) => { ${does} }\n`,
    }
    const changes = Object.entries(files).map(([path, content]) => ({ op: 'put', path, content }))
    await call('git/commits/create', { name: 'tools', branch: 'main', message: 'Add', changes })
    await call('extensions/promote', { name: 'tools' })
    const run = async () => {
      const { run } = await call('runs/dispatch', { name: 'tools', extension: 'one', input: { n: 1 } })
      const ended = await call('runs/get', { id: run.id, waitMs: 30_000 })
      if (ended.run.status !== 'succeeded') throw new Error(JSON.stringify(ended))
    }
    for (let i = 0; i < 5; i++) await run()
    return await measure(run)
  } finally {
    agent.destroy()
    await trellis.stop()
  }
}

function callsTo({ port, key }: Trellis, agent: Agent): Call {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return async (path, input) => {
    const where = { host: '127.0.0.1', port, path: `/api/v1/${path}`, headers, agent }
    return JSON.parse(await ask(where, JSON.stringify(input)))
  }
}

const rowOf = (work: string, peer: string, ours: number, theirs: number): Row => ({
  work,
  peer,
  ours: milliseconds(ours),
  theirs: milliseconds(theirs),
  ratio: theirs / ours,
})
