import { join } from 'node:path'
import { createRepo, fastImport, git, maintained } from './git-stage.ts'
import { load, post } from './load.ts'
import { inTurns, perSecond, type Row } from './measure.ts'
import { runScript, runTrellis } from './processes.ts'
import { makeScratch } from './scratch.ts'

const ROUNDS = 5
const SECONDS = 1.5
const COMMITS = 20_000
/** Where callers begin: not all of them look at the same page. */
const STARTS = 50

/** The first page of a long history, for eight at once. */
export async function commitsList(): Promise<Row> {
  const trellis = await runTrellis()
  const scratch = await makeScratch('history')
  const source = join(scratch, 'history.git')
  try {
    await fastImport(source, longHistory())
    const { url } = await createRepo(trellis, 'history')
    await git('-C', source, 'push', '--quiet', '--mirror', url)
    await git('-C', source, 'gc', '--quiet')
    await maintained(trellis)
    const listed = await git('-C', source, 'rev-list', `--max-count=${STARTS * 100}`, 'main')
    const starts = listed.split('\n').filter((oid, i) => oid && i % 100 === 0)
    const bare = await runScript('bench/peers/bare-commits.ts', { args: [source] })
    try {
      const headers = { authorization: `Bearer ${trellis.key}` }
      let asked = 0
      const next = () => {
        const ref = starts[asked++ % starts.length]
        return post('/api/v1/git/commits/list', { name: 'history', ref, limit: 30 }, headers)
      }
      const against = (port: number) => () => load({ port, connections: 8, seconds: SECONDS, next })
      for (let i = 0; i < ROUNDS; i++) {
        await against(trellis.port)()
        await against(bare.port)()
      }
      const { ours, theirs } = await inTurns(ROUNDS, against(trellis.port), against(bare.port))
      return {
        work: 'git/commits/list of 30',
        peer: 'bare Node handler with one git cat-file',
        ours: perSecond(ours),
        theirs: perSecond(theirs),
        ratio: ours / theirs,
        goal: 0.5,
      }
    } finally {
      await bare.stop()
    }
  } finally {
    await trellis.stop()
  }
}

function* longHistory(): Generator<string> {
  for (let i = 0; i < COMMITS; i++) {
    const path = `folder-${i % 40}/file-${i % 400}.txt`
    const message = `Change ${path}, ${i}`
    yield `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + i * 60} +0000\n`
    yield `data ${message.length}\n${message}\nM 100644 inline ${path}\ndata <<END\n${i}\nEND\n\n`
  }
}
