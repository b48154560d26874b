// Reading single objects of a warm repository, as agents do all day.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { call, createRepo, fastImport, git } from './git-stage.ts'
import { load, post } from './load.ts'
import { inTurns, perSecond, type Row } from './measure.ts'
import { runScript, runTrellis } from './processes.ts'
import { makeScratch } from './scratch.ts'

const ROUNDS = 7
const WARM_UP_ROUNDS = 8
const SECONDS = 1.5
const CALLERS = 8
const FOLDERS = 10
const FILES = 20
const COMMITS = 1000

type Operation = 'trees' | 'blobs' | 'commits'

export const objectReads: Record<string, () => Promise<Row>> = {
  'trees-get': () => reading('trees'),
  'blobs-get': () => reading('blobs'),
  'commits-get': () => reading('commits'),
}

async function reading(operation: Operation): Promise<Row> {
  const trellis = await runTrellis()
  const scratch = await makeScratch('objects')
  const source = join(scratch, 'source.git')
  await fastImport(source, commits())
  await git('-C', source, 'gc', '--quiet')
  const bare = await runScript('bench/peers/kept-cat-file.ts', { args: [source] })
  try {
    const { url } = await createRepo(trellis, 'warm')
    await git('-C', source, 'push', '--quiet', url, 'main')
    const oids = (await git('-C', source, 'rev-list', '--max-count=200', 'main')).trim().split('\n')
    const inputs = inputsFor(operation, oids).map((input) => ({ name: 'warm', ...input }))
    const path = `git/${operation}/get`
    for (const input of [inputs[0], inputs.at(-1)])
      assert.deepEqual(
        await call(trellis, path, input),
        await call({ ...trellis, url: bare.url }, path, input),
      )

    const headers = { authorization: `Bearer ${trellis.key}` }
    const requests = inputs.map((input) => post(`/api/v1/${path}`, input, headers))
    let sent = 0
    const next = () => requests[sent++ % requests.length] ?? ''
    const against = (port: number) => () => load({ port, connections: CALLERS, seconds: SECONDS, next })
    // A server runs for weeks; its first seconds, in which Node compiles it, say little.
    for (let i = 0; i < WARM_UP_ROUNDS; i++) {
      await against(trellis.port)()
      await against(bare.port)()
    }
    const { ours, theirs } = await inTurns(ROUNDS, against(trellis.port), against(bare.port))
    return {
      work: `git/${operation}/get, ${CALLERS} callers`,
      peer: 'bare Node handler that keeps one git cat-file',
      ours: perSecond(ours),
      theirs: perSecond(theirs),
      ratio: ours / theirs,
      goal: 0.5,
    }
  } finally {
    await bare.stop()
    await trellis.stop()
  }
}

function inputsFor(operation: Operation, oids: readonly string[]): object[] {
  const folders = Array.from({ length: FOLDERS }, (_, i) => `src/folder-${i}`)
  if (operation === 'commits') return oids.map((ref) => ({ ref }))
  if (operation === 'trees') return folders.map((path) => ({ ref: 'main', path }))
  return folders.flatMap((folder) =>
    Array.from({ length: FILES }, (_, i) => ({ ref: 'main', path: `${folder}/file-${i}.txt` })),
  )
}

/** Files of a few kilobytes, of which each commit changes one line. */
function* commits(): Generator<string> {
  const files = Array.from({ length: FOLDERS * FILES }, (_, file) =>
    Array.from(
      { length: 60 },
      (_, line) => `line ${line} of file ${file} says ${(line * 7919 + file) % 1000}`,
    ),
  )
  const put = (file: number) => {
    const text = `${files[file]?.join('\n')}\n`
    const path = `src/folder-${file % FOLDERS}/file-${Math.floor(file / FOLDERS)}.txt`
    return `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`
  }
  for (let i = 0; i < COMMITS; i++) {
    const file = (i * 37) % files.length
    files[file]?.splice(i % 60, 1, `commit ${i} says something else`)
    yield `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + i * 60} +0000\n`
    const message = `Change ${i}`
    yield `data ${message.length}\n${message}\n${i === 0 ? files.map((_, each) => put(each)).join('') : put(file)}\n`
  }
}
