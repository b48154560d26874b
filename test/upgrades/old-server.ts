// A server of an earlier version, from a checkout of its commit.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { freePort } from '../postgres-cluster.ts'
import { SINCE } from './manifest.ts'
import { withPostgres } from './postgres-dump.ts'

const run = promisify(execFile)
const REPOSITORY = join(import.meta.dirname, '../..')

export interface Checkout {
  folder: string
  /** How many migrations it has. */
  schema: number
  remove(): Promise<void>
}

/** A commit with everything it needs to run. */
export async function checkOut(commit: string, folder: string): Promise<Checkout> {
  await run('git', ['worktree', 'add', '--quiet', '--detach', folder, commit], { cwd: REPOSITORY })
  const remove = async () => {
    await run('git', ['worktree', 'remove', '--force', folder], { cwd: REPOSITORY })
  }
  try {
    const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']
    const npm = (...args: string[]) => run('npm', [...args, ...options], { cwd: folder })
    // The lock files of the first commits do not agree with what they lock, which is pinned all the same.
    await npm('ci').catch(() => npm('install', '--no-package-lock'))
    const migrations = await readdir(join(folder, 'packages/server/src/db/migrations'))
    return { folder, schema: migrations.filter((name) => /^\d{4}-/.test(name)).length, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

export interface OldServer {
  url: string
  ownerKey: string
  /** How many packs a repository lists. */
  packsOf(name: string): Promise<number>
  stop(): Promise<void>
  kill(): Promise<void>
}

export async function startOldServer(
  { folder, schema }: Checkout,
  { data, databaseUrl, baseUrl }: { data: string; databaseUrl: string | undefined; baseUrl: string },
): Promise<OldServer> {
  const port = await freePort()
  const child = spawn(process.execPath, [join(folder, 'packages/server/src/main.ts')], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      TRELLIS_LISTEN: `127.0.0.1:${port}`,
      TRELLIS_BASE_URL: baseUrl,
      TRELLIS_DATA: data,
      ...(databaseUrl && { TRELLIS_DATABASE_URL: databaseUrl }),
      TRELLIS_GITHUB_CLIENT_ID: 'nobody',
      TRELLIS_GITHUB_CLIENT_SECRET: 'nothing',
      // No version takes settings it does not know.
      ...(schema >= SINCE.git && { TRELLIS_EGRESS_ALLOW: '127.0.0.1' }),
      ...(schema >= SINCE.webhooks && { TRELLIS_WEBHOOK_RETRY_SECONDS: Array(50).fill(2).join() }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await closed
  }
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += chunk
      if (/Trellis is at [\s\S]*The API is described at/.test(said)) resolve()
    })
    child.once('close', () => reject(new Error(`It did not start: ${said}`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    ownerKey: (await readFile(join(data, 'owner.key'), 'utf8')).trim(),
    packsOf: (name) => countPacks(name, databaseUrl ?? join(data, 'trellis.db')),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

async function countPacks(name: string, database: string): Promise<number> {
  const query =
    'select count(*) as packs from repo_packs join repos on repos.id = repo_packs.repo_id where repos.name = '
  if (!database.startsWith('postgres:')) {
    using sqlite = new DatabaseSync(database, { readOnly: true })
    return Number(sqlite.prepare(`${query} ?`).get(name)?.packs)
  }
  const { rows } = await withPostgres(database, (client) => client.query(`${query} $1`, [name]))
  return Number(rows[0].packs)
}
