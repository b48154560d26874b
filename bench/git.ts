import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  call,
  createRepo,
  fastImport,
  type GitStage,
  git,
  openGitStage,
  type Remote,
  timeGit,
} from './git-stage.ts'
import { converse, load, request, visit } from './load.ts'
import { inTurns, perSecond, type Row, timesRow } from './measure.ts'
import { runTrellis, type Trellis } from './processes.ts'
import { pushOfOneFile } from './small-pack.ts'

const PEER = 'nginx + fcgiwrap + git http-backend'

let stage: Promise<GitStage | undefined> | undefined

/** Takes time to set, so the benchmarks share one. */
async function withStage(measure: (stage: GitStage) => Promise<Row>): Promise<Row | undefined> {
  stage ??= openGitStage()
  const opened = await stage
  return opened && measure(opened)
}

export async function closeStage(): Promise<void> {
  await (await stage?.catch(() => undefined))?.stop()
}

export const lsRemote = () =>
  withStage((opened) => polling(opened, 'ls-remote: advertisement and ls-refs', lsRefsBody([])))

export const noopFetch = () =>
  withStage((opened) =>
    polling(
      opened,
      'git fetch of nothing new: advertisement and ls-refs',
      lsRefsBody(['refs/heads/', 'refs/tags/']),
    ),
  )

async function polling({ ours, theirs }: GitStage, work: string, body: string): Promise<Row> {
  const against = (remote: Remote) => {
    const requests = [advertisement(remote), uploadPack(remote, body)]
    let sent = 0
    const next = () => requests[sent++ % requests.length] as string
    return (seconds = 1.5) => load({ port: remote.port, connections: 8, seconds, next })
  }
  // A server runs for weeks; its first seconds, in which Node compiles it, say little.
  await against(ours)(WARM_UP_SECONDS)
  const rates = await inTurns(5, against(ours), against(theirs))
  return {
    work,
    peer: PEER,
    ours: perSecond(rates.ours),
    theirs: perSecond(rates.theirs),
    ratio: rates.ours / rates.theirs,
    goal: 20,
  }
}

/** Until then it becomes faster, to about twice what it was. */
const WARM_UP_SECONDS = 12

let clones = 0

/** Everything a clone sends. Each call asks for what nobody has asked for before, so nobody has kept an answer. */
function cloneRequests(remote: Remote, tip: string, nonce: number): string[] {
  return [
    advertisement(remote),
    uploadPack(remote, lsRefsBody(['HEAD', 'refs/heads/', 'refs/tags/'])),
    uploadPack(remote, cloneBody(tip, nonce)),
  ]
}

export const parallelClones = () =>
  withStage(async ({ ours, theirs, tip }) => {
    const together = (remote: Remote) => async () => {
      const nonce = clones++
      const started = performance.now()
      await Promise.all(
        Array.from({ length: 8 }, () => converse(remote.port, cloneRequests(remote, tip, nonce))),
      )
      return performance.now() - started
    }
    // The first few take up to twice as long, while the code is not compiled yet.
    for (let i = 0; i < 8; i++) await together(ours)()
    const times = await inTurns(15, together(ours), together(theirs))
    return timesRow('8 parallel cold clones of 20,000 objects, as requests', PEER, times, 5)
  })

export const coldClone = () =>
  withStage(async ({ ours, theirs, scratch }) => {
    let clones = 0
    const cloning = (remote: Remote) => async () => {
      const dir = join(scratch, `clone-${clones++}`)
      // An option that means nothing, different each time, so that nobody has kept the answer.
      const fresh = `--server-option=${clones}`
      const time = await timeGit('clone', '--quiet', '--bare', fresh, remote.url, dir)
      await rm(dir, { recursive: true })
      return time
    }
    const times = await inTurns(21, cloning(ours), cloning(theirs))
    return timesRow('git clone of 20,000 objects, cold', PEER, times, 1)
  })

const WARM_UP_PUSHES = { quick: 500, real: 60 }

/**
 * A server that has just started has compiled nothing of what a push takes yet. The peer has nothing to compile. Many
 * quick ones without git, then some by git, which sends differences to what the server has.
 */
async function warmUp(trellis: Trellis, pushByGit: () => Promise<unknown>): Promise<void> {
  const warm = await createRepo(trellis, `warm-${clones++}`)
  let pushes = 0
  const next = () => pushOfOneFile(warm, `work-${++pushes}`)
  await visit({ port: warm.port, restMs: 0, isWanted: () => pushes < WARM_UP_PUSHES.quick, next })
  for (let i = 0; i < WARM_UP_PUSHES.real; i++) await pushByGit()
}

