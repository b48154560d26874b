import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type HttpBackend, runHttpBackend } from './peers/http-backend.ts'
import { runTrellis, type Trellis } from './processes.ts'

const run = promisify(execFile)

/** One repository at Trellis and at the peer, with the same objects and refs, both well kept. */
export interface GitStage {
  trellis: Trellis
  peer: HttpBackend
  ours: Remote
  theirs: Remote
  tip: string
  /** For clones, and thrown away at the end. */
  scratch: string
  stop(): Promise<void>
}

export interface Remote {
  port: number
  /** The path of the repository. */
  path: string
  /** With the credential, for git. */
  url: string
  headers: Record<string, string>
}

/** Four objects each: the commit, two trees and a blob. */
const COMMITS = 5000
const TAGS = 20
const MAINTAINED_MS = 30_000

/** Undefined without a peer to measure against. */
export async function openGitStage(): Promise<GitStage | undefined> {
  const peer = await runHttpBackend()
  if (!peer) return undefined
  const trellis = await runTrellis()
  const scratch = await mkdtemp(join(tmpdir(), 'trellis-bench-git-'))
  const stop = async () => {
    await Promise.all([trellis.stop(), peer.stop()])
    await rm(scratch, { recursive: true, force: true })
  }
  try {
    const source = join(peer.repositories, 'history.git')
    await makeHistory(source)
    await git('-C', source, 'config', 'http.receivepack', 'true')
    const ours = await createRepo(trellis, 'history')
    await git('-C', source, 'push', '--quiet', '--mirror', ours.url)
    // After the push, so that Trellis starts from what a client sends and not from what a server made of it.
    await git('-C', source, 'gc', '--quiet')
    await maintained(trellis)
    const theirs = remoteAt(`${peer.url}/history.git`, peer.password)
    const tip = (await git('-C', source, 'rev-parse', 'refs/heads/main')).trim()
    return { trellis, peer, ours, theirs, tip, scratch, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

export async function createRepo(trellis: Trellis, name: string): Promise<Remote> {
  const { remote } = (await call(trellis, 'repos/create', { name })) as { remote: string }
  return remoteAt(remote, trellis.key)
}

function remoteAt(address: string, password: string): Remote {
  const url = new URL(address)
  const { pathname } = url
  url.username = 'bench'
  url.password = password
  const basic = Buffer.from(`bench:${password}`).toString('base64')
  return {
    port: Number(url.port),
    path: pathname,
    url: url.href,
    headers: { authorization: `Basic ${basic}` },
  }
}

export async function call(trellis: Trellis, operation: string, input: unknown): Promise<unknown> {
  const response = await fetch(`${trellis.url}/api/v1/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${trellis.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  if (!response.ok) throw new Error(`${operation} answered ${await response.text()}`)
  return response.json()
}

/** Nothing from the machine's or the person's settings. */
const environment = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
}

export async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { env: environment, maxBuffer: 64 * 1024 * 1024 })).stdout
}

/** Makes a bare repository of what `stream` says in the words of `git fast-import`. */
export async function fastImport(
  dir: string,
  stream: AsyncIterable<string | Buffer> | Iterable<string | Buffer>,
  ...settings: string[]
): Promise<void> {
  await git('init', '--quiet', '--bare', '--initial-branch=main', dir)
  const child = spawn('git', [...settings, '-C', dir, 'fast-import', '--quiet', '--done'], {
    env: environment,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  for await (const chunk of stream) if (!child.stdin.write(chunk)) await once(child.stdin, 'drain')
  child.stdin.end('done\n')
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}

async function makeHistory(dir: string): Promise<void> {
  await fastImport(dir, commits())
}

function* commits(): Generator<string> {
  const random = numbers(1)
  const files = new Map<string, string[]>()
  for (let i = 0; i < COMMITS; i++) {
    const path = `folder-${random() % 40}/file-${random() % 12}.txt`
    // A file is a few hundred lines, of which each commit changes one: what source code looks like to git.
    const lines = files.get(path) ?? Array.from({ length: 40 + (random() % 200) }, () => sentence(random))
    lines[random() % lines.length] = sentence(random)
    files.set(path, lines)
    const text = `${lines.join('\n')}\n`
    const message = `Change ${path}, ${i}`
    yield `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + i * 60} +0000\n`
    yield `data ${message.length}\n${message}\nM 100644 inline ${path}\ndata ${text.length}\n${text}\n`
    if (i % (COMMITS / TAGS) === 0)
      yield `reset refs/tags/v${i}\nfrom refs/heads/main\n\nreset refs/heads/topic-${i}\nfrom refs/heads/main\n\n`
  }
}

const WORDS =
  'the of packs refs and objects in a tree with commits that branch is not for this one more'.split(' ')

const sentence = (random: () => number): string =>
  Array.from({ length: 6 }, () => `${WORDS[random() % WORDS.length]}${random() % 100}`).join(' ')

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 8
  }
}

/** Waits until the indexes are there that Trellis writes in the background after a push. */
export async function maintained({ data }: Trellis): Promise<void> {
  const until = performance.now() + MAINTAINED_MS
  while (performance.now() < until) {
    const files = await readdir(join(data, 'scratch'), { recursive: true })
    if (
      files.some((name) => /multi-pack-index.*\.bitmap$/.test(name)) &&
      files.some((name) => name.endsWith('/commit-graph'))
    )
      return
    await sleep(200)
  }
  throw new Error('Trellis did not tend to the repository')
}
