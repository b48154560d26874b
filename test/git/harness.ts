// What the end-to-end tests of git hosting share: a host, stock git clients, histories, and the server as a process.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import {
  type CallOptions,
  type CreateDatabase,
  createSqlite,
  type Person,
  startTestApp,
  type TestApp,
  useInSuite,
} from '@trellis/server/testing'

export const ZERO = '0'.repeat(40)
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

export interface Ran {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: Buffer
  stderr: string
}

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
export async function tryGit(args: readonly string[], { cwd, env, input }: RunOptions): Promise<Ran> {
  const child = spawn('git', args, { cwd, env: { ...clientEnv(cwd), ...env }, stdio: 'pipe' })
  const out: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input ?? '')
  const [code, signal] = await once(child, 'close')
  return { code, signal, stdout: Buffer.concat(out), stderr }
}

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

export interface RefEvent {
  seq: number
  type: string
  subject: string | null
  // biome-ignore lint/suspicious/noExplicitAny: what an event says is what a test looks at.
  payload: any
}

/** A whole Trellis in this process, with somebody signed up. */
export interface Host extends AsyncDisposable {
  app: TestApp
  owner: Person
  sandbox: Sandbox
  /** Creates a repository of the owner and gives its address. */
  repo(name: string, defaultBranch?: string): Promise<string>
  remote(name: string): string
  client(options?: ClientOptions): Client
  clone(name: string, options?: ClientOptions, ...args: string[]): Promise<Client>
  /** A new repository with the small history in it, and the client that pushed it. */
  filled(name: string, options?: ClientOptions): Promise<{ client: Client; url: string }>
  call: (path: string, input?: unknown, options?: CallOptions) => ReturnType<TestApp['call']>
  /** Calls as the owner and gives the body of the success. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into it.
  ok(path: string, input?: unknown): Promise<any>
  repoId(name: string): Promise<string>
  events(name: string, afterSeq?: number): Promise<RefEvent[]>
  /** All refs by name, as the database has them. */
  refs(name: string): Promise<Record<string, string>>
  /** How many packs the repository lists. */
  packs(name: string): Promise<string[]>
  /** How many requests ended in an error nobody foresaw. */
  failures(): Promise<number>
}

export async function startHost(create: CreateDatabase, env: Record<string, string> = {}): Promise<Host> {
  await using starting = new AsyncDisposableStack()
  const sandbox = createSandbox()
  starting.defer(sandbox.remove)
  const database = starting.use(await create())
  const app = starting.use(await startTestApp(database, env))
  const owner = await app.signUp('ann')
  const { db } = app.database
  const remote = (name: string) => `${app.url}/git/${owner.slug}/${name}.git`
  const client = (options: ClientOptions = {}) =>
    createClient(sandbox.path('client'), { token: owner.token, ...options })

  async function repoId(name: string): Promise<string> {
    const found = await db
      .selectFrom('repos')
      .innerJoin('orgs', 'orgs.id', 'repos.org_id')
      .select('repos.id')
      .where('repos.name', '=', name)
      .where('orgs.slug', '=', owner.slug)
      .executeTakeFirstOrThrow()
    return found.id
  }

  let template: Promise<Client> | undefined
  const running = starting.move()
  const host: Host = {
    app,
    owner,
    sandbox,
    remote,
    client,
    repoId,
    async repo(name, defaultBranch) {
      await host.ok('repos/create', { name, ...(defaultBranch && { defaultBranch }) })
      return remote(name)
    },
    async clone(name, options, ...args) {
      const made = client(options)
      await made.run('clone', '-q', ...args, remote(name), '.')
      return made
    },
    async filled(name, options) {
      const url = await host.repo(name)
      template ??= withSmallHistory(client())
      const made = client(options)
      await cp((await template).dir, made.dir, { recursive: true })
      await made.run('push', '-q', url, 'main', 'side', 'v1')
      return { client: made, url }
    },
    call: (path, input, options) => app.call(path, input, { token: owner.token, ...options }),
    async ok(path, input) {
      const { status, body } = await host.call(path, input)
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
      return body
    },
    async events(name, afterSeq = 0) {
      const rows = await db
        .selectFrom('events')
        .select(['seq', 'type', 'subject', 'payload'])
        .where('scope', '=', `repo:${await repoId(name)}`)
        .where('seq', '>', afterSeq)
        .orderBy('seq')
        .execute()
      return rows.map((row) => ({
        seq: Number(row.seq),
        type: row.type,
        subject: row.subject,
        payload: row.payload && JSON.parse(row.payload),
      }))
    },
    async refs(name) {
      const rows = await db
        .selectFrom('git_refs')
        .select(['name', 'oid'])
        .where('repo_id', '=', await repoId(name))
        .orderBy('name')
        .execute()
      return Object.fromEntries(rows.map((row) => [row.name, row.oid]))
    },
    async packs(name) {
      const rows = await db
        .selectFrom('repo_packs')
        .select('pack_id')
        .where('repo_id', '=', await repoId(name))
        .execute()
      return rows.map((row) => row.pack_id)
    },
    failures: () => unexpectedErrors(app.url),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
  return host
}

export const startSqliteHost = (env?: Record<string, string>): Promise<Host> => startHost(createSqlite, env)

/**
 * A host that the tests of a suite use together, prepared as they need it. In the end no request may have failed in a
 * way nobody foresaw.
 */
export const useHost = (
  create: CreateDatabase,
  env: Record<string, string> = {},
  prepare: (host: Host) => Promise<unknown> = async () => {},
): Host =>
  useInSuite(async (made) => {
    const host = made.use(await startHost(create, env))
    made.defer(async () =>
      assert.equal(await host.failures(), 0, 'no request ended in an error nobody foresaw'),
    )
    await prepare(host)
    return host
  })

export async function unexpectedErrors(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^trellis_unexpected_errors_total (\d+)/m.exec(text)?.[1] ?? Number.NaN)
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

/** The files of all packs below a data directory. */
export async function packFiles(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'packs'), { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith('.pack'))
}

