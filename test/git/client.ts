// Stock git as people use it, in directories that go away, and a history to begin with.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Ran, runProgram } from '@trellis/server/testing'

export const VERSIONS = [0, 1, 2] as const
export type Version = (typeof VERSIONS)[number]

/** A directory for everything a test file makes. */
export function createSandbox() {
  const root = mkdtempSync(join(tmpdir(), 'trellis-e2e-'))
  let made = 0
  return {
    root,
    /** A new path; nothing is there yet. */
    path: (name = 'dir') => join(root, `${name}-${++made}`),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

export type Sandbox = ReturnType<typeof createSandbox>

export type { Ran }

export interface RunOptions {
  cwd: string
  env?: Record<string, string>
  input?: string | Uint8Array
}

const clientEnv = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
  HOME: home,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
})

/** Runs stock git and tells how it ended, whatever that was. Never blocks: the server may be in this process. */
export const tryGit = (args: readonly string[], { cwd, env, input }: RunOptions): Promise<Ran> =>
  runProgram(['git', ...args], { cwd, env: { ...clientEnv(cwd), ...env }, input })

/** Runs stock git and gives what it printed, without the last newline. */
export async function git(args: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await tryGit(args, options)
  assert.equal(code, 0, `git ${args.join(' ')}: ${stderr}`)
  return stdout.toString().replace(/\n$/, '')
}

/** A repository of a stock client, with a credential in a header unless told otherwise. */
export interface Client {
  dir: string
  run(...args: string[]): Promise<string>
  /** Runs what must fail and gives what the user is told. */
  fails(...args: string[]): Promise<string>
  attempt(...args: string[]): Promise<Ran>
  feed(input: string | Uint8Array, ...args: string[]): Promise<string>
  feedRaw(input: string | Uint8Array, ...args: string[]): Promise<Ran>
  /** Writes files (null deletes) and commits them; gives the id. */
  commit(files: Record<string, string | null>, message?: string): Promise<string>
  rev(revision: string): Promise<string>
}

export interface ClientOptions {
  version?: Version
  /** Goes into every request as a bearer; none leaves it to the URL. */
  token?: string | undefined
  config?: Record<string, string>
}

export function createClient(dir: string, { version = 2, token, config = {} }: ClientOptions = {}): Client {
  mkdirSync(dir, { recursive: true })
  const settings = {
    'protocol.version': String(version),
    'init.defaultBranch': 'main',
    'gc.auto': '0',
    // Otherwise most commands start another that looks whether there is anything to tidy.
    'maintenance.auto': 'false',
    'core.fsync': 'none',
    'advice.detachedHead': 'false',
    'protocol.file.allow': 'always',
    ...(token && { 'http.extraHeader': `Authorization: Bearer ${token}` }),
    ...config,
  }
  // In the environment, so that the commands git starts for submodules have them too.
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(Object.keys(settings).length) }
  for (const [i, [key, value]] of Object.entries(settings).entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key
    env[`GIT_CONFIG_VALUE_${i}`] = value
  }
  const options = { cwd: dir, env }
  const run = (...args: string[]) => git(args, options)
  return {
    dir,
    run,
    attempt: (...args) => tryGit(args, options),
    async fails(...args) {
      const { code, stderr, stdout } = await tryGit(args, options)
      assert.notEqual(code, 0, `git ${args.join(' ')} should have failed`)
      return stderr + stdout
    },
    feed: (input, ...args) => git(args, { ...options, input }),
    feedRaw: (input, ...args) => tryGit(args, { ...options, input }),
    async commit(files, message = 'a change') {
      for (const [path, content] of Object.entries(files)) {
        const file = join(dir, path)
        if (content === null) rmSync(file, { force: true })
        else {
          mkdirSync(dirname(file), { recursive: true })
          writeFileSync(file, content)
        }
      }
      await run('add', '-A')
      await run('commit', '-q', '--allow-empty', '-m', message)
      return run('rev-parse', 'HEAD')
    },
    rev: (revision) => run('rev-parse', revision),
  }
}

/** Ten commits on main, branch `side` from the seventh, annotated tag `v1` at the eighth: a fast-import stream. */
export function smallHistory(): string {
  const lines: string[] = []
  for (let i = 1; i <= 10; i++) {
    const content = `content ${i}\n`.repeat(50)
    const message = `commit ${i}\n`
    lines.push(
      'commit refs/heads/main',
      `mark :${i}`,
      `committer Ann <ann@example.com> ${1_700_000_000 + i * 86_400} +0100`,
      `data ${message.length}\n${message}`,
      `M 100644 inline file-${i % 4}.txt`,
      `data ${content.length}\n${content}`,
    )
  }
  lines.push(
    'reset refs/heads/side',
    'from :7\n',
    'tag v1',
    'from :8',
    'tagger Ann <ann@example.com> 1700800000 +0100',
    'data 6\nfirst\n',
    'done\n',
  )
  return lines.join('\n')
}

/** A working repository with the small history, checked out. */
export async function withSmallHistory(client: Client): Promise<Client> {
  await client.run('init', '-q')
  await client.feed(smallHistory(), 'fast-import', '--quiet', '--done')
  await client.run('reset', '-q', '--hard')
  return client
}

/** What stock git lists at a remote. */
export async function listed(
  client: Client,
  url: string,
  ...args: string[]
): Promise<Record<string, string>> {
  const text = await client.run('ls-remote', ...args, url)
  return Object.fromEntries(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t').toReversed() as [string, string]),
  )
}

/** All refs of a client's repository. */
export async function localRefs(client: Client): Promise<Record<string, string>> {
  const text = await client.run('for-each-ref', '--format=%(refname) %(objectname)')
  return Object.fromEntries(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ') as [string, string]),
  )
}
