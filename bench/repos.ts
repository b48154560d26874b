import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { load, post } from './load.ts'
import { inTurns, perSecond, type Row } from './measure.ts'
import { runScript, runTrellis } from './processes.ts'
import { makeScratch } from './scratch.ts'

const run = promisify(execFile)

const ROUNDS = 5
const SECONDS = 1.5

export async function reposCreate(): Promise<Row> {
  const trellis = await runTrellis()
  const scratch = await makeScratch('git')
  try {
    const headers = { authorization: `Bearer ${trellis.key}` }
    let made = 0
    const next = () => post('/api/v1/repos/create', { name: `repo-${made++}` }, headers)
    const creating = () => load({ port: trellis.port, connections: 8, seconds: SECONDS, next })
    // A server runs for weeks; its first seconds, in which Node compiles it, say little.
    for (let i = 0; i < ROUNDS; i++) await creating()
    const { ours, theirs } = await inTurns(ROUNDS, creating, async () => {
      const count = 40
      const started = performance.now()
      for (let i = 0; i < count; i++)
        await run('git', ['init', '--quiet', '--bare', join(scratch, `${performance.now()}-${i}.git`)])
      return count / ((performance.now() - started) / 1000)
    })
    return {
      work: 'repos/create',
      peer: 'git init --bare',
      ours: perSecond(ours),
      theirs: perSecond(theirs),
      ratio: ours / theirs,
      goal: 30,
    }
  } finally {
    await trellis.stop()
  }
}

export async function reposList(): Promise<Row> {
  const trellis = await runTrellis()
  const headers = { authorization: `Bearer ${trellis.key}` }
  for (let i = 0; i < 10; i++)
    await fetch(`${trellis.url}/api/v1/repos/create`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `repo-${i}` }),
    })
  const bare = await runScript('bench/peers/bare-list.ts', { args: [join(trellis.data, 'trellis.db')] })
  try {
    const request = post('/api/v1/repos/list', { limit: 10 }, headers)
    const against = (port: number, seconds: number) => () =>
      load({ port, connections: 16, seconds, next: () => request })
    for (let i = 0; i < ROUNDS; i++) {
      await against(trellis.port, SECONDS)()
      await against(bare.port, SECONDS)()
    }
    // Both are alike, so that one slow second of the machine more on either side would tell: many short turns.
    const { ours, theirs } = await inTurns(25, against(trellis.port, 0.5), against(bare.port, 0.5))
    return {
      work: 'repos/list of 10',
      peer: 'bare Node handler on the same SQLite',
      ours: perSecond(ours),
      theirs: perSecond(theirs),
      ratio: ours / theirs,
      goal: 0.85,
    }
  } finally {
    await bare.stop()
    await trellis.stop()
  }
}