/** Waits until something holds; a test that waits in vain says for what. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  timeoutMs = 15_000,
): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > end) assert.fail(`waited in vain until ${what}`)
    await new Promise((wake) => setTimeout(wake, 25))
  }
}

/** The server as operators run it. */
export interface ServerProcess {
  url: string
  pid: number
  key: string
  slug: string
  remote(name: string): string
  post(path: string, input: unknown): Promise<{ status: number; body: unknown }>
  /** In KiB. */
  memory(): number
  kill(): Promise<void>
  stop(): Promise<void>
}

const MAIN = resolve(import.meta.dirname, '../../packages/server/src/main.ts')

export async function startServer(
  dataDir: string,
  env: Record<string, string | undefined> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      TRELLIS_LISTEN: '127.0.0.1:0',
      TRELLIS_DATA: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const url = await listening(child)
  const key = (await readFile(join(dataDir, 'owner.key'), 'utf8')).trim()
  const post = async (path: string, input: unknown) => {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(input),
    })
    return { status: response.status, body: await response.json() }
  }
  const { body } = await post('orgs/list', {})
  const slug = (body as { items: { slug: string }[] }).items[0]?.slug ?? ''
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  return {
    url,
    pid: child.pid ?? 0,
    key,
    slug,
    post,
    remote: (name) => `${url}/git/${slug}/${name}.git`,
    memory: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? Number.NaN),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

async function listening(child: ChildProcess): Promise<string> {
  let said = ''
  return new Promise((found, reject) => {
    const look = (chunk: Buffer) => {
      said = (said + chunk).slice(-20_000)
      const url = /Trellis is at (\S+)/.exec(said)?.[1]
      if (url) found(url)
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('exit', () => reject(new Error(`the server ended: ${said}`)))
  })
}

/** A pkt-line. */
export const pkt = (text: string | Uint8Array): Buffer => {
  const data = Buffer.from(text as string)
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, '0')), data])
}
export const FLUSH = Buffer.from('0000')

/** A pack without objects, which git sends when the remote has everything. */
export const EMPTY_PACK = Buffer.from(
  '5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e',
  'hex',
)

export interface RawCommand {
  ref: string | Uint8Array
  before?: string
  after?: string
}

/** The body of a push, as a client puts it together. */
export function pushBody(
  commands: readonly RawCommand[],
  pack: Uint8Array = EMPTY_PACK,
  capabilities = 'report-status',
): Buffer {
  const lines = commands.map(({ ref, before = ZERO, after = ZERO }, i) =>
    pkt(
      Buffer.concat([
        Buffer.from(`${before} ${after} `),
        Buffer.from(ref as string),
        Buffer.from(i === 0 ? `\0 ${capabilities}` : ''),
      ]),
    ),
  )
  return Buffer.concat([...lines, FLUSH, pack])
}

export async function post(
  host: Pick<Host, 'remote' | 'owner'>,
  name: string,
  service: 'git-upload-pack' | 'git-receive-pack',
  body: Uint8Array,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Buffer }> {
  const response = await fetch(`${host.remote(name)}/${service}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${host.owner.token}`,
      'content-type': `application/x-${service}-request`,
      ...headers,
    },
    body: Buffer.from(body),
  })
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
}

/** Pushes without a client and gives the report. */
export async function pushRaw(
  host: Pick<Host, 'remote' | 'owner'>,
  name: string,
  commands: readonly RawCommand[],
  pack?: Uint8Array,
) {
  const answer = await post(host, name, 'git-receive-pack', pushBody(commands, pack))
  assert.equal(answer.status, 200)
  return answer.body.toString()
}