export const smallPush = () =>
  withStage(async ({ trellis, ours, theirs, scratch }) => {
    const pushing = async (remote: Remote) => {
      const dir = await mkdtemp(join(scratch, 'pushing-'))
      await git('clone', '--quiet', remote.url, dir)
      return async () => {
        await writeFile(join(dir, 'pushed.txt'), randomBytes(20).toString('hex'))
        await git('-C', dir, 'add', 'pushed.txt')
        await git('-C', dir, 'commit', '--quiet', '--message', 'Push')
        return timeGit('-C', dir, 'push', '--quiet', 'origin', 'HEAD:main')
      }
    }
    const [pushToUs, pushToThem] = [await pushing(ours), await pushing(theirs)]
    await warmUp(trellis, pushToUs)
    const times = await inTurns(21, pushToUs, pushToThem)
    return timesRow('git push of one commit to 20,000 objects', PEER, times, 1.5)
  })

const LARGE = 1024
const SMALL = 1

export async function fork(): Promise<Row> {
  const trellis = await runTrellis()
  try {
    await pushBlobs(trellis, 'large', LARGE)
    await pushBlobs(trellis, 'small', SMALL)
    let forks = 0
    const forking = (name: string) => async () => {
      const started = performance.now()
      for (let i = 0; i < 10; i++) await call(trellis, 'repos/fork', { name, newName: `fork-${forks++}` })
      return (performance.now() - started) / 10
    }
    await forking('large')()
    await forking('small')()
    const times = await inTurns(21, forking('large'), forking('small'))
    return timesRow('fork of a 1 GB repository', 'fork of a 1 MB one', times, 0.83)
  } finally {
    await trellis.stop()
  }
}

/** Pushes a repository of that many mebibytes that do not compress. */
async function pushBlobs(trellis: Trellis, name: string, mebibytes: number): Promise<void> {
  const dir = join(trellis.data, `${name}.source`)
  // As it is: compressing what does not compress takes most of the time.
  const plain = ['-c', 'core.compression=0', '-c', 'pack.compression=0', '-c', 'core.bigFileThreshold=256k']
  await fastImport(dir, blobs(mebibytes), ...plain)
  const { url } = await createRepo(trellis, name)
  await git(...plain, '-C', dir, 'push', '--quiet', '--mirror', url)
  await rm(dir, { recursive: true })
}

function* blobs(mebibytes: number): Generator<string | Buffer> {
  const bytes = randomBytes(1024 * 1024)
  yield 'commit refs/heads/main\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 5\nBlobs\n'
  for (let i = 0; i < mebibytes; i++) {
    // Different from the last, and as random.
    bytes.writeUInt32LE(i)
    yield `M 100644 inline blob-${i}\ndata ${bytes.length}\n`
    yield Buffer.from(bytes)
    yield '\n'
  }
}

const CLIENT_HEADERS = {
  'user-agent': 'git/2.39.5',
  'accept-encoding': 'deflate, gzip, br, zstd',
  'accept-language': 'C, *;q=0.9',
  'git-protocol': 'version=2',
}

function advertisement({ path, headers }: Remote): string {
  const all = { ...CLIENT_HEADERS, accept: '*/*', pragma: 'no-cache', ...headers }
  return request('GET', `${path}/info/refs?service=git-upload-pack`, all)
}

function uploadPack({ path, headers }: Remote, body: string): string {
  const all = {
    ...CLIENT_HEADERS,
    'content-type': 'application/x-git-upload-pack-request',
    accept: 'application/x-git-upload-pack-result',
    ...headers,
  }
  return request('POST', `${path}/git-upload-pack`, all, body)
}

const lsRefsBody = (prefixes: string[]): string =>
  packets(
    ['command=ls-refs\n', 'agent=git/2.39.5', 'object-format=sha1'],
    ['peel\n', 'symrefs\n', 'unborn\n', ...prefixes.map((prefix) => `ref-prefix ${prefix}\n`)],
  )

const cloneBody = (tip: string, nonce: number): string =>
  packets(
    ['command=fetch', 'agent=git/2.39.5', 'object-format=sha1', `server-option=${nonce}`],
    ['thin-pack', 'no-progress', 'include-tag', 'ofs-delta', `want ${tip}\n`, 'done\n'],
  )

const packets = (command: string[], parameters: string[]): string =>
  `${command.map(packet).join('')}0001${parameters.map(packet).join('')}0000`

const packet = (line: string): string => (line.length + 4).toString(16).padStart(4, '0') + line
