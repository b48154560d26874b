import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const ADMIN = fileURLToPath(new URL('../../packages/server/src/admin.ts', import.meta.url))

export interface AdminRun {
  code: number | null
  /** What it said on standard output. */
  said: string
  /** And on standard error. */
  told: string
}

/** Runs a command as operators do. */
export async function admin(
  { data, url }: { data: string; url: string | undefined },
  ...args: string[]
): Promise<AdminRun> {
  const child = spawn(process.execPath, [ADMIN, ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      TRELLIS_DATA: data,
      ...(url && { TRELLIS_DATABASE_URL: url }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let told = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  child.stderr.on('data', (chunk) => {
    told += chunk
  })
  const [code] = await once(child, 'close')
  return { code, said, told }
}
