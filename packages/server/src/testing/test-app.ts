import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ErrorEnvelope,
  ErrorEnvelope as ErrorEnvelopeSchema,
  type Runtime as RuntimeName,
} from '@trellis/contract'
import { createTrellisClient, type TrellisClient } from '@trellis/contract/client'
import { type App, startApp } from '../app.ts'
import type { Passwords } from '../people/passwords.ts'
import { parseConfig } from '../platform/config.ts'
import { createLog } from '../platform/log.ts'
import type { Runtimes } from '../runtime/runtime.ts'
import { type CreateDatabase, placeMigrated, type TestDatabase } from './databases.ts'
import { useInSuite } from './in-suite.ts'
import type { Json } from './json.ts'
import { cheapPasswords } from './passwords.ts'

/** A whole Trellis on a port of its own, whose every answer is held against the contract. */
export interface TestApp extends App, AsyncDisposable {
  /** The directory it keeps everything in. */
  data: string
  /** Lets time pass. */
  pass(ms: number): void
  /** Sets the clock, forth or back, without any time passing. */
  setClock(byMs: number): void
  now(): number
  /** Everything logged so far. */
  logged(): string
  client(token?: string, org?: string): TrellisClient
  /** Calls an operation and gives status and body, whatever they are. */
  call(path: string, input?: unknown, options?: CallOptions): Promise<Answer>
  /** Removes what has come to its end, as is done now and then. */
  expire(): Promise<void>
  /** Signs somebody up and gives their session. */
  signUp(name: string): Promise<{ token: string; userId: string; email: string; slug: string }>
}

export interface CallOptions {
  token?: string | undefined
  org?: string
  headers?: Record<string, string>
}

export interface Answer {
  status: number
  headers: Headers
  body: Json
}

export async function startTestApp(
  database: TestDatabase,
  env: Record<string, string> = {},
  {
    passwords = cheapPasswords,
    runtimes,
    onLogged,
    consoleDirectory,
  }: {
    passwords?: Passwords
    runtimes?: Runtimes
    onLogged?: (lines: string) => void
    consoleDirectory?: string
  } = {},
): Promise<TestApp> {
  await using starting = new AsyncDisposableStack()
  const directory = starting.use(await mkdtempDisposable(join(tmpdir(), 'trellis-data-')))
  const data = env.TRELLIS_DATA ?? directory.path
  if (!database.url && data === directory.path) await placeMigrated(join(data, 'trellis.db'))
  let passed = 0
  let skew = 0
  let lines = ''
  const log = createLog('debug', (more) => {
    lines += more
    onLogged?.(more)
  })
  const now = () => Date.now() + passed + skew
  const app = await startApp({
    config: parseConfig({
      TRELLIS_LISTEN: '127.0.0.1:0',
      TRELLIS_DATA: data,
      TRELLIS_DATABASE_URL: database.url,
      TRELLIS_DATABASE_POOL: '4',
      // To find out whether there can be one takes longer than the rest of the start.
      TRELLIS_SANDBOX: 'off',
      ...env,
    }),
    log,
    clock: now,
    stopwatch: () => performance.now() + passed,
    passwords,
    ...(consoleDirectory && { consoleDirectory }),
    ...(runtimes && {
      runtimes: {
        names: new Set(Object.keys(runtimes) as RuntimeName[]),
        off: [],
        open: () => runtimes,
        openApart: () => runtimes.worker,
      },
    }),
    checkOutput: true,
  })
  starting.defer(() => app.stop())

  async function call(
    path: string,
    input?: unknown,
    { token, org, headers }: CallOptions = {},
  ): Promise<Answer> {
    const response = await fetch(`${app.url}/api/v1/${path}`, {
      method: 'POST',
      headers: {
        ...(input !== undefined && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(org && { 'trellis-org': org }),
        ...headers,
      },
      ...(input !== undefined && { body: JSON.stringify(input) }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  const running = starting.move()
  const stop = () => running.disposeAsync()
  return {
    ...app,
    data,
    pass: (ms) => {
      passed += ms
    },
    setClock: (byMs) => {
      skew += byMs
    },
    now,
    logged() {
      // An answer may be here before the turn has ended in which it was written.
      log.flush()
      return lines
    },
    client: (token, org) =>
      createTrellisClient({ url: app.url, ...(token && { token }), ...(org && { org }) }),
    call,
    async expire() {
      for (const work of ['expired repositories', 'expired organizations', 'ended agents', 'old throttles'])
        await app.background.run(work)
    },
    async signUp(name) {
      const email = `${name}@example.com`
      const response = await fetch(`${app.url}/api/auth/sign-up/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, name, password: 'correct horse battery' }),
      })
      if (!response.ok) throw new Error(`sign-up failed: ${response.status} ${await response.text()}`)
      const { token, user } = (await response.json()) as { token: string; user: { id: string } }
      const orgs = await call('orgs/list', {}, { token })
      return { token, userId: user.id, email, slug: orgs.body.items[0].slug }
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** A Trellis that the tests of a suite use together, on a database of its own. */
export const useApp = (
  create: CreateDatabase,
  env: Record<string, string> = {},
  replaced: { runtimes?: Runtimes } = {},
): TestApp =>
  useInSuite(async (made) => {
    const database = made.use(await create())
    return made.use(await startTestApp(database, env, replaced))
  })

/** Throws unless an answer is a failure in the one envelope, with nothing more and nothing less. */
export function asEnvelope({ status, body }: Answer): ErrorEnvelope {
  const envelope = ErrorEnvelopeSchema.strict().parse(body)
  if (envelope.status !== status)
    throw new Error(`status ${status} with an envelope that says ${envelope.status}`)
  return envelope
}
