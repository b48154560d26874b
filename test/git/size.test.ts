// Much history, large files, and where it ends.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { asEnvelope } from '@trellis/server/testing'
import {
  createClient,
  createSandbox,
  type Host,
  listed,
  localRefs,
  startServer,
  startSqliteHost,
  until,
} from './harness.ts'
import { stored } from './traces.ts'

const sandbox = createSandbox()
after(() => sandbox.remove())

describe('a long history', () => {
  const COMMITS = 500

  /** Twenty objects a commit; now and then a merge, a rename, a tag or a branch. */
  function* history(): Generator<string> {
    for (let i = 1; i <= COMMITS; i++) {
      const message = `commit ${i}\n`
      yield `commit refs/heads/main\nmark :${i}\ncommitter Ann <a@b.c> ${1_600_000_000 + i * 60} +0000\n`
      yield `data ${message.length}\n${message}`
      // A second parent some way back, on its own branch.
      if (i % 50 === 0) yield `merge :${COMMITS + i - 25}\n`
      for (let file = 0; file < 14; file++) {
        const content = `${i} ${file}\n`
        yield `M 100644 inline dir-${file % 2}/part-${i % 20}/file-${file}\ndata ${content.length}\n${content}\n`
      }
      if (i % 40 === 0) yield `R dir-0/part-0/file-0 moved/file-${i}\n`
      if (i % 25 === 0 && i % 50 !== 0) {
        yield `commit refs/heads/topic-${i}\nmark :${COMMITS + i}\ncommitter Ann <a@b.c> ${1_600_000_000 + i * 60} +0000\n`
        yield `data 2\nt\nfrom :${i}\nM 100644 inline topic-${i}\ndata 2\nt\n\n`
      }
      if (i % 100 === 0) yield `tag v${i}\nfrom :${i}\ntagger Ann <a@b.c> 1700000000 +0000\ndata 2\nt\n`
    }
    yield 'done\n'
  }

  it('of 10,000 objects goes in and out as a mirror, the same and whole', { timeout: 300_000 }, async () => {
    await using host = await startSqliteHost()
    const url = await host.repo('long')
    const source = host.client()
    await source.run('init', '-q', '--bare')
    await source.feed([...history()].join(''), 'fast-import', '--quiet', '--done')
    const objects = Number(/in-pack: (\d+)/.exec(await source.run('count-objects', '-v'))?.[1])
    assert.ok(objects >= 10_000, `${objects} objects`)
    await source.run('-c', 'pack.window=0', 'push', '-q', '--mirror', url)

    const mirror = host.client()
    await mirror.run('clone', '-q', '--mirror', url, '.')
    assert.deepEqual(await localRefs(mirror), await localRefs(source))
    await mirror.run('fsck', '--full')
    assert.equal(Number(/in-pack: (\d+)/.exec(await mirror.run('count-objects', '-v'))?.[1]), objects)

    // And goes on from there.
    const clone = await host.clone('long', {}, '--depth=1', '--no-single-branch')
    const head = await clone.commit({ 'one-more': 'x\n' })
    await clone.run('push', '-q', 'origin', 'main')
    await mirror.run('fetch', '-q')
    assert.equal(await mirror.rev('main'), head)
    assert.equal(await mirror.run('rev-list', '--count', 'main'), String(COMMITS + 1 + COMMITS / 50))
    assert.equal(await host.failures(), 0)
  })
})

