// `npm run soak [minutes]`: everything that clients do, again and again, made and deleted; an hour passes every minute.
// What the server holds then must not grow: memory, descriptors, files and bytes beside the database, whose log is kept.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, createSandbox } from '../test/git/client.ts'
import { runScript } from './processes.ts'

const minutes = Number(process.argv[2] ?? 10)
const WORKERS = 4
const WORK_MS = 50_000
const MB = 1024 * 1024

const data = await mkdtemp(join(tmpdir(), 'trellis-soak-'))
const sandbox = createSandbox()
const receiver = await runScript('bench/peers/webhook-receiver.ts')
const server = fork('bench/peers/soak-server.ts', {
  execArgv: ['--expose-gc'],
  env: {
    ...process.env,
    TRELLIS_LISTEN: '127.0.0.1:0',
    TRELLIS_DATA: data,
    TRELLIS_EGRESS_ALLOW: '127.0.0.1',
    TRELLIS_RATE_PER_SECOND: '100000',
  },
  stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
})
const url = await new Promise<string>((resolve, reject) => {
  let said = ''
  server.stderr?.on('data', (chunk) => {
    said = (said + chunk).slice(-10_000)
    const found = /Trellis is at (\S+)/.exec(said)
    if (found?.[1]) resolve(found[1])
  })
  server.once('exit', () => reject(new Error(`the server ended: ${said}`)))
})
const key = (await readFile(join(data, 'owner.key'), 'utf8')).trim()

async function call(path: string, input: object, token: string | undefined = key) {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(input),
  })
  return { status: response.status, body: await response.json() }
}

async function must(path: string, input: object): Promise<{ remote: string; secret: string }> {
  const { status, body } = await call(path, input)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body as { remote: string; secret: string }
}

let rounds = 0

/** The life of a repository, from its creation to its end, with all that belongs to it. */
async function life(): Promise<void> {
  const name = `repo-${rounds++}`
  const { remote } = await must('repos/create', { name })
  await must('webhooks/create', { name, webhook: 'told', url: receiver.url })
  const { secret } = await must('tokens/create', { name, scope: 'write' })
  const client = createClient(sandbox.path(name), { token: secret })
  await client.run('init', '-q')
  for (let i = 0; i < 3; i++) {
    await client.commit({ [`file-${i}`]: `${name} ${i}\n`.repeat(500) })
    await client.run('push', '-q', remote, 'main')
  }
  await client.attempt('push', remote, 'main:refs/heads/bad..name')
  await client.run('push', '-q', remote, 'main:refs/heads/other')
  const changes = [{ op: 'put', path: 'made', content: name }]
  await must('git/commits/create', { name, branch: 'other', message: 'made', changes })
  await must('git/merge', { name, branch: 'main', from: 'other' })
  await must('git/compare', { name, base: 'main~1', head: 'main' }).catch(() => {})
  for (const path of ['git/commits/list', 'git/trees/get', 'events/list', 'webhooks/deliveries/list'])
    await call(path, { name })
  for (const depth of [[], ['--depth=1']])
    await createClient(sandbox.path(`${name}-clone`), { token: secret }).run(
      'clone',
      '-q',
      ...depth,
      remote,
      '.',
    )
  await must('repos/fork', { name, newName: `${name}-fork` })
  await must('git/branches/delete', { name, branch: 'other' })
  await must('repos/purge', { name })
  await leaveInTheMiddle(remote)
  await call('repos/get', { name: 'nothing' })
  await call('repos/get', { name }, 'trk_nobody')
  await must('repos/delete', { name: `${name}-fork` })
  await must('repos/delete', { name })
  for (const folder of [name, `${name}-clone`])
    await rm(sandbox.path(folder), { recursive: true, force: true })
}

/** A client that asks for a clone and is gone before it has it. */
async function leaveInTheMiddle(remote: string): Promise<void> {
  const leaving = new AbortController()
  const asking = fetch(`${remote}/info/refs?service=git-upload-pack`, {
    headers: { authorization: `Bearer ${key}` },
    signal: leaving.signal,
  })
  setTimeout(() => leaving.abort(), 2)
  await asking.then((response) => response.text()).catch(() => {})
}

async function work(until: number): Promise<void> {
  while (performance.now() < until) await life()
}

async function held() {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
  let files = 0
  let bytes = 0
  let database = 0
  for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const details = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    files++
    if (entry.name.startsWith('trellis.db')) database += details?.size ?? 0
    else bytes += details?.size ?? 0
  }
  return {
    rounds,
    'memory MB': Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024),
    descriptors: (await readdir(`/proc/${server.pid}/fd`)).length,
    files,
    'disk MB': Math.round((bytes / MB) * 10) / 10,
    'database MB': Math.round((database / MB) * 10) / 10,
  }
}

try {
  const samples = [await held()]
  for (let minute = 1; minute <= minutes; minute++) {
    const until = performance.now() + WORK_MS
    await Promise.all(Array.from({ length: WORKERS }, () => work(until)))
    // Clients have left, and what they set off has come to rest.
    await sleep(5_000)
    for (let hour = 0; hour < 2; hour++) {
      server.send('an hour')
      await once(server, 'message')
    }
    samples.push(await held())
    console.table(samples.slice(-1))
  }
  console.table(samples)
} finally {
  server.removeAllListeners('exit')
  server.kill('SIGTERM')
  await once(server, 'exit')
  await receiver.stop()
  sandbox.remove()
  await rm(data, { recursive: true, force: true })
}
