// The server as a process of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lightMain } from '../bundled-server.ts'

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

export async function startServer(
  dataDir: string,
  env: Record<string, string | undefined> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [lightMain()], {
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