describe('large files', () => {
  it('of 120 MB go in and out while the memory of the server stays flat', { timeout: 300_000 }, async () => {
    const server = await startServer(sandbox.path('data'), { TRELLIS_LOG_LEVEL: 'error' })
    // Noise does not compress, and trying costs time.
    const config = {
      'core.compression': '0',
      'core.looseCompression': '0',
      'pack.compression': '0',
      'core.bigFileThreshold': '1m',
    }
    try {
      await server.post('repos/create', { name: 'large' })
      const url = server.remote('large')
      const client = createClient(sandbox.path('client'), { token: server.key, config })
      await client.run('init', '-q')
      // So that everything that is loaded once has been.
      await client.commit({ small: 'x\n' })
      await client.run('push', '-q', url, 'main')
      await createClient(sandbox.path('warm'), { token: server.key }).run('clone', '-q', url, '.')

      for (let i = 0; i < 3; i++) writeFileSync(join(client.dir, `noise-${i}`), randomBytes(40 * 1024 * 1024))
      await client.run('add', '.')
      await client.run('commit', '-q', '-m', 'large')
      const before = server.memory()
      let peak = before
      const sampling = setInterval(() => {
        peak = Math.max(peak, server.memory())
      }, 20)
      const clone = createClient(sandbox.path('clone'), { token: server.key, config })
      const took: Record<string, number> = {}
      const timed = async (what: string, work: () => Promise<unknown>) => {
        const started = performance.now()
        await work()
        took[what] = Math.round(performance.now() - started)
      }
      try {
        await timed('push', () => client.run('push', '-q', url, 'main'))
        await timed('clone', () => clone.run('clone', '-q', '--no-checkout', url, '.'))
      } finally {
        clearInterval(sampling)
      }
      assert.equal(await clone.rev('HEAD'), await client.rev('HEAD'))
      const grown = Math.round((peak - before) / 1024)
      if (process.env.SIZE_LOG)
        writeFileSync(process.env.SIZE_LOG, JSON.stringify({ before, peak, grown, took }))
      assert.ok(grown < 100, `the server grew by ${grown} MB`)
    } finally {
      await server.stop()
    }
  })
})

describe('size quotas', () => {
  /** Takes about as many bytes when it is compressed. */
  const noise = (bytes: number) => randomBytes(bytes).toString('base64')
  const storedWithSize = async (host: Host, name: string) => ({
    ...(await stored(host, name)),
    size: (await host.ok('repos/get', { name })).sizeBytes,
  })

  it('refuse a push that is too large, with a reason, and store nothing of it', async () => {
    await using host = await startSqliteHost({ TRELLIS_PUSH_MAX_BYTES: '100000' })
    const { client, url } = await host.filled('small')
    const before = await storedWithSize(host, 'small')
    await client.commit({ 'large.bin': noise(150_000) })
    const told = await client.fails('push', url, 'main')
    assert.match(told, /larger than 100000 bytes/)
    assert.match(told, /main -> main \(unpacker error\)/)
    assert.deepEqual(await storedWithSize(host, 'small'), before)
    // The same in chunks, whose end is not announced.
    assert.match(
      await client.fails('-c', 'http.postBuffer=66000', 'push', url, 'main'),
      /larger than 100000 bytes/,
    )
    assert.deepEqual(await storedWithSize(host, 'small'), before)
    await until('nothing is left in quarantine', async () => {
      const names = await readdir(join(host.app.data, 'scratch'), { recursive: true }).catch(() => [])
      return !names.some((name) => /quarantine\/push-/.test(name))
    })
    await client.run('reset', '-q', '--hard', 'HEAD~1')
    await client.commit({ 'fits.bin': noise(50_000) })
    await client.run('push', '-q', url, 'main')
    assert.equal(await host.failures(), 0)
  })

  it('refuse what a repository or its organization has no room for, by push and by operation', async () => {
    for (const limit of ['TRELLIS_REPO_MAX_BYTES', 'TRELLIS_ORG_MAX_BYTES']) {
      await using host = await startSqliteHost({ [limit]: '200000' })
      const { client, url } = await host.filled('full')
      await client.commit({ 'a.bin': noise(90_000) })
      await client.run('push', '-q', url, 'main')
      await client.commit({ 'b.bin': noise(70_000) })
      await client.run('push', '-q', url, 'main')
      const before = await storedWithSize(host, 'full')
      assert.ok(before.size > 160_000 && before.size < 200_000)
      await client.commit({ 'c.bin': noise(60_000) })
      assert.match(await client.fails('push', url, 'main'), /larger than \d+ bytes/)
      assert.deepEqual(await storedWithSize(host, 'full'), before)
      const refused = await host.call('git/commits/create', {
        name: 'full',
        branch: 'main',
        message: 'too much',
        changes: [
          { op: 'put', path: 'd.bin', content: randomBytes(60_000).toString('base64'), encoding: 'base64' },
        ],
      })
      const { code, data: detail } = asEnvelope(refused)
      assert.equal(code, 'QUOTA_EXCEEDED')
      assert.equal((detail as { scope: string }).scope, 'size')
      const { files: _files, ...afterwards } = await storedWithSize(host, 'full')
      const { files: _before, ...expected } = before
      assert.deepEqual(afterwards, expected)
      // Deleting needs no room.
      await client.run('push', '-q', url, ':side')
      assert.deepEqual(Object.keys(await listed(client, url, '--heads')), ['refs/heads/main'])
    }
  })
})
