// A backup that is made while people push, fork and delete, and a server that starts from it.

import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPostgres, createSqlite } from '@trellis/server/testing'
import { createClient, createSandbox, type ServerProcess, startServer, until } from '../git/harness.ts'
import { admin, adminProcess } from './admin.ts'

const WRITERS = 3

/** Commits, forks and deletes until it is told to stop. Keeps what the server has acknowledged. */
async function write(
  server: ServerProcess,
  name: string,
  acknowledged: Map<string, string>,
  stop: AbortSignal,
) {
  for (let i = 0; !stop.aborted; i++) {
    const changes = [
      { op: 'put', path: `file-${i % 5}`, content: `content ${i}\n`.repeat(20), encoding: 'utf-8' },
    ]
    const made = await server.post('git/commits/create', { name, branch: 'main', message: `${i}`, changes })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    acknowledged.set(name, (made.body as { oid: string }).oid)
    // Under load, and not for its own sake.
    await sleep(50)
    if (i % 3 !== 0) continue
    const fork = `${name}-fork-${i}`
    assert.equal((await server.post('repos/fork', { name, newName: fork })).status, 200)
    // A few stay, and all are cloned in the end.
    if (i > 3) assert.equal((await server.post('repos/delete', { name: fork })).status, 200)
  }
}

for (const [title, create, createOther] of [
  ['SQLite', createSqlite, createPostgres],
  ['PostgreSQL', createPostgres, createSqlite],
] as const)
  describe(`a backup under load (${title})`, () => {
    it('has all that was acknowledged before, whole, and starts elsewhere', {
      timeout: 600_000,
    }, async () => {
      await using cleanup = new AsyncDisposableStack()
      const sandbox = createSandbox()
      cleanup.defer(sandbox.remove)
      const [source, target, other] = [await create(), await create('empty'), await createOther('empty')]
      for (const database of [source, target, other]) cleanup.defer(() => database.drop())
      const live = { data: sandbox.path('live'), url: source.url }
      const server = await startServer(live.data, {
        TRELLIS_DATABASE_URL: live.url,
        TRELLIS_RATE_PER_SECOND: '100000',
      })
      cleanup.defer(() => server.stop())

      const names = Array.from({ length: WRITERS }, (_, i) => `repo-${i}`)
      const acknowledged = new Map<string, string>()
      for (const name of names) assert.equal((await server.post('repos/create', { name })).status, 200)
      const stopping = new AbortController()
      const writing = names.map((name) => write(server, name, acknowledged, stopping.signal))
      cleanup.defer(async () => {
        stopping.abort()
        await Promise.allSettled(writing)
      })
      await until('everybody has written', () => acknowledged.size === WRITERS)
      const before = new Map(acknowledged)
      const parent = join(sandbox.path('backups'), 'ours')
      const directory = join(parent, 'first')
      const made = await adminProcess(live, 'backup', directory)
      assert.deepEqual([made.code, made.told.includes('damaged')], [0, false], made.told)
      assert.ok(made.told.includes(`Made ${parent}, which was not there`), made.told)
      // The server is another process.
      const checked = await admin(live, 'verify')
      assert.equal(checked.code, 0, checked.said + checked.told)
      stopping.abort()
      await Promise.all(writing)
      assert.notDeepEqual(acknowledged, before)

      assert.deepEqual(await readdir(join(directory, '..')), ['first'])
      assert.equal((await stat(join(directory, 'server.key'))).mode & 0o777, 0o600)
      assert.match((await admin(live, 'backup', directory)).told, /exists already/)
      const whole = await admin(live, 'verify', '--backup', directory)
      assert.equal(whole.code, 0, whole.said + whole.told)

      // Not over what is there.
      assert.match((await admin(live, 'restore', directory)).told, /is not empty/)
      if (live.url) {
        const refused = await admin({ ...live, data: sandbox.path('new') }, 'restore', directory)
        assert.match(refused.told, /The database is not empty/)
      }

      const elsewhere = { data: sandbox.path('elsewhere'), url: target.url }
      const restored = await admin(elsewhere, 'restore', directory)
      assert.equal(restored.code, 0, restored.told)
      const second = await startServer(elsewhere.data, { TRELLIS_DATABASE_URL: elsewhere.url })
      cleanup.defer(() => second.stop())
      assert.equal((await fetch(`${second.url}/readyz`)).status, 200)
      const { body } = await second.post('repos/list', { limit: 100 })
      const { items } = body as { items: { name: string }[] }
      assert.ok(items.length > WRITERS, `${items.length} repositories`)
      for (const { name } of items) {
        const clone = createClient(sandbox.path('clone'), { token: server.key })
        await clone.run('clone', '-q', second.remote(name), '.')
        await clone.run('fsck', '--full')
        const oid = before.get(name)
        if (oid) await clone.run('merge-base', '--is-ancestor', oid, 'main')
      }
      // And goes on from there.
      const changes = [{ op: 'put', path: 'after', content: 'x\n', encoding: 'utf-8' }]
      const more = { name: 'repo-0', branch: 'main', message: 'after', changes }
      assert.equal((await second.post('git/commits/create', more)).status, 200)

      // The other kind of database takes it too.
      const changed = { data: sandbox.path('changed'), url: other.url }
      const moved = await admin(changed, 'restore', directory)
      assert.equal(moved.code, 0, moved.told)
      const alike = await admin(changed, 'verify', '--quick')
      assert.equal(alike.code, 0, alike.said + alike.told)
    })
  })
