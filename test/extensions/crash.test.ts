// A server that is killed while it promotes: the old commit is in force or the new one, wholly, and no row is lost.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onEachDatabase, type TestDatabase } from '@trellis/server/testing'
import type { Json } from '../../packages/server/src/testing/json.ts'
import {
  type Client,
  createClient,
  createSandbox,
  type Sandbox,
  type ServerProcess,
  startServer,
} from '../git/harness.ts'

/** Set CRASH_ROUNDS and CRASH_ROWS to try it for longer and with more, and CRASH_LOG to a file to follow it. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 1)
const ROWS = Number(process.env.CRASH_ROWS ?? 600)
const BUCKETS = Math.ceil(ROWS / 500) * 10

const log = (line: string) => process.env.CRASH_LOG && appendFileSync(process.env.CRASH_LOG, `${line}\n`)

const name = 'shaken'
const record = 'item'

type Side = 'plain' | 'ranked'
const other = (side: Side): Side => (side === 'plain' ? 'ranked' : 'plain')

/** Either way all rows are looked at, change, and get entries of new indexes. */
const declared: Record<Side, { fields: object; indexes: string[]; drop?: string[] }> = {
  plain: {
    fields: {
      code: { type: 'string', required: true, unique: true },
      bucket: { type: 'integer' },
      count: { type: 'integer' },
    },
    indexes: ['bucket'],
    drop: ['rank'],
  },
  ranked: {
    fields: {
      code: { type: 'string', required: true, unique: true, maxLength: 50 },
      bucket: { type: 'integer', min: 0 },
      count: { type: 'integer', required: true, default: 0 },
      rank: { type: 'integer', required: true, default: 3 },
    },
    indexes: ['bucket,count', 'rank,bucket'],
  },
}

interface Row {
  data: { code: string; bucket: number; count: number; rank?: number }
}

