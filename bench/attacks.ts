import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { pushHostileExtensions } from '../test/extensions/hostile-extensions.ts'
import { createBystander } from '../test/git/bystander.ts'
import {
  type Client,
  createClient,
  createSandbox,
  FLUSH,
  pkt,
  pushBody,
  type ServerProcess,
  startServer,
  ZERO,
} from '../test/git/harness.ts'
import { deepBelowWide, repetitiveLines, treeBomb } from '../test/git/hostile-repositories.ts'
import type { Row } from './measure.ts'

/** Somebody with a repository of their own who wants nobody else to be served. */
interface Attacker {
  server: ServerProcess
  client: Client
  remote: string
  call(path: string, input: object): Promise<number>
}

/** Prepares for it, and gives what is then done again and again. */
type Attack = (attacker: Attacker) => Promise<() => Promise<unknown>>

const NAME = 'attacked'
/** Of fewer a median says little. */
const ROUNDS = 9
const run = promisify(execFile)

/** What a person of another organization notices: how many times longer things take them, at the most. */
const beside = (what: string, attack: Attack) => async (): Promise<Row> => {
  const sandbox = createSandbox()
  const server = await startServer(sandbox.path('data'), {
    TRELLIS_LOG_LEVEL: 'error',
    TRELLIS_EGRESS_ALLOW: '127.0.0.1',
    TRELLIS_WEBHOOK_CONCURRENCY: '0',
    TRELLIS_RATE_PER_SECOND: '100000',
  })
  try {
    const call = async (path: string, input: object) => (await server.post(path, input)).status
    await call('repos/create', { name: NAME })
    const client = createClient(sandbox.path('attacker'), { token: server.key })
    await client.run('init', '-q')
    await client.commit({ a: 'a\n' })
    const remote = server.remote(NAME)
    await client.run('push', '-q', remote, 'main')
    const strike = await attack({ server, client, remote, call })
    const bystander = await createBystander(server, sandbox)
    const { get, push, clone } = await bystander.during(strike, ROUNDS)
    const times = { get, push, clone }
    return {
      work: `others, while ${what}`,
      peer: 'the same before',
      ours: Object.entries(times)
        .map(([name, ratio]) => `${name} ${ratio.toFixed(1)}×`)
        .join(' '),
      theirs: '1×',
      ratio: 1 / Math.max(...Object.values(times)),
      goal: 0.33,
    }
  } finally {
    await server.stop()
    sandbox.remove()
  }
}

const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)))

const comparing: Attack = async ({ client, remote, call }) => {
  for (const [i, branch] of ['one', 'two'].entries()) {
    await client.commit({ 'a.txt': repetitiveLines(i + 1) })
    await client.run('push', '-q', remote, `HEAD:refs/heads/${branch}`)
  }
  return () => times(10, () => call('git/compare', { name: NAME, base: 'one', head: 'two' }))
}

const nestedTrees: Attack = async ({ client, remote }) => {
  const bomb = await treeBomb(client)
  return () => times(6, (i) => client.attempt('push', remote, `${bomb}:refs/heads/bomb-${i}`))
}

const deepPaths: Attack = async ({ client, remote, call }) => {
  const { commit, path } = await deepBelowWide(client)
  await client.run('push', '-q', remote, `${commit}:refs/heads/wide`)
  return async () => {
    for (let i = 0; i < 5; i++)
      await times(10, () => call('git/blobs/get', { name: NAME, ref: 'wide', path }))
  }
}

const heldPushes: Attack = async ({ server, remote }) => {
  const { hostname, port } = new URL(server.url)
  const hold = async () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(
      `POST ${new URL(remote).pathname}/git-receive-pack HTTP/1.1\r\nhost: x\r\n` +
        `authorization: Bearer ${server.key}\r\ncontent-length: 100000\r\n` +
        'content-type: application/x-git-receive-pack-request\r\n\r\n',
    )
    socket.write(pkt(`${ZERO} ${'1'.repeat(40)} refs/heads/held\0 report-status`))
    socket.write(FLUSH)
    socket.write('PACK')
    return socket
  }
  return async () => {
    const sockets = await times(100, hold)
    await sleep(3_000)
    for (const socket of sockets) socket.destroy()
  }
}

const manyRefs: Attack = async ({ server, client, remote, call }) => {
  const oid = await client.rev('main')
  for (let i = 0; i < 50; i++)
    await call('webhooks/create', { name: NAME, webhook: `hook-${i}`, url: `http://127.0.0.1:9/${i}` })
  let turn = 0
  return async () => {
    turn++
    const commands = Array.from({ length: 3_000 }, (_, i) => ({ ref: `refs/heads/${turn}/${i}`, after: oid }))
    const response = await fetch(`${remote}/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.key}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
      body: pushBody(commands),
    })
    await response.arrayBuffer()
  }
}

const largeBodies: Attack = async ({ server, client }) => {
  const content = Buffer.alloc(36 * 1024 * 1024, 'noise').toString('base64')
  const changes = [{ op: 'put', path: 'large', content, encoding: 'base64' }]
  const bodies = {
    honest: JSON.stringify({ name: NAME, branch: 'large', message: 'large', changes }),
    hostile: `[${'{},'.repeat(16 * 1024 * 1024)}{}]`,
  }
  for (const [name, body] of Object.entries(bodies)) await writeFile(join(client.dir, name), body)
  const url = `${server.url}/api/v1/git/commits/create`
  const send = (name: string) =>
    run(process.execPath, ['bench/peers/post-file.ts', url, server.key, join(client.dir, name)])
  return () => Promise.all(Object.keys(bodies).map(send))
}

const manyCommits: Attack = async ({ call }) => {
  let turn = 0
  return async () => {
    turn++
    await times(100, (i) => {
      const changes = Array.from({ length: 300 }, (_, n) => ({
        op: 'put',
        path: `${n % 30}/${n}`,
        content: `${turn} ${i} ${n}`,
      }))
      return call('git/commits/create', { name: NAME, branch: `${turn}-${i}`, message: 'x', changes })
    })
  }
}

const hostileExtensions: Attack = async ({ client, remote, call }) => {
  let turn = 0
  return async () => {
    turn++
    await pushHostileExtensions(client, remote, { turn })
    await times(4, () => call('extensions/list', { name: NAME, ref: `hostile-${turn}` }))
  }
}

const signUps: Attack = async ({ server }) => {
  let people = 0
  return () =>
    times(40, async () => {
      const name = `person-${people++}`
      const response = await fetch(`${server.url}/api/auth/sign-up/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: `${name}@example.com`, name, password: 'correct horse battery' }),
      })
      await response.arrayBuffer()
    })
}

export const attacks = {
  'beside-comparing': beside('another compares repetitive files', comparing),
  'beside-nested-trees': beside('another pushes nested trees', nestedTrees),
  'beside-deep-paths': beside('another reads below large directories', deepPaths),
  'beside-held-pushes': beside('another holds 100 pushes', heldPushes),
  'beside-many-refs': beside('another pushes 3,000 refs to 50 webhooks', manyRefs),
  'beside-large-bodies': beside('another sends bodies of 50 MB', largeBodies),
  'beside-many-commits': beside('a hundred callers of another commit 300 files each', manyCommits),
  'beside-hostile-extensions': beside('another lists hostile extensions', hostileExtensions),
  'beside-sign-ups': beside('forty at once sign up', signUps),
}
