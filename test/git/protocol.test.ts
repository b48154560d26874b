// What stock git does with a host, at each version of its protocol.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createSqlite } from '@trellis/server/testing'
import { type Client, FLUSH, type Host, listed, pkt, useHost, VERSIONS } from './harness.ts'

const host = useHost(createSqlite)

const count = (client: Client, revision = 'HEAD') => client.run('rev-list', '--count', revision)

for (const version of VERSIONS)
  describe(`protocol version ${version}`, { concurrency: 4 }, () => {
    const named = (what: string) => `${what}-v${version}`
    let read: Awaited<ReturnType<Host['filled']>>
    before(async () => {
      read = await host.filled(named('read'), { version })
    })

    it('clones everything, whole', async () => {
      const { client } = read
      const clone = await host.clone(named('read'), { version })
      assert.equal(await clone.rev('HEAD'), await client.rev('main'))
      assert.equal(await clone.rev('origin/side'), await client.rev('side'))
      assert.equal(await clone.rev('v1^{}'), await client.rev('main~2'))
      assert.equal(await clone.run('symbolic-ref', 'refs/remotes/origin/HEAD'), 'refs/remotes/origin/main')
      await clone.run('fsck', '--full', '--strict')
    })

    it('clones shallow by depth, by date and without what a ref has, and deepens later', async () => {
      await host.filled(named('shallow'), { version })
      const byDepth = await host.clone(named('shallow'), { version }, '--depth=2')
      assert.equal(await count(byDepth), '2')
      await byDepth.run('fetch', '-q', '--deepen=3')
      assert.equal(await count(byDepth), '5')
      await byDepth.run('fetch', '-q', '--unshallow')
      assert.equal(await count(byDepth), '10')
      await byDepth.run('fsck', '--full')

      // The commits are a day apart.
      const since = await host.clone(
        named('shallow'),
        { version },
        `--shallow-since=${1_700_000_000 + 7.5 * 86_400}`,
      )
      assert.equal(await count(since), '3')
      const without = await host.clone(named('shallow'), { version }, '--shallow-exclude=side')
      assert.equal(await count(without), '3')
      await without.run('commit', '-q', '--allow-empty', '-m', 'on a shallow clone')
      await without.run('push', '-q', 'origin', 'main')
      assert.equal((await host.refs(named('shallow')))['refs/heads/main'], await without.rev('HEAD'))
    })

    it('says so when nothing is left of a shallow clone', async () => {
      const failures = await host.failures()
      for (const option of ['--shallow-since=2100000000', '--shallow-exclude=main']) {
        const { stderr } = await host
          .client({ version })
          .attempt('clone', '-q', option, host.remote(named('read')), '.')
        assert.match(stderr, /remote error: no commits selected for shallow requests/)
      }
      assert.equal(await host.failures(), failures)
    })

    it('clones one branch', async () => {
      const clone = await host.clone(named('read'), { version }, '--single-branch', '--branch=side')
      assert.equal(await count(clone), '7')
      assert.equal(await clone.run('branch', '-r'), 'origin/side'.padStart(13))
      const tag = await host.clone(named('read'), { version }, '--single-branch', '--branch=v1')
      assert.equal(await count(tag), '8')
    })

    it('clones without blobs or without trees and fetches them when they are needed', async () => {
      const blobless = await host.clone(named('read'), { version }, '--filter=blob:none', '--no-checkout')
      const missing = async (client: Client) =>
        (await client.run('rev-list', '--objects', '--all', '--missing=print'))
          .split('\n')
          .filter((line) => line.startsWith('?')).length
      assert.equal(await missing(blobless), 10)
      assert.equal(await blobless.run('show', 'HEAD~9:file-1.txt'), 'content 1\n'.repeat(50).trimEnd())
      assert.equal(await missing(blobless), 9)
      await blobless.run('checkout', '-q', 'main')
      assert.equal(readFileSync(join(blobless.dir, 'file-2.txt'), 'utf8'), 'content 10\n'.repeat(50))

      const treeless = await host.clone(named('read'), { version }, '--filter=tree:0', '--no-checkout')
      assert.equal(await count(treeless), '10')
      assert.equal(
        await treeless.run('ls-tree', '--name-only', 'HEAD~5'),
        'file-0.txt\nfile-1.txt\nfile-2.txt\nfile-3.txt',
      )
    })

    it('fetches what is new with the tags that belong to it, and nothing when nothing is', async () => {
      const { client, url } = await host.filled(named('fetch'), { version })
      const other = await host.clone(named('fetch'), { version })
      await client.commit({ 'new.txt': 'new\n' })
      await client.run('tag', '-a', '-m', 'second', 'v2')
      await client.run('tag', 'light')
      await client.run('checkout', '-q', '--orphan', 'elsewhere')
      await client.commit({ 'else.txt': 'else\n' })
      await client.run('tag', '-a', '-m', 'not followed', 'v3')
      await client.run('push', '-q', url, 'main', 'v2', 'light', 'v3')
      await other.run('fetch', '-q')
      assert.equal(await other.run('tag'), 'light\nv1\nv2')
      assert.equal(await other.rev('origin/main'), await client.rev('main'))
      await other.run('fetch', '-q', '--tags')
      assert.equal(await other.run('tag'), 'light\nv1\nv2\nv3')
      await other.run('fetch', '-q')
      await other.run('fsck', '--full')
      await client.run('push', '-q', url, ':side')
      await other.run('fetch', '-q', '--prune')
      assert.doesNotMatch(await other.run('branch', '-r'), /side/)
    })

    it('fetches a commit by its id, and says which one is not there', async () => {
      const { client, url } = read
      const lone = host.client({ version })
      await lone.run('init', '-q')
      await lone.run('fetch', '-q', '--depth=1', url, await client.rev('main~5'))
      assert.equal(await lone.rev('FETCH_HEAD'), await client.rev('main~5'))
      assert.match(await lone.fails('fetch', '-q', url, 'a'.repeat(40)), /not our ref a{40}/)
    })

    it('takes new branches, refuses what loses commits unless forced, and deletes', async () => {
      const { client, url } = await host.filled(named('push'), { version })
      await client.run('push', '-q', url, 'main:refs/heads/new')
      const refs = () => host.refs(named('push'))
      assert.equal((await refs())['refs/heads/new'], await client.rev('main'))
      assert.match(
        await client.fails('push', url, 'main~4:refs/heads/new'),
        /rejected.*non-fast-forward|fetch first/,
      )
      await client.run('push', '-q', '--force', url, 'main~4:refs/heads/new')
      assert.equal((await refs())['refs/heads/new'], await client.rev('main~4'))
      assert.match(
        await client.fails(
          'push',
          `--force-with-lease=new:${await client.rev('main')}`,
          url,
          'main:refs/heads/new',
        ),
        /stale info/,
      )
      await client.run('push', '-q', url, '--delete', 'new')
      assert.equal((await refs())['refs/heads/new'], undefined)
      // What is up to date needs nothing.
      assert.match((await client.attempt('push', url, 'main')).stderr, /Everything up-to-date/)
    })

    // Version 1 is version 0 after a line that says so: what follows would show the same twice.
    if (version === 1) return

    it('takes tags of every kind, and a ref of no kind', async () => {
      const { client, url } = await host.filled(named('tags'), { version })
      await client.run('tag', 'light')
      await client.run('tag', '-a', '-m', 'of a tag', 'nested', 'v1')
      await client.run('tag', 'blob', 'main:file-1.txt')
      await client.run('push', '-q', url, '--tags', 'main:refs/changes/01/1')
      const seen = await listed(client, url)
      assert.equal(seen['refs/tags/light'], await client.rev('main'))
      assert.equal(seen['refs/tags/nested'], await client.rev('nested'))
      assert.equal(seen['refs/tags/nested^{}'], await client.rev('main~2'))
      assert.equal(seen['refs/tags/blob'], await client.rev('main:file-1.txt'))
      assert.equal(seen['refs/changes/01/1'], await client.rev('main'))
      await client.run('push', '-q', url, '--delete', 'refs/tags/nested')
      assert.equal((await listed(client, url))['refs/tags/nested'], undefined)
    })

    it('moves all refs of an atomic push or none', async () => {
      const { client, url } = await host.filled(named('atomic'), { version })
      const before = await host.refs(named('atomic'))
      const other = await host.clone(named('atomic'), { version })
      await other.commit({ 'other.txt': 'x\n' })
      const output = await other.fails(
        'push',
        '--atomic',
        url,
        'main',
        'main:refs/heads/new',
        'main:refs/trellis/mine',
      )
      assert.match(output, /refs\/trellis\/mine.*moved by the server alone/)
      assert.match(output, /main -> new \(atomic push fail/)
      assert.deepEqual(await host.refs(named('atomic')), before)
      // Without it, what may move moves.
      await other.fails('push', url, 'main:refs/heads/new', 'main:refs/trellis/mine')
      assert.deepEqual(await host.refs(named('atomic')), {
        ...before,
        'refs/heads/new': await other.rev('main'),
      })
      await other.run('push', '-q', '--atomic', url, 'main', 'main:refs/heads/third', ':refs/heads/new')
      assert.equal((await host.refs(named('atomic')))['refs/heads/third'], await other.rev('main'))
      assert.equal(await client.run('cat-file', '-t', 'main'), 'commit')
    })

    it('hands push options to the event', async () => {
      const { client, url } = await host.filled(named('options'), { version })
      await client.run('push', '-q', '-o', 'ci.skip', '-o', 'reason=größer', url, 'main:refs/heads/with')
      const events = await host.events(named('options'))
      const push = events.findLast(({ type }) => type === 'git.push')
      assert.deepEqual(push?.payload.options, ['ci.skip', 'reason=größer'])
    })

    it('is cloned empty and then takes the first push to its default branch', async () => {
      const url = await host.repo(named('empty'), 'trunk')
      const clone = host.client({ version })
      const { stderr } = await clone.attempt('clone', url, '.')
      assert.match(stderr, /cloned an empty repository/)
      // Only the newest version can tell a branch that is not there yet.
      assert.equal(await clone.run('symbolic-ref', 'HEAD'), `refs/heads/${version === 2 ? 'trunk' : 'main'}`)
      if (version !== 2) await clone.run('symbolic-ref', 'HEAD', 'refs/heads/trunk')
      await clone.commit({ 'first.txt': 'first\n' })
      await clone.run('push', '-q', '-u', 'origin', 'trunk')
      assert.deepEqual(await listed(clone, url), {
        HEAD: await clone.rev('HEAD'),
        'refs/heads/trunk': await clone.rev('HEAD'),
      })
    })

    it('follows a change of the default branch', async () => {
      const { client, url } = await host.filled(named('head'), { version })
      const symref = () => client.run('ls-remote', '--symref', url, 'HEAD')
      assert.equal(await symref(), `ref: refs/heads/main\tHEAD\n${await client.rev('main')}\tHEAD`)
      await host.ok('repos/update', { name: named('head'), defaultBranch: 'side' })
      assert.equal(await symref(), `ref: refs/heads/side\tHEAD\n${await client.rev('side')}\tHEAD`)
      const clone = await host.clone(named('head'), { version })
      assert.equal(await clone.run('branch', '--show-current'), 'side')
      await host.ok('repos/update', { name: named('head'), defaultBranch: 'unborn' })
      assert.equal((await listed(client, url)).HEAD, undefined)
    })

    it('lists by pattern', async () => {
      const { client, url } = read
      const main = await client.rev('main')
      const names = async (...args: string[]) =>
        (await client.run('ls-remote', ...args)).split('\n').map((line) => line.split('\t')[1])
      assert.deepEqual(await names(url), [
        'HEAD',
        'refs/heads/main',
        'refs/heads/side',
        'refs/tags/v1',
        'refs/tags/v1^{}',
      ])
      assert.deepEqual(await names('--heads', url), ['refs/heads/main', 'refs/heads/side'])
      assert.deepEqual(await names('--tags', url), ['refs/tags/v1', 'refs/tags/v1^{}'])
      assert.deepEqual(await names('--refs', url), ['refs/heads/main', 'refs/heads/side', 'refs/tags/v1'])
      assert.deepEqual(await names(url, 's*'), ['refs/heads/side'])
      assert.equal(await client.run('ls-remote', url, 'refs/heads/main'), `${main}\trefs/heads/main`)
      assert.equal(await client.run('ls-remote', url, 'nothing'), '')
      assert.equal((await client.attempt('ls-remote', '--exit-code', url, 'nothing')).code, 2)
    })

    it('serves a submodule', async () => {
      const inner = await host.filled(named('inner'), { version })
      const outer = await host.filled(named('outer'), { version })
      await outer.client.run('submodule', '--quiet', 'add', inner.url, 'lib')
      await outer.client.run('commit', '-q', '-m', 'with a submodule')
      await outer.client.run('push', '-q', outer.url, 'main')
      const clone = await host.clone(named('outer'), { version }, '--recurse-submodules')
      assert.ok(existsSync(join(clone.dir, 'lib/file-1.txt')))
    })

    it('takes a push in chunks, and negotiation that is long enough to be compressed', async () => {
      const { client, url } = await host.filled(named('chunked'), { version })
      const far = await host.clone(named('chunked'), { version })
      const large = await client.commit({ 'large.txt': randomBytes(200_000).toString('base64') })
      await client.run('-c', 'http.postBuffer=66000', 'push', '-q', url, 'main')
      assert.equal((await host.refs(named('chunked')))['refs/heads/main'], large)
      // Two hundred branches of its own, which it offers as what it has.
      const branches = Array.from(
        { length: 200 },
        (_, i) => `commit refs/heads/b${i}\ncommitter Ann <a@b.c> ${1_800_000_000 + i} +0000\ndata 2\nx\n\n`,
      )
      await far.feed(branches.join(''), 'fast-import', '--quiet')
      await far.run('fetch', '-q', 'origin')
      assert.equal(await far.rev('origin/main'), large)
      await far.run('fsck', '--full')
    })
  })

describe('smart HTTP', { concurrency: 4 }, () => {
  before(() => host.filled('http'))
  const authorization = () => ({ authorization: `Bearer ${host.owner.token}` })

  it('reads a gzip body, whatever the case of its name', async () => {
    const body = Buffer.concat([
      pkt('command=ls-refs\n'),
      Buffer.from('0001'),
      pkt('ref-prefix refs/heads/main\n'),
      FLUSH,
    ])
    for (const encoding of ['gzip', 'x-gzip', 'GZIP']) {
      const response = await fetch(`${host.remote('http')}/git-upload-pack`, {
        method: 'POST',
        headers: {
          ...authorization(),
          'git-protocol': 'version=2',
          'content-type': 'application/x-git-upload-pack-request',
          'content-encoding': encoding,
        },
        body: gzipSync(body),
      })
      assert.equal(response.status, 200)
      assert.match(await response.text(), /^003d[0-9a-f]{40} refs\/heads\/main\n0000$/)
    }
  })

  it('tells a client that waits to go on', async () => {
    const body = Buffer.concat([pkt('command=ls-refs\n'), Buffer.from('0001'), FLUSH])
    const heard: string[] = []
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${host.remote('http')}/git-upload-pack`, {
        method: 'POST',
        headers: {
          ...authorization(),
          'content-type': 'application/x-git-upload-pack-request',
          'git-protocol': 'version=2',
          expect: '100-continue',
          'content-length': body.length,
        },
      })
      sent.on('continue', () => {
        heard.push('continue')
        sent.end(body)
      })
      sent.on('response', (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode))
      })
      sent.on('error', reject)
      sent.flushHeaders()
    })
    assert.deepEqual([heard, status], [['continue'], 200])
    const client = host.client({
      config: { 'http.extraHeader': `Authorization: Bearer ${host.owner.token}` },
    })
    await client.run('clone', '-q', host.remote('http'), '.')
    await client.commit({ 'a.txt': 'a\n' })
    await client.run('-c', 'http.extraHeader=Expect: 100-continue', 'push', '-q', 'origin', 'main')
  })

  it('marks what it answers as never to be stored', async () => {
    const response = await fetch(`${host.remote('http')}/info/refs?service=git-upload-pack`, {
      headers: authorization(),
    })
    assert.equal(response.headers.get('content-type'), 'application/x-git-upload-pack-advertisement')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.match(await response.text(), /^001e# service=git-upload-pack\n0000/)
  })

  it('answers nothing to the dumb protocol, to other methods and to other services', async () => {
    const ask = async (path: string, method = 'GET') =>
      (await fetch(`${host.remote('http')}${path}`, { method, headers: authorization() })).status
    assert.equal(await ask('/info/refs'), 404)
    assert.equal(await ask('/info/refs?service=git-upload-archive'), 404)
    assert.equal(await ask('/HEAD'), 404)
    assert.equal(await ask('/objects/info/packs'), 404)
    assert.equal(await ask('/git-upload-pack'), 405)
    assert.equal(await ask('/info/refs?service=git-upload-pack', 'POST'), 405)
  })

  it('serves with and without .git at the end of the address', async () => {
    const client = host.client()
    assert.deepEqual(
      await listed(client, host.remote('http').slice(0, -4)),
      await listed(client, host.remote('http')),
    )
  })
})
