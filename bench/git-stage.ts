import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { commits } from './histories.ts'
import { type HttpBackend, runHttpBackend } from './peers/http-backend.ts'
import { runTrellis, type Trellis } from './processes.ts'
import { makeScratch } from './scratch.ts'

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

const pathOf = (random: () => number): string => `folder-${random() % 40}/file-${random() % 12}.txt`

/** Undefined without a peer to measure against. */
export async function openGitStage(): Promise<GitStage | undefined> {
  const peer = await runHttpBackend()
  if (!peer) return undefined
  const trellis = await runTrellis()
  const scratch = await makeScratch('git')
  const stop = async () => void (await Promise.all([trellis.stop(), peer.stop()]))
  try {
    const source = join(peer.repositories, 'history.git')
    await fastImport(source, commits({ count: COMMITS, pathOf, marks: TAGS }))
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

export function remoteAt(address: string, password: string): Remote {
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

/**
 * How many milliseconds git takes, by the clock of a shell, which is where people and agents start it. To start it from
 * here would add the milliseconds that a large process takes to make another.
 */
export async function timeGit(...args: string[]): Promise<number> {
  const timed = 'echo $EPOCHREALTIME; git "$@" >/dev/null || exit; echo $EPOCHREALTIME'
  const { stdout } = await run('bash', ['-c', timed, 'bash', ...args], { env: environment })
  const [began, ended] = stdout.split('\n').map(Number) as [number, number]
  return (ended - began) * 1000
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

/** Waits until the indexes are there that Trellis writes in the background after pushes to so many repositories. */
export async function maintained({ data }: Trellis, repositories = 1): Promise<void> {
  const until = performance.now() + MAINTAINED_MS
  while (performance.now() < until) {
    const files = await readdir(join(data, 'scratch'), { recursive: true })
    const count = (pattern: RegExp) => files.filter((name) => pattern.test(name)).length
    if (count(/multi-pack-index.*\.bitmap$/) >= repositories && count(/\/commit-graph$/) >= repositories)
      return
    await sleep(200)
  }
  throw new Error('Trellis did not tend to the repository')
}
