import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, mkdtempDisposable, rmdir, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, createSqlite, startTestApp } from '@trellis/server/testing'
import { createClient } from './git/harness.ts'

const MB = 1024 * 1024

const FULL = {
  defined: false,
  code: 'INSUFFICIENT_STORAGE',
  status: 507,
  message: 'The server has no room left; nothing was changed',
  data: {},
}

/** A small disk of its own, in memory. Undefined where mounting is not allowed. */
async function mountDisk(megabytes: number): Promise<(AsyncDisposable & { path: string }) | undefined> {
  const path = await mkdtemp(join(tmpdir(), 'trellis-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    await rmdir(path)
    return undefined
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', ['-l', path])
      await rmdir(path)
    },
  }
}

async function fill(path: string): Promise<void> {
  for (const size of [MB, 64 * 1024, 4096])
    for (let i = 0; ; i++) {
      const { bavail, bsize } = await statfs(path)
      if (bavail * bsize < size) break
      await writeFile(join(path, `filler-${size}-${i}`), Buffer.alloc(size))
    }
}

async function empty(path: string): Promise<void> {
  execFileSync('find', [path, '-maxdepth', '1', '-name', 'filler-*', '-delete'])
}

it('a full disk gives 507 for writes of every kind, reads go on, and nothing was changed', async (t) => {
  await using disk = await mountDisk(16)
  if (!disk) return t.skip('this machine does not let us mount a small disk')
  await using clients = await mkdtempDisposable(join(tmpdir(), 'trellis-clients-'))
  await using database = await createSqlite()
  const data = join(disk.path, 'data')
  await mkdir(data)
  await using app = await startTestApp(database, { TRELLIS_DATA: data, TRELLIS_EGRESS_ALLOW: '127.0.0.1' })
  const token = app.ownerKey ?? ''
  const call = (path: string, input: object) => app.call(path, input, { token })
  const commit = (text: string) =>
    call('git/commits/create', {
      name: 'hello',
      branch: 'main',
      message: 'change',
      changes: [{ op: 'put', path: 'README', content: text, encoding: 'utf-8' }],
    })
  const assertFull = ({ status, body }: Answer) => {
    assert.deepEqual(body, FULL)
    assert.equal(status, 507)
  }
  const ready = async () => {
    const response = await fetch(`${app.url}/readyz`)
    const { runtimesOff: _, ...told } = (await response.json()) as Record<string, unknown>
    return [response.status, told]
  }
  const client = createClient(join(clients.path, 'client'), { token })
  const remote = `${app.url}/git/owner/hello.git`

  assert.equal((await call('repos/create', { name: 'hello' })).status, 200)
  assert.equal((await commit('one\n')).status, 200)
  await client.run('clone', '-q', remote, '.')
  const head = await client.run('rev-parse', 'HEAD')

  // More than there is room for: git runs into the end of the disk.
  await client.commit({ large: randomBytes(14 * MB).toString('latin1') })
  await assert.rejects(client.run('push', '-q', remote, 'main'), /no room left; nothing was changed/)
  assert.deepEqual(await ready(), [200, { status: 'ready' }])

  await fill(disk.path)
  // Whether there is room is looked at every few seconds.
  await sleep(3_100)
  assert.deepEqual(await ready(), [
    503,
    { status: 'unavailable', reason: 'The disk of the data directory is full' },
  ])
  assertFull(await commit('two\n'))
  assertFull(await call('repos/import', { name: 'copy', url: remote.replace('http:', 'https:') }))
  await client.run('reset', '-q', '--hard', head)
  await client.commit({ small: 'x\n' })
  await assert.rejects(client.run('push', '-q', remote, 'main'), /no room left; nothing was changed/)
  // The log of the database may have some room in it yet.
  let made = 0
  let answer: Answer
  do answer = await call('repos/create', { name: `r${made}`, defaultBranch: 'b'.repeat(100) })
  while (answer.status === 200 && made++ < 10_000)
  assertFull(answer)
  const signedUp = await fetch(`${app.url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'eve@example.com', name: 'Eve', password: 'correct horse battery' }),
  })
  assert.deepEqual([signedUp.status, await signedUp.json()], [507, FULL])

  assert.equal((await call('repos/get', { name: 'hello' })).status, 200)
  assert.equal((await call('git/refs/list', { name: 'hello' })).body.items.length, 1)
  const reader = createClient(join(clients.path, 'reader'), { token })
  await reader.run('clone', '-q', remote, '.')
  assert.equal(await reader.run('rev-parse', 'HEAD'), head)

  await empty(disk.path)
  await sleep(3_100)
  assert.deepEqual(await ready(), [200, { status: 'ready' }])
  assert.equal((await call('orgs/list', {})).body.items[0].repoCount, made + 1)
  assert.equal((await call('repos/get', { name: 'copy' })).status, 404)
  assert.equal((await commit('two\n')).status, 200)
  await reader.run('fetch', '-q')
  assert.equal(await reader.run('rev-parse', 'origin/main~1'), head)
  await app.signUp('eve')
})

it('a repository that is larger than the room left can be cloned', async (t) => {
  await using disk = await mountDisk(24)
  if (!disk) return t.skip('this machine does not let us mount a small disk')
  await using clients = await mkdtempDisposable(join(tmpdir(), 'trellis-clients-'))
  await using database = await createSqlite()
  const data = join(disk.path, 'data')
  await mkdir(data)
  await using app = await startTestApp(database, { TRELLIS_DATA: data })
  const token = app.ownerKey ?? ''
  const remote = `${app.url}/git/owner/large.git`
  assert.equal((await app.call('repos/create', { name: 'large' }, { token })).status, 200)
  const client = createClient(join(clients.path, 'client'), { token })
  await client.run('init', '-q', '-b', 'main')
  await client.commit({ large: randomBytes(4 * MB).toString('latin1') })
  await client.run('push', '-q', remote, 'main')
  // Still not full: two megabytes above what is kept for the database.
  const { bavail, bsize } = await statfs(disk.path)
  await writeFile(join(disk.path, 'filler'), Buffer.alloc(bavail * bsize - 3.2 * MB))
  const another = createClient(join(clients.path, 'another'), { token })
  await another.run('clone', '-q', remote, '.')
  assert.equal(await another.run('rev-parse', 'HEAD'), await client.run('rev-parse', 'HEAD'))
})
