// A shell of somebody who has git and curl and nothing else: no configuration, no credentials, nobody to ask.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

export const noCurlHere: string | false = spawnSync('curl', ['--version']).error
  ? 'curl is not installed'
  : false

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a line as it was given. The server is in this process, so it must not wait for it. */
export async function run(command: string, cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn('sh', ['-c', command], {
    cwd,
    env: {
      PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
      HOME: cwd,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'Agent',
      GIT_AUTHOR_EMAIL: 'agent@example.com',
      GIT_COMMITTER_NAME: 'Agent',
      GIT_COMMITTER_EMAIL: 'agent@example.com',
      no_proxy: '*',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ran: Ran = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    ran.stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    ran.stderr += chunk
  })
  const [code] = await once(child, 'close')
  return { ...ran, code }
}
