// A whole Trellis in this process, and what can be seen of it from behind.

import assert from 'node:assert/strict'
import { cp, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CallOptions,
  type CreateDatabase,
  createSqlite,
  type Person,
  startTestApp,
  type TestApp,
  useInSuite,
} from '@trellis/server/testing'
import type { Json } from '../../packages/server/src/testing/json.ts'
import {
  type Client,
  type ClientOptions,
  createClient,
  createSandbox,
  type Sandbox,
  withSmallHistory,
} from './client.ts'

export interface RefEvent {
  seq: number
  type: string
  subject: string | null
  payload: Json
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
  ok(path: string, input?: unknown): Promise<Json>
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

/** The files of all packs below a data directory, without those that wait for a pack to come. */
export async function storedFiles(dataDir: string): Promise<string[]> {
  const packs = join(dataDir, 'packs')
  const names = await readdir(packs, { recursive: true }).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(packs, name)).then(
        (found) => (found.isFile() ? found.size : 0),
        () => 0,
      ),
    ),
  )
  return names.filter((_, i) => sizes[i] !== 0)
}

export const packFiles = async (dataDir: string): Promise<string[]> =>
  (await storedFiles(dataDir)).filter((name) => name.endsWith('.pack'))

/** Waits until something holds; a test that waits in vain says for what. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  timeoutMs = 120_000,
): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > end) assert.fail(`waited in vain until ${what}`)
    await new Promise((wake) => setTimeout(wake, 25))
  }
}
