import { cp } from 'node:fs/promises'
import { createClient, createSandbox } from '../test/git/harness.ts'
import { call, createRepo } from './git-stage.ts'
import { load, post } from './load.ts'
import { inTurns, milliseconds, type Row } from './measure.ts'
import { runTrellis } from './processes.ts'

const ROUNDS = 5
const FOLDERS = 200
const FILES_A_FOLDER = 100

/** What is known of five extensions, in a repository of twenty thousand files, against one directory of it. */
export async function extensionsList(): Promise<Row> {
  const trellis = await runTrellis()
  const sandbox = createSandbox()
  try {
    const remote = await createRepo(trellis, 'tracker')
    const client = createClient(sandbox.path('author'), {})
    await client.run('init', '-q')
    await cp('examples/tracker', client.dir, { recursive: true })
    const files = Array.from({ length: FOLDERS * FILES_A_FOLDER }, (_, i) => [
      `folder-${i % FOLDERS}/file-${i}.txt`,
      `${i}\n`,
    ])
    await client.commit(Object.fromEntries(files))
    await client.run('push', '-q', remote.url, 'main')
    const { items } = (await call(trellis, 'extensions/list', { name: 'tracker' })) as { items: object[] }
    if (items.length !== 5) throw new Error('the sample is not sound')
    const asking = (operation: string) => {
      const headers = { authorization: `Bearer ${trellis.key}` }
      const request = post(`/api/v1/${operation}`, { name: 'tracker' }, headers)
      return async () =>
        1000 / (await load({ port: trellis.port, connections: 1, seconds: 1, next: () => request }))
    }
    const [list, get] = [asking('extensions/list'), asking('git/trees/get')]
    await inTurns(2, list, get)
    const { ours, theirs } = await inTurns(ROUNDS, list, get)
    return {
      work: 'extensions/list of 5 that are built, among 20,000 files',
      peer: 'git/trees/get of the root',
      ours: milliseconds(ours),
      theirs: milliseconds(theirs),
      ratio: theirs / ours,
      goal: 1,
    }
  } finally {
    await trellis.stop()
    sandbox.remove()
  }
}
