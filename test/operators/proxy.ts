// Web servers in front of Trellis, started with the files that deploy/ has for operators.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** An address of this machine that other tests leave alone. */
export const HOST = '127.0.0.2'

export interface Ports {
  /** Of the proxy, with TLS and without. */
  tls: number
  plain: number
  /** Of the server behind it. */
  trellis: number
}

interface Place extends Ports {
  directory: string
  certificate: { file: string; key: string }
}

export interface Proxy {
  name: string
  /** What is missing, in words; undefined when it can be started. */
  missing: string | undefined
  start(place: Place): Promise<AsyncDisposable>
}

function find(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const shipped = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8')

/** Replaces what an operator would, and fails where the file has changed so that there is nothing to replace. */
function replaced(text: string, replacements: readonly [string | RegExp, string][]): string {
  return replacements.reduce((before, [from, to]) => {
    const after = before.replace(from, to)
    if (after === before) throw new Error(`There is no ${from}`)
    return after
  }, text)
}

const missing = (program: string): string | undefined => {
  const absent = [program, 'openssl'].find((name) => !find(name))
  return absent && `${absent} is not installed: apt-get install ${absent}`
}

export const nginx: Proxy = {
  name: 'nginx',
  missing: missing('nginx'),
  async start({ directory, certificate, tls, plain, trellis }) {
    const site = replaced(shipped('nginx.conf'), [
      ['server 127.0.0.1:8787;', `server 127.0.0.1:${trellis};`],
      ['listen 443 ssl;', `listen ${HOST}:${tls} ssl; listen ${HOST}:${plain};`],
      ['/etc/ssl/git.example.com.pem', certificate.file],
      ['/etc/ssl/git.example.com.key', certificate.key],
      [/server \{\s+listen 80;[^}]*\}/, ''],
    ])
    const config = join(directory, 'nginx.conf')
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    await writeFile(
      config,
      `daemon off; worker_processes 1; pid ${directory}/nginx.pid; error_log stderr;
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      events {}
      http {
        access_log off;
        ${folders.map((name) => `${name}_temp_path ${directory}/temp-${name};`).join(' ')}
        # What holds unless the site says otherwise is made short, so that it shows.
        client_body_timeout 1s; send_timeout 1s; proxy_read_timeout 1s; proxy_send_timeout 1s;
        ${site}
      }`,
    )
    return startProgram([find('nginx') ?? '', '-e', 'stderr', '-p', directory, '-c', config], {
      directory,
      plain,
    })
  },
}

export const caddy: Proxy = {
  name: 'Caddy',
  missing: missing('caddy'),
  async start({ directory, certificate, tls, plain, trellis }) {
    const site = replaced(shipped('Caddyfile'), [
      ['reverse_proxy 127.0.0.1:8787', `reverse_proxy 127.0.0.1:${trellis}`],
    ])
    const [, options, body] = /^\{\n(.*?)^\}\n\ngit\.example\.com \{\n(.*)^\}/ms.exec(site) ?? []
    if (!body) throw new Error('There is no site')
    const config = join(directory, 'Caddyfile')
    await writeFile(
      config,
      `{
      admin off
      grace_period 1s
      auto_https disable_redirects
      skip_install_trust
      storage file_system ${directory}/storage
      ${options}
      }
      http://${HOST}:${plain} {
      ${body}
      }
      https://${HOST}:${tls} {
      tls ${certificate.file} ${certificate.key}
      ${body}
      }`,
    )
    return startProgram([find('caddy') ?? '', 'run', '--adapter', 'caddyfile', '--config', config], {
      directory,
      plain,
    })
  },
}

async function startProgram(
  [program = '', ...args]: string[],
  { directory, plain }: { directory: string; plain: number },
): Promise<AsyncDisposable> {
  await mkdir(directory, { recursive: true })
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    XDG_DATA_HOME: directory,
    XDG_CONFIG_HOME: directory,
  }
  const child = spawn(program, args, { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const stop = () => end(child)
  while (!(await answers(plain))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${program} ended: ${said}`)
    await sleep(20)
  }
  return { [Symbol.asyncDispose]: stop }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, HOST)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Ports that are free now, each on the address it will be used on. */
export async function freePorts(): Promise<Ports> {
  const servers = [HOST, HOST, '127.0.0.1'].map((host) => createServer().listen(0, host))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const [tls = 0, plain = 0, trellis = 0] = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))))
  return { tls, plain, trellis }
}

/** A certificate for the proxy that clients who are given it believe. */
export async function makeCertificate(directory: string): Promise<{ file: string; key: string }> {
  const [file, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')]
  await run(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=IP:${HOST}`, '-keyout', key, '-out', file],
    ],
    { env: { PATH: process.env.PATH } },
  )
  return { file, key }
}
