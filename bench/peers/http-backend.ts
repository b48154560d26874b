// What people serve git with today: nginx, fcgiwrap and git http-backend, set up as somebody would who cares.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from '../processes.ts'
import { makeScratch } from '../scratch.ts'

export interface HttpBackend extends Running {
  /** Bare repositories in here are served by their names. */
  repositories: string
  /** Of the user `bench`; like at Trellis, nobody gets in without. */
  password: string
}

const PROGRAM_FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
const WORKERS = 2
const CHILDREN = 8

/** Undefined where nginx or fcgiwrap is not installed. */
export async function runHttpBackend(): Promise<HttpBackend | undefined> {
  const nginx = await findProgram('nginx')
  const fcgiwrap = await findProgram('fcgiwrap')
  if (!nginx || !fcgiwrap) return undefined
  const dir = await makeScratch('nginx')
  const repositories = join(dir, 'repositories')
  await mkdir(repositories)
  const port = await freePort()
  await writeFile(join(dir, 'nginx.conf'), configuration(dir, port))
  const password = randomBytes(16).toString('hex')
  await writeFile(join(dir, 'users'), `bench:{PLAIN}${password}\n`)
  // Groups of their own: children of fcgiwrap do not end with their parent.
  const start = (program: string, args: string[]) => spawn(program, args, { stdio: 'ignore', detached: true })
  const running = [
    start(fcgiwrap, ['-c', String(CHILDREN), '-s', `unix:${join(dir, 'fcgiwrap.socket')}`]),
    start(nginx, ['-e', join(dir, 'error.log'), '-p', dir, '-c', join(dir, 'nginx.conf')]),
  ]
  const stop = async () => void (await Promise.all(running.map(end)))
  try {
    await answers(port)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `http://127.0.0.1:${port}`, port, repositories, password, stop }
}

function configuration(dir: string, port: number): string {
  const temporary = ['client_body', 'fastcgi', 'proxy', 'uwsgi', 'scgi']
  const parameters = {
    REQUEST_METHOD: '$request_method',
    QUERY_STRING: '$query_string',
    CONTENT_TYPE: '$content_type',
    CONTENT_LENGTH: '$content_length',
    PATH_INFO: '$uri',
    REMOTE_ADDR: '$remote_addr',
    REMOTE_USER: '$remote_user',
    SCRIPT_FILENAME: join(
      execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(),
      'git-http-backend',
    ),
    GIT_PROJECT_ROOT: join(dir, 'repositories'),
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROTOCOL: '$http_git_protocol',
  }
  return `
daemon off;
worker_processes ${WORKERS};
pid ${join(dir, 'nginx.pid')};
${process.getuid?.() === 0 ? `user ${userInfo().username};` : ''}
events { worker_connections 1024; }
http {
  access_log off;
  gzip off;
  tcp_nodelay on;
  keepalive_timeout 75;
  keepalive_requests 10000000;
  client_max_body_size 0;
  ${temporary.map((name) => `${name}_temp_path ${join(dir, name)};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    location / {
      auth_basic bench;
      auth_basic_user_file ${join(dir, 'users')};
      fastcgi_pass unix:${join(dir, 'fcgiwrap.socket')};
      ${Object.entries(parameters)
        .map(([name, value]) => `fastcgi_param ${name} ${value};`)
        .join('\n      ')}
    }
  }
}
`
}

async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of PROGRAM_FOLDERS) {
    const path = join(folder, name)
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path
  }
  return undefined
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

async function answers(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.unref()
    })
    if (open) return
    await sleep(50)
  }
  throw new Error('nginx did not start')
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const gone = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  await gone
}
