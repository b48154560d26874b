import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { watchLoop } from './loop-delay.ts'
import { makeScratch } from './scratch.ts'

export interface Running {
  url: string
  port: number
  stop(): Promise<void>
}

/** Runs a script of ours and waits until it says where it listens. */
export async function runScript(
  script: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<Running> {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = await saidUrl(child)
  return {
    url,
    port: Number(new URL(url).port),
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

export interface Trellis extends Running {
  key: string
  data: string
  /** The address of its PostgreSQL, unless it uses SQLite. */
  postgres?: string | undefined
}

/** A Trellis with its defaults, in a directory of its own, but for the limits that a benchmark would run into. */
export async function runTrellis({
  postgres,
  script: path = 'packages/server/src/main.ts',
}: {
  postgres?: string
  /** That of another version. */
  script?: string
} = {}): Promise<Trellis> {
  const data = await makeScratch('data')
  const script = await runScript(path, {
    env: {
      TRELLIS_LISTEN: '127.0.0.1:0',
      TRELLIS_DATA: data,
      ...(postgres && { TRELLIS_DATABASE_URL: postgres }),
      TRELLIS_RATE_PER_SECOND: '1000000',
      TRELLIS_ORG_MAX_REPOS: '10000000',
      TRELLIS_ORG_MAX_DAEMONS: '10000',
      TRELLIS_ORG_MAX_QUEUED: '10000',
      TRELLIS_CALLER_MAX_TAILS: '10000',
      TRELLIS_ORG_MAX_BYTES: '100000000000000',
      TRELLIS_RECORD_MAX_ROWS: '10000000',
    },
  })
  const running = watchLoop(script)
  return {
    ...running,
    data,
    postgres,
    key: (await readFile(join(data, 'owner.key'), 'utf8')).trim(),
  }
}

/** The pipe stays open: a process that cannot say a word of warning may end. */
function saidUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk) => {
      if (said.length < 10_000) said += chunk
      const url = /http:\/\/\S+:\d+/.exec(said)
      if (url) resolve(url[0])
    })
    child.once('close', () => reject(new Error(`it did not start: ${said}`)))
  })
}