onEachDatabase('killing the server while it promotes', (create) => {
  let sandbox: Sandbox
  let database: TestDatabase
  let data: string
  let server: ServerProcess
  let client: Client
  let commits: Record<Side, string>
  /** How often each row was counted up as far as anybody was told, and those of which nobody was told. */
  const acknowledged = new Map<string, number>()
  const unsure = new Set<string>()
  let written = 0

  const start = () =>
    startServer(data, {
      TRELLIS_DATABASE_URL: database.url,
      TRELLIS_DATABASE_POOL: '5',
      TRELLIS_LOG_LEVEL: 'error',
      TRELLIS_RATE_PER_SECOND: '1000000',
      TRELLIS_RATE_BURST: '1000000',
    })
  const ok = async (path: string, input: object): Promise<Json> => {
    const { status, body } = await server.post(path, { name, ...input })
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
    return body
  }
  const promote = (side: Side, at = server) => at.post('extensions/promote', { name, ref: side })
  const stream = async (path: string, body: string): Promise<string> => {
    const response = await fetch(`${server.url}/api/v1/records/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body,
    })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return text
  }

  /** Adds rows and counts them up until the server goes or nobody wants more. */
  async function write(isWanted: () => boolean): Promise<void> {
    while (isWanted()) {
      const code = `w${written++}`
      unsure.add(code)
      try {
        const item = { code, bucket: randomInt(BUCKETS), count: 0 }
        const { id, revision } = await ok('records/create', { record, data: item })
        acknowledged.set(code, 0)
        await ok('records/update', { record, id, revision, data: { count: 1 } })
        acknowledged.set(code, 1)
        unsure.delete(code)
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        return
      }
      await sleep(5)
    }
  }

  /** Everything there is belongs to one commit, and every row that was acknowledged is there. */
  async function assertWhole(): Promise<Side> {
    const { canonicalCommitSha, items } = await ok('extensions/list', { ref: 'plain' })
    const side = canonicalCommitSha === commits.plain ? 'plain' : 'ranked'
    assert.equal(canonicalCommitSha, commits[side])
    assert.deepEqual([items[0].schemaAhead, items[0].canonical], [side !== 'plain', side === 'plain'])
    const { items: events } = await ok('events/list', { types: ['extension.promoted'], limit: 250 })
    for (const [i, { payload }] of events.entries())
      assert.equal(payload.before, events[i - 1]?.payload.after ?? null)
    assert.equal(events.at(-1).payload.after, canonicalCommitSha)

    const { schema } = await ok('records/list', { record, limit: 1 })
    const { fields, indexes } = declared[side]
    assert.deepEqual(schema, { name: record, fields, indexes, hooks: {} })
    const text = await stream('export', JSON.stringify({ name, record }))
    const rows = text
      .split('\n')
      .filter(Boolean)
      .map((line): Row => JSON.parse(line))
    const byCode = new Map(rows.map((row) => [row.data.code, row]))
    assert.equal(byCode.size, rows.length)
    for (const [code, count] of acknowledged)
      assert.ok((byCode.get(code)?.data.count ?? -1) >= count, `${code} was acknowledged`)
    for (const { data } of rows) {
      assert.ok(acknowledged.has(data.code) || unsure.has(data.code), data.code)
      assert.equal(data.rank, side === 'ranked' ? 3 : undefined)
    }
    for (const bucket of [0, randomInt(BUCKETS), randomInt(BUCKETS)]) {
      const found = await ok('records/list', { record, where: { bucket }, limit: 1000 })
      assert.deepEqual(
        found.rows,
        rows.filter((row) => row.data.bucket === bucket),
      )
    }
    return side
  }

  before(async () => {
    sandbox = createSandbox()
    database = await create()
    data = sandbox.path('data')
    server = await start()
    await ok('repos/create', {})
    client = createClient(sandbox.path('author'), { token: server.key })
    await client.run('init', '-q')
    const made: Partial<Record<Side, string>> = {}
    for (const side of ['plain', 'ranked'] as const) {
      const descriptor = { version: 1, name: 'items', record: { name: record, ...declared[side] } }
      made[side] = await client.commit({
        'extensions/items/extension.json': JSON.stringify(descriptor),
        'extensions/items/index.ts': 'export default (input: unknown) => input\n',
      })
      await client.run('push', '-q', server.remote(name), `HEAD:${side}`)
    }
    commits = made as Record<Side, string>
    assert.equal((await promote('plain')).status, 200)
    const items = Array.from({ length: ROWS }, (_, i) => ({
      code: `i${i}`,
      bucket: i % BUCKETS,
      count: 0,
    }))
    for (const { code } of items) acknowledged.set(code, 0)
    const lines = items.map((item) => `${JSON.stringify({ data: item })}\n`)
    for (let at = 0; at < ROWS; at += 5000)
      await stream(`import?name=${name}&record=${record}`, lines.slice(at, at + 5000).join(''))
  })
  after(async () => {
    await server.stop()
    await database.drop()
    sandbox.remove()
  })

  it('leaves the old commit in force or the new one, and the next promotion succeeds', async (t) => {
    let isOver = false
    const writing = write(() => !isOver)
    let began = performance.now()
    assert.equal((await promote('ranked')).status, 200)
    let usualMs = performance.now() - began
    isOver = true
    await writing
    const found = { old: 0, new: 0 }
    for (let round = 1; round <= ROUNDS; round++) {
      const from = await assertWhole()
      const to = other(from)
      let isDead = false
      const writing = write(() => !isDead)
      const promoting = promote(to).catch(() => 'cut off')
      const killAfter = randomInt(Math.ceil(usualMs * 1.1))
      await sleep(killAfter)
      await server.kill()
      isDead = true
      const [answer] = await Promise.all([promoting, writing])
      server = await start()
      const now = await assertWhole()
      found[now === to ? 'new' : 'old']++
      log(
        `${database.dialect} round ${round}: killed after ${killAfter} of ${usualMs.toFixed()} ms${answer === 'cut off' ? '' : ', when it was over'}: ${now === to ? 'new' : 'old'}`,
      )
      began = performance.now()
      const { status, body } = await promote(to)
      // What else the machine does changes in the course of many rounds. One that has little left to do tells nothing.
      if (now !== to) usualMs = performance.now() - began
      assert.deepEqual([status, (body as { oid: string }).oid], [200, commits[to]], JSON.stringify(body))
      assert.equal(await assertWhole(), to)
    }
    t.diagnostic(`${found.old} times the old, ${found.new} times the new, ${acknowledged.size} rows`)
  })

  it('is not needed for promotions to race: one follows the other, in whatever process', async () => {
    const from = await assertWhole()
    // SQLite is for one process.
    const second = database.dialect === 'postgres' ? await start() : server
    let isOver = false
    const writing = write(() => !isOver)
    const racing = [server, second, server].map((at, i) => promote(i === 1 ? from : other(from), at))
    const answers = await Promise.all(racing)
    isOver = true
    await writing
    if (second !== server) await second.stop()
    for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body))
    await assertWhole()
  })
})
