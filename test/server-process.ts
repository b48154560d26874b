import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTrellisClient, type TrellisClient } from '@trellis/contract/client'
import { lightMain } from './bundled-server.ts'

const running = new Map<string, ServerProcess[]>()

/** A data directory of its own, for as long as `work` runs. A server that still runs on it then has to go. */
export async function withDataDirectory<T>(work: (data: string) => Promise<T>): Promise<T> {
  const data = await mkdtemp(join(tmpdir(), 'trellis-process-'))
  try {
    return await work(data)
  } finally {
    await Promise.all((running.get(data) ?? []).map((server) => server.kill()))
    running.delete(data)
    await rm(data, { recursive: true, force: true })
  }
}

/** What a server that did not start had to say. */
export class DidNotStart extends Error {
  readonly exitCode: number | null
  readonly said: string

  constructor(exitCode: number | null, said: string) {
    super(`The server ended with ${exitCode}: ${said}`)
    this.exitCode = exitCode
    this.said = said
  }
}

export interface ServerProcess {
  url: string
  /** What it told its operator. */
  said(): string
  client(token: string): TrellisClient
  /** Asks it to stop, and gives its exit code. */
  stop(): Promise<number | null>
  /** Ends it on the spot, as a power cut would. */
  kill(): Promise<void>
}

/** Starts the real server as a process of its own, and waits until it says where it listens. */
export async function startServer(
  data: string,
  env: Record<string, string | undefined> = {},
  { node = process.execPath, program = lightMain() }: { node?: string; program?: string } = {},
): Promise<ServerProcess> {
  const child = spawn(node, [program], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      TRELLIS_LISTEN: '127.0.0.1:0',
      TRELLIS_DATA: data,
      TRELLIS_LOG_LEVEL: 'error',
      TRELLIS_SANDBOX: 'off',
      TRELLIS_RATE_PER_SECOND: '1000000',
      TRELLIS_RATE_BURST: '1000000',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += chunk
      const found = /Trellis is at (\S+)[\s\S]*The API is described at/.exec(said)
      if (found?.[1]) resolve(found[1])
    })
    child.once('close', (code) => reject(new DidNotStart(code, said)))
  })
  const server: ServerProcess = {
    url,
    said: () => said,
    client: (token) => createTrellisClient({ url, token }),
    stop: async () => {
      signal(child, 'SIGTERM')
      await closed
      return child.exitCode
    },
    kill: async () => {
      signal(child, 'SIGKILL')
      await closed
    },
  }
  running.set(data, [...(running.get(data) ?? []), server])
  return server
}

/** Only while it runs: the number of a process that has gone may be another's. */
function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.exitCode === null && child.signalCode === null) child.kill(name)
}

/** Starts a server that must not start, and gives what it said and its exit code. */
export async function failToStart(
  data: string,
  env: Record<string, string | undefined>,
): Promise<DidNotStart> {
  const started = await startServer(data, env).catch((error: unknown) => {
    if (error instanceof DidNotStart) return error
    throw error
  })
  if (started instanceof DidNotStart) return started
  await started.kill()
  throw new Error('The server started')
}

export const ownerKeyIn = async (data: string): Promise<string> =>
  (await readFile(join(data, 'owner.key'), 'utf8')).trim()
