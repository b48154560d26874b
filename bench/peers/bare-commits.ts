// The least that answers git/commits/list: a handler on node:http that keeps one `git cat-file --batch` and follows the
// first parents, with no credentials, checks, limits or logs. Good for histories without merges only.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const child = spawn('git', ['-C', process.argv[2] ?? '', 'cat-file', '--batch'], {
  stdio: ['pipe', 'pipe', 'inherit'],
})
const waiting: ((bytes: Buffer) => void)[] = []
let rest: Buffer = Buffer.alloc(0)
child.stdout.on('data', (chunk: Buffer) => {
  rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
  for (;;) {
    const newline = rest.indexOf(0x0a)
    if (newline < 0) return
    const end = newline + 1 + Number(rest.toString('latin1', 0, newline).split(' ')[2])
    if (rest.length <= end) return
    waiting.shift()?.(rest.subarray(newline + 1, end))
    rest = rest.subarray(end + 1)
  }
})

const read = (oid: string) =>
  new Promise<Buffer>((resolve) => {
    waiting.push(resolve)
    child.stdin.write(`${oid}\n`)
  })

function parse(oid: string, bytes: Buffer) {
  const text = bytes.toString()
  const end = text.indexOf('\n\n')
  const lines = text.slice(0, end).split('\n')
  const all = (word: string) =>
    lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length))
  const person = (word: string) => {
    const [, name, email, time, timezone] = /^(.*) <(.*)> (\d+) (.*)$/.exec(all(word)[0] ?? '') ?? []
    return { name, email, time: Number(time) * 1000, timezone }
  }
  return {
    oid,
    tree: all('tree ')[0],
    parents: all('parent '),
    author: person('author '),
    committer: person('committer '),
    message: text.slice(end + 2),
    signed: all('gpgsig').length > 0,
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', async () => {
    const { ref, limit } = JSON.parse(Buffer.concat(chunks).toString())
    const items = []
    let next: string | undefined = ref
    while (next && items.length < limit) {
      const commit = parse(next, await read(next))
      items.push(commit)
      next = commit.parents[0]
    }
    const body = JSON.stringify({
      items,
      nextCursor: next ? Buffer.from(`${ref}:${limit}`).toString('base64url') : null,
    })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
