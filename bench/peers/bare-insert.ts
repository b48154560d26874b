// The least that keeps the JSON it is sent: a handler on node:http and one prepared insert, each in a commit of its own,
// with no credentials, checks, limits, events or indexes.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

const db = new DatabaseSync(process.argv[2] ?? '', { timeout: 10_000 })
// As the server opens it.
db.exec('pragma journal_mode = wal; pragma synchronous = full')
db.exec('create table if not exists bare_rows (id text primary key, data text not null) strict')
const insert = db.prepare('insert into bare_rows (id, data) values (?, ?)')

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const id = randomUUID()
    const { data } = JSON.parse(Buffer.concat(chunks).toString())
    insert.run(id, JSON.stringify(data))
    const body = JSON.stringify({ id, data })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
