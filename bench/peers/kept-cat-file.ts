// The least that answers git/trees/get, git/blobs/get and git/commits/get: a handler on node:http that keeps one
// `git cat-file --batch-command`, with no credentials, checks, limits or logs. Its answers are the same bytes.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseCommit, parseTree } from '../../packages/server/src/git/objects/format.ts'
import { createByteSource } from '../../packages/server/src/git/process/byte-source.ts'

const git = spawn('git', ['cat-file', '--batch-command'], {
  cwd: process.argv[2],
  stdio: ['pipe', 'pipe', 'inherit'],
})
const answers = createByteSource(git.stdout)
let last: Promise<unknown> = Promise.resolve()

/** Written at once, and answered in order. */
function ask<T>(command: string, read: () => Promise<T>): Promise<T> {
  git.stdin.write(`${command}\n`)
  const mine = last.then(read)
  last = mine
  return mine
}

const info = (object: string) =>
  ask(`info ${object}`, async () => {
    const [oid = '', , size] = ((await answers.line()) ?? '').split(' ')
    return { oid, size: Number(size) }
  })

const contents = (object: string) =>
  ask(`contents ${object}`, async () => {
    const [oid = '', , size] = ((await answers.line()) ?? '').split(' ')
    const bytes = await answers.bytes(Number(size), Number(size))
    await answers.bytes(1, 0)
    return { oid, bytes }
  })

interface Asked {
  ref: string
  path: string
}

const operations: Record<string, (asked: Asked) => Promise<object>> = {
  async '/api/v1/git/trees/get'({ ref, path }) {
    const [commit, tree] = await Promise.all([info(ref), contents(`${ref}:${path}`)])
    const entries = await parseTree(tree.bytes)
    const items = entries.map(async ({ name, mode, type, oid }) => ({
      name,
      path: `${path}/${name}`,
      mode,
      type,
      oid,
      ...(type === 'blob' && { size: (await info(oid)).size }),
    }))
    return { commit: commit.oid, items: await Promise.all(items), nextCursor: null }
  },
  async '/api/v1/git/blobs/get'({ ref, path }) {
    const { oid, bytes } = await contents(`${ref}:${path}`)
    const content = bytes.toString('utf8')
    if (!Buffer.from(content).equals(bytes)) throw new Error('not a text')
    return { oid, size: bytes.length, encoding: 'utf-8', content }
  },
  async '/api/v1/git/commits/get'({ ref }) {
    const { oid, bytes } = await contents(ref)
    return { oid, ...parseCommit(bytes) }
  },
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', async () => {
    const found = await operations[request.url ?? '']?.(JSON.parse(Buffer.concat(chunks).toString()))
    const body = JSON.stringify(found)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
