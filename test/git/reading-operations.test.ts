// Comparing and reading without a clone.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { asEnvelope, assertFault, assertInvalid, createSqlite } from '@trellis/server/testing'
import { type Client, useHost } from './harness.ts'

const ABSENT = 'a'.repeat(40)

const host = useHost(createSqlite)

describe('git/compare', () => {
  let client: Client
  const name = 'compared'
  before(async () => {
    ;({ client } = await host.filled(name))
    await client.run('checkout', '-q', '-b', 'work', 'side')
    await client.run('mv', 'file-3.txt', 'renamed.txt')
    await client.commit({ 'added.txt': 'one\ntwo\n', 'file-1.txt': 'changed\n', 'file-0.txt': null }, 'work')
    await client.run('push', '-q', host.remote(name), 'work')
  })
  const compare = (input: object) => host.ok('git/compare', { name, base: 'main', head: 'work', ...input })

  it('tells what a branch did since it left: commits, files and patches', async () => {
    const found = await compare({})
    assert.equal(found.base, await client.rev('main'))
    assert.equal(found.head, await client.rev('work'))
    assert.equal(found.mergeBase, await client.rev('side'))
    assert.deepEqual(
      [found.ahead, found.behind, found.moreCommits, found.filesTruncated],
      [1, 3, false, false],
    )
    assert.deepEqual(
      found.commits.map((commit: { message: string }) => commit.message),
      ['work\n'],
    )
    const files = found.files.map((file: { path: string; status: string; previousPath?: string }) => [
      file.path,
      file.status,
      file.previousPath,
    ])
    assert.deepEqual(files.toSorted(), [
      ['added.txt', 'added', undefined],
      ['file-0.txt', 'deleted', undefined],
      ['file-1.txt', 'modified', undefined],
      ['renamed.txt', 'renamed', 'file-3.txt'],
    ])
    assert.deepEqual(found.total, { files: 4, additions: 3, deletions: 100 })
    const added = found.files.find((file: { path: string }) => file.path === 'added.txt')
    assert.match(added.patch, /\+one\n\+two\n/)
  })

  it('compares the two as they are, and leaves out patches when told', async () => {
    const found = await compare({ mode: 'two-dot', patches: false })
    assert.ok(found.total.files > 4)
    assert.ok(found.files.every((file: { patch?: string }) => file.patch === undefined))
    const same = await compare({ head: 'main' })
    assert.deepEqual([same.ahead, same.behind, same.files], [0, 0, []])
  })

  it('is bounded in commits, files and patches, and says that there is more', async () => {
    const stream: string[] = ['reset refs/heads/huge\nfrom refs/heads/main\n']
    for (let i = 0; i < 300; i++)
      stream.push(
        `commit refs/heads/huge\ncommitter Ann <a@b.c> ${1_800_000_000 + i} +0000\ndata 2\nx\n`,
        ...Array.from({ length: 15 }, (_, k) => `M 100644 inline huge/${i}-${k}\ndata 2\nx\n`),
      )
    const large = 'a line that is repeated\n'.repeat(100_000)
    stream.push(`M 100644 inline huge/large\ndata ${large.length}\n${large}\n`)
    await client.feed(stream.join('\n'), 'fast-import', '--quiet')
    await client.run('push', '-q', host.remote(name), 'huge')
    const found = await compare({ head: 'huge' })
    assert.deepEqual([found.ahead, found.moreCommits, found.filesTruncated], [300, true, true])
    assert.ok(found.commits.length <= 100)
    assert.ok(found.files.length < 4500)
    assert.equal(found.total.files, 4501)
    assert.ok(JSON.stringify(found).length < 10_000_000)
  })

  it('refuses revisions that are not there', async () => {
    for (const object of ['nothing', '--output=x', 'main..side', ABSENT])
      assertFault(
        await host.call('git/compare', { name, base: object, head: 'main' }),
        'GIT_OBJECT_NOT_FOUND',
        {
          name,
          object,
        },
      )
  })
})

