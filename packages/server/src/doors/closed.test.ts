import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import pg from 'pg'
import { startApp } from '../app.ts'
import { parseConfig } from '../platform/config.ts'
import { createLog } from '../platform/log.ts'
import { createPostgres } from '../testing/index.ts'

/** The lock under which a start migrates. Whoever holds it keeps others from being ready. */
const MIGRATION_LOCK = 7_327_355_473

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

it('answers 503 from the first moment until all is ready, each client in its own words', async () => {
  await using database = await createPostgres()
  await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-data-'))
  const blocker = new pg.Client(database.url)
  await blocker.connect()
  await blocker.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const starting = startApp({
    config: parseConfig({
      TRELLIS_LISTEN: `127.0.0.1:${port}`,
      TRELLIS_DATA: data.path,
      TRELLIS_DATABASE_URL: database.url,
    }),
    log: createLog('error', () => {}),
  })
  try {
    const ask = async (path: string, init?: RequestInit) => {
      const response = await fetch(`${url}${path}`, init)
      return { response, text: await response.text() }
    }
    while (!(await fetch(`${url}/healthz`).catch(() => undefined))) await new Promise(setImmediate)

    const alive = await ask('/healthz')
    assert.equal(alive.response.status, 200)
    const api = await ask('/api/v1/repos/list', { method: 'POST' })
    const { message, ...envelope } = JSON.parse(api.text)
    assert.deepEqual(envelope, { defined: false, code: 'SERVICE_UNAVAILABLE', status: 503, data: {} })
    const git = await ask('/git/owner/hello.git/info/refs?service=git-upload-pack')
    assert.equal(git.text, `${message}\n`)
    const page = await ask('/login', { headers: { accept: 'text/html' } })
    assert.match(page.text, /^<!doctype html>/)
    assert.match(page.text, new RegExp(message))
    for (const { response } of [api, git, page, await ask('/readyz'), await ask('/api/auth/ok')]) {
      assert.equal(response.status, 503)
      assert.equal(response.headers.get('retry-after'), '1')
    }

    await blocker.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK])
    await starting
    assert.equal((await ask('/readyz')).response.status, 200)
    assert.equal((await ask('/api/v1/repos/list', { method: 'POST' })).response.status, 401)
  } finally {
    await blocker.end()
    await (await starting).stop()
  }
})
