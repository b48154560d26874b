import { call, createRepo, type Remote } from './git-stage.ts'
import { load, post, visit } from './load.ts'
import { median, milliseconds, quantile, type Row } from './measure.ts'
import { runTrellis, type Trellis } from './processes.ts'
import { pushOfOneFile } from './small-pack.ts'

/** Enough that no two change the same one at the same time. */
const REPOSITORIES_EACH = 8
const ROUNDS = 7
const WARM_UP_ROUNDS = 4
const SECONDS = 3

/** What agents do, in turns. */
type Kind = 'read' | 'commit' | 'push'

/** How long a small call takes in all but one of a hundred cases while others work on objects, and while they do not. */
async function getsBeside(callers: number): Promise<Row> {
  const trellis = await runTrellis()
  try {
    const remotes = await makeRepositories(trellis, callers * REPOSITORIES_EACH)
    const small = post('/api/v1/repos/get', { name: 'repo-0' }, keyOf(trellis))
    let sent = 0
    const agents = () => requestFor(trellis, remotes, ++sent)
    const during = async (next: () => string | Buffer) => {
      let isOver = false
      const others = load({ port: trellis.port, connections: callers, seconds: SECONDS, next }).finally(
        () => {
          isOver = true
        },
      )
      const times = await visit({ port: trellis.port, restMs: 1, isWanted: () => !isOver, next: () => small })
      await others
      return quantile(times, 0.99)
    }
    const p99 = { agents: [] as number[], usual: [] as number[] }
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      const [usual, beside] = [await during(() => small), await during(agents)]
      if (round < 0) continue
      p99.usual.push(usual)
      p99.agents.push(beside)
    }
    const [ours, theirs] = [median(p99.agents), median(p99.usual)]
    return {
      work: `repos/get, p99, while ${callers} others read, commit and push`,
      peer: 'while they call repos/get',
      ours: milliseconds(ours),
      theirs: milliseconds(theirs),
      ratio: theirs / ours,
      goal: 0.33,
    }
  } finally {
    await trellis.stop()
  }
}

export const getsBesideFew = () => getsBeside(8)

export const getsBesideMany = () => getsBeside(64)

const keyOf = ({ key }: Trellis) => ({ authorization: `Bearer ${key}` })

const KINDS: readonly Kind[] = ['read', 'read', 'commit', 'read', 'read', 'push']

function requestFor(trellis: Trellis, remotes: readonly Remote[], number: number): string | Buffer {
  const at = number % remotes.length
  const name = `repo-${at}`
  const kind = KINDS[number % KINDS.length]
  if (kind === 'push') return pushOfOneFile(remotes[at] as Remote, `work-${number}`)
  if (kind === 'commit') return post('/api/v1/git/commits/create', commitOf(name, number), keyOf(trellis))
  const reads = [
    ['git/trees/get', { name, ref: 'main', path: 'notes' }],
    ['git/blobs/get', { name, ref: 'main', path: 'notes/1.txt' }],
    ['git/commits/list', { name, ref: 'main', limit: 20 }],
  ] as const
  const [path, input] = reads[number % reads.length] as (typeof reads)[number]
  return post(`/api/v1/${path}`, input, keyOf(trellis))
}

function commitOf(name: string, number: number) {
  const changes = [{ op: 'put', path: `notes/${number % 10}.txt`, content: `${number} in ${name}\n` }]
  return { name, branch: 'main', message: `Change ${number}`, changes }
}

async function makeRepositories(trellis: Trellis, count: number): Promise<Remote[]> {
  const remotes: Remote[] = []
  for (let i = 0; i < count; i++) {
    remotes.push(await createRepo(trellis, `repo-${i}`))
    for (const number of [1, 2, 3]) await call(trellis, 'git/commits/create', commitOf(`repo-${i}`, number))
  }
  return remotes
}