describe('reading without a clone', () => {
  let client: Client
  const name = 'read'
  before(async () => {
    ;({ client } = await host.filled(name))
    await client.commit({
      'dir/a.txt': 'a\n',
      'dir/sub/b.txt': 'b\n',
      'größe.txt': 'ü\n',
      ...Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [`wide/${String(i).padStart(2, '0')}`, `${i}\n`]),
      ),
    })
    await client.feed(Buffer.from([0xff, 0, 0xfe]), 'hash-object', '-w', '--stdin')
    await client.run('push', '-q', host.remote(name), 'main')
  })

  it('pages through commits, from any revision, all or of one path', async () => {
    const list = (input: object = {}) => host.ok('git/commits/list', { name, ...input })
    const wanted = (await client.run('rev-list', 'main')).split('\n')
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await list({ limit: 4, ...(cursor && { cursor }) })
      seen.push(...page.items.map((item: { oid: string }) => item.oid))
      cursor = page.nextCursor
    } while (cursor)
    assert.deepEqual(seen, wanted)
    const oids = async (input: object) => (await list(input)).items.map((item: { oid: string }) => item.oid)
    assert.deepEqual(
      await oids({ ref: 'side', limit: 100 }),
      (await client.run('rev-list', 'side')).split('\n'),
    )
    assert.deepEqual(await oids({ ref: 'v1', limit: 1 }), [await client.rev('v1^{}')])
    assert.deepEqual(
      await oids({ path: 'file-2.txt', limit: 100 }),
      (await client.run('rev-list', 'main', '--', 'file-2.txt')).split('\n'),
    )
    // A page goes on in the history it began with, whatever the branch does.
    const first = await list({ limit: 4 })
    await client.run('push', '-q', '--force', host.remote(name), 'side:main')
    assert.deepEqual(await oids({ limit: 4, cursor: first.nextCursor }), wanted.slice(4, 8))
    await client.run('push', '-q', '--force', host.remote(name), 'main')
    assert.deepEqual(await oids({ limit: 2, cursor: 'garbage' }), wanted.slice(0, 2))
    await host.repo('no-commits')
    assert.deepEqual(await list({ name: 'no-commits' }), { items: [], nextCursor: null })
    assertFault(await host.call('git/commits/list', { name, ref: 'nothing' }), 'GIT_OBJECT_NOT_FOUND', {
      name,
      object: 'nothing',
    })
  })

  it('reads a commit as it is', async () => {
    const oid = await client.rev('main~3')
    const commit = await host.ok('git/commits/get', { name, ref: oid })
    const [tree, parent] = [await client.rev(`${oid}^{tree}`), await client.rev(`${oid}^`)]
    const ann = {
      name: 'Ann',
      email: 'ann@example.com',
      time: (1_700_000_000 + 8 * 86_400) * 1000,
      timezone: '+0100',
    }
    assert.deepEqual(commit, {
      oid,
      tree,
      parents: [parent],
      author: ann,
      committer: ann,
      message: 'commit 8\n',
      signed: false,
    })
  })

  it('pages through a directory and reads files by path and by id', async () => {
    const root = await host.ok('git/trees/get', { name })
    assert.equal(root.commit, await client.rev('main'))
    const dir = root.items.find((item: { name: string }) => item.name === 'dir')
    assert.deepEqual(dir, {
      name: 'dir',
      path: 'dir',
      mode: '040000',
      type: 'tree',
      oid: await client.rev('main:dir'),
    })
    assert.deepEqual((await host.ok('git/trees/get', { name, path: 'dir/sub' })).items, [
      {
        name: 'b.txt',
        path: 'dir/sub/b.txt',
        mode: '100644',
        type: 'blob',
        oid: await client.rev('main:dir/sub/b.txt'),
        size: 2,
      },
    ])
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await host.ok('git/trees/get', { name, path: 'wide', limit: 7, ...(cursor && { cursor }) })
      seen.push(...page.items.map((item: { name: string }) => item.name))
      cursor = page.nextCursor
    } while (cursor)
    assert.deepEqual(
      seen,
      Array.from({ length: 30 }, (_, i) => String(i).padStart(2, '0')),
    )

    const blob = (input: object) => host.ok('git/blobs/get', { name, ...input })
    const oid = await client.rev('main:größe.txt')
    const text = { oid, size: 3, encoding: 'utf-8', content: 'ü\n' }
    assert.deepEqual(await blob({ path: 'größe.txt' }), text)
    assert.deepEqual(await blob({ oid }), text)
    assert.equal((await blob({ path: 'file-1.txt', ref: 'v1' })).content, 'content 5\n'.repeat(50))
    await host.ok('git/commits/create', {
      name,
      branch: 'bytes',
      message: 'm',
      changes: [{ op: 'put', path: 'b', content: '/wD+', encoding: 'base64' }],
    })
    const bytes = await blob({ path: 'b', ref: 'bytes' })
    assert.deepEqual([bytes.encoding, bytes.content, bytes.size], ['base64', '/wD+', 3])
  })

  it('says what is not there', async () => {
    const missing = async (path: string, input: object, object: string) =>
      assertFault(await host.call(path, { name, ...input }), 'GIT_OBJECT_NOT_FOUND', { name, object })
    await missing('git/blobs/get', { path: 'nothing' }, 'nothing')
    await missing('git/blobs/get', { path: 'dir' }, 'dir')
    await missing('git/blobs/get', { oid: ABSENT }, ABSENT)
    await missing('git/blobs/get', { oid: await client.rev('main') }, await client.rev('main'))
    await missing('git/trees/get', { path: 'nothing' }, 'nothing')
    await missing('git/trees/get', { path: 'file-1.txt' }, 'file-1.txt')
    await missing('git/trees/get', { ref: 'nothing' }, 'nothing')
    await missing('git/commits/get', { ref: 'HEAD~1' }, 'HEAD~1')
    assertInvalid(await host.call('git/blobs/get', { name, path: '../x' }), ['path'])
    assertInvalid(await host.call('git/blobs/get', { name }), [])
  })

  it('does not give a file that is too large whole', async () => {
    await client.commit({ 'large.txt': 'x'.repeat(11 * 1024 * 1024) })
    await client.run('push', '-q', host.remote(name), 'main:large')
    const { code, data } = asEnvelope(
      await host.call('git/blobs/get', { name, ref: 'large', path: 'large.txt' }),
    )
    assert.equal(code, 'PAYLOAD_TOO_LARGE')
    assert.deepEqual(data, {
      scope: 'git_workspace_memory',
      limit: 10 * 1024 * 1024,
      observed: 11 * 1024 * 1024,
    })
  })
})
