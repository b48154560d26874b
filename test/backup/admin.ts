import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { runAdmin } from '../../packages/server/src/admin/run.ts'

const ADMIN = fileURLToPath(new URL('../../packages/server/src/admin.ts', import.meta.url))

export interface AdminRun {
  code: number | null
  /** What it said on standard output. */
  said: string
  /** And on standard error. */
  told: string
}

interface Place {
  data: string
  url: string | undefined
}

const envOf = ({ data, url }: Place) => ({ TRELLIS_DATA: data, ...(url && { TRELLIS_DATABASE_URL: url }) })

/** Runs a command in this process: to start one takes longer than most of what commands do. */
export const admin = (place: Place, ...args: string[]): Promise<AdminRun> =>
  adminAsked(undefined, place, ...args)

/** The same, with a person who gives this answer to whatever is asked. */
export async function adminAsked(
  answer: string | undefined,
  place: Place,
  ...args: string[]
): Promise<AdminRun> {
  let said = ''
  let told = ''
  const code = await runAdmin(args, {
    env: envOf(place),
    print: (line) => {
      said += `${line}\n`
    },
    tell: (line) => {
      told += `${line}\n`
    },
    ask: async (question) => {
      told += question
      return answer
    },
  })
  return { code, said, told }
}

/** Runs a command as operators do. */
export async function adminProcess(place: Place, ...args: string[]): Promise<AdminRun> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [ADMIN, ...args], {
    env: { PATH, NODE_COMPILE_CACHE, ...envOf(place) },
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
