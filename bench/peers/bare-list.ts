// The least that answers repos/list: a handler on node:http and one prepared statement, with no credentials, checks,
// limits or logs.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

const db = new DatabaseSync(process.argv[2] ?? '', { readOnly: true })
// SQLite would plan the query anew at every run for a bare parameter.
const list = db.prepare('select * from repos where org_id = ? and name > ? order by name limit 0 + ?')
const orgId = String(db.prepare('select org_id from repos limit 1').get()?.org_id)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { limit } = JSON.parse(Buffer.concat(chunks).toString())
    const rows = list.all(orgId, '', limit + 1)
    const items = rows.slice(0, limit).map((row) => ({
      name: row.name,
      ownerId: row.org_id,
      defaultBranch: row.default_branch,
      artifactId: row.artifact_id,
      remote: `http://localhost/git/owner/${row.name}.git`,
      readOnly: row.read_only === 1,
      canWrite: true,
      canAdmin: true,
      sizeBytes: row.size_bytes,
      lastPushAt: row.last_push_at,
      source: row.source,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }))
    const body = JSON.stringify({ items, nextCursor: rows.length > limit ? 'more' : null })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
