import { call } from './git-stage.ts'
import { converse, load, post, visit } from './load.ts'
import { median, milliseconds, perSecond, type Row } from './measure.ts'
import { runTrellis, type Trellis } from './processes.ts'

const ROUNDS = 5
const SECONDS = 2
const REPOSITORIES = 64
const CALLERS = 8
const WARM_UP = 2000
/** What was promised, in place of a peer: nobody else makes commits over HTTP without a process. */
const PROMISED_MS = 5
const PROMISED_RATE = 400

type Operation = (repository: string, number: number) => { path: string; input: object }

const commit: Operation = (name, number) => ({
  path: 'git/commits/create',
  input: {
    name,
    branch: 'main',
    message: `Change ${number}`,
    changes: [
      {
        op: 'put',
        path: `folder-${number % 10}/file-${number % 100}.txt`,
        content: `${number} in ${name}\n`,
      },
    ],
  },
})

export async function commitsAlone(): Promise<Row> {
  return inRepositories(async (next, trellis) => {
    const times = await visitFor(trellis, next)
    return timeRow('git/commits/create of a file, one caller, p50', median(times))
  }, commit)
}

export async function commitsAtOnce(): Promise<Row> {
  return inRepositories(async (next, trellis) => {
    const rates: number[] = []
    for (let round = 0; round < ROUNDS; round++)
      rates.push(await load({ port: trellis.port, connections: CALLERS, seconds: SECONDS, next }))
    const ours = median(rates)
    return {
      work: `git/commits/create, ${CALLERS} callers, ${REPOSITORIES} repositories`,
      peer: 'what was promised',
      ours: perSecond(ours),
      theirs: perSecond(PROMISED_RATE),
      ratio: ours / PROMISED_RATE,
      goal: 1,
    }
  }, commit)
}

export async function tagsCreate(): Promise<Row> {
  const oids = new Map<string, string>()
  const tag: Operation = (name, number) => ({
    path: 'git/tags/create',
    input: { name, tag: `v${number}`, oid: oids.get(name), message: `Version ${number}` },
  })
  return inRepositories(
    async (next, trellis) => {
      const times = await visitFor(trellis, next)
      return timeRow('git/tags/create with a message, one caller, p50', median(times))
    },
    tag,
    (name, oid) => oids.set(name, oid),
  )
}

function visitFor({ port }: Trellis, next: () => string): Promise<number[]> {
  const until = performance.now() + ROUNDS * SECONDS * 1000
  return visit({ port, restMs: 1, isWanted: () => performance.now() < until, next })
}

const timeRow = (work: string, ours: number): Row => ({
  work,
  peer: 'what was promised',
  ours: milliseconds(ours),
  theirs: milliseconds(PROMISED_MS),
  ratio: PROMISED_MS / ours,
  goal: 1,
})

/** Repositories with a commit each, and requests that go to one after the other, so that none is in another's way. */
async function inRepositories(
  measure: (next: () => string, trellis: Trellis) => Promise<Row>,
  operation: Operation,
  onMade: (name: string, oid: string) => void = () => {},
): Promise<Row> {
  const trellis = await runTrellis()
  const headers = { authorization: `Bearer ${trellis.key}` }
  try {
    const names = Array.from({ length: REPOSITORIES }, (_, i) => `repo-${i}`)
    for (const name of names) {
      await call(trellis, 'repos/create', { name })
      const { path, input } = commit(name, 0)
      const { oid } = (await call(trellis, path, input)) as { oid: string }
      onMade(name, oid)
    }
    let sent = 0
    const next = () => {
      sent++
      const { path, input } = operation(names[sent % names.length] ?? '', sent)
      return post(`/api/v1/${path}`, input, headers)
    }
    // A server runs for weeks; its first seconds, in which Node compiles it, say little.
    for (let i = 0; i < WARM_UP; i += CALLERS)
      await Promise.all(Array.from({ length: CALLERS }, () => converse(trellis.port, [next()])))
    return await measure(next, trellis)
  } finally {
    await trellis.stop()
  }
}
