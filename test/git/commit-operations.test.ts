// Commits and merges made by the server.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { asEnvelope, assertFault, assertInvalid, createSqlite } from '@trellis/server/testing'
import { type Client, useHost } from './harness.ts'

const ABSENT = 'a'.repeat(40)

const host = useHost(createSqlite)

const put = (path: string, content = 'x\n', more: object = {}) => ({ op: 'put', path, content, ...more })

describe('git/commits/create', () => {
  let client: Client
  const name = 'commits'
  before(async () => {
    ;({ client } = await host.filled(name))
  })
  const create = (input: object) =>
    host.call('git/commits/create', { name, branch: 'main', message: 'by the server', ...input })
  const head = async (branch = 'main') => (await host.refs(name))[`refs/heads/${branch}`]
  const fetched = async (branch = 'main') => {
    await client.run('fetch', '-q', '--force', host.remote(name), `${branch}:refs/seen/${branch}`)
    return `refs/seen/${branch}`
  }

  it('puts, deletes and moves several files in one commit, which stock git finds whole', async () => {
    const before = await head()
    const { status, body } = await create({
      message: 'several\n\nat once\n',
      expectedHead: before,
      changes: [
        put('new/deep/file.txt', 'größe\n'),
        put('script.sh', '#!/bin/sh\n', { mode: '100755' }),
        put('link', 'script.sh', { mode: '120000' }),
        put('bytes.bin', Buffer.from([0, 255, 1, 254]).toString('base64'), { encoding: 'base64' }),
        { op: 'delete', path: 'file-0.txt' },
        { op: 'move', from: 'file-1.txt', to: 'moved/file-1.txt' },
      ],
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.branch, body.before, body.unchanged], ['main', before, false])
    assert.equal(await head(), body.oid)
    const ref = await fetched()
    assert.equal(await client.rev(`${ref}^{tree}`), body.tree)
    assert.equal(
      await client.run('ls-tree', '-r', '--format=%(objectmode) %(path)', ref),
      [
        '100644 bytes.bin',
        '100644 file-2.txt',
        '100644 file-3.txt',
        '120000 link',
        '100644 moved/file-1.txt',
        '100644 new/deep/file.txt',
        '100755 script.sh',
      ].join('\n'),
    )
    assert.equal(await client.run('show', `${ref}:new/deep/file.txt`), 'größe')
    assert.equal(await client.rev(`${ref}:moved/file-1.txt`), await client.rev('main:file-1.txt'))
    assert.equal(
      await client.run('log', '-1', '--format=%an <%ae> %cn %s|%b', ref),
      `ann <${host.owner.email}> ann several|at once\n`,
    )
    await client.run('fsck', '--full', '--strict')
    // Without a mode a file keeps the one it has.
    await create({ changes: [put('script.sh', '#!/bin/bash\n')] })
    assert.match(await client.run('ls-tree', await fetched(), 'script.sh'), /^100755 /)
  })

  it('names author and committer as given', async () => {
    const author = {
      name: 'Bob',
      email: 'bob@example.com',
      timestamp: 1_700_000_000_000,
      timezoneOffset: -60,
    }
    await create({ changes: [put('by-bob')], author })
    const person = await client.run('log', '-1', '--format=%an %ad %cn', '--date=raw', await fetched())
    assert.equal(person, 'Bob 1700000000 +0100 Bob')
    await create({ changes: [put('by-both')], author, committer: { name: 'Eve', email: 'eve@example.com' } })
    assert.equal(await client.run('log', '-1', '--format=%an %cn', await fetched()), 'Bob Eve')
  })

  it('starts a new branch from the default one, or from the parent given', async () => {
    const base = await head()
    const first = await create({ branch: 'fresh', expectedHead: null, changes: [put('on-fresh')] })
    assert.equal(first.body.before, null)
    assert.equal(await client.rev(`${await fetched('fresh')}^`), base)
    const parent = await client.rev('side')
    await create({ branch: 'older', parent, changes: [put('on-older')] })
    assert.equal(await client.rev(`${await fetched('older')}^`), parent)
    await host.ok('git/tags/create', { name, tag: 'from-here', oid: parent, message: 'Begin here' })
    for (const [i, revision] of ['side', 'refs/heads/side', 'from-here'].entries()) {
      await create({ branch: `named-${i}`, parent: revision, changes: [put('on-named')] })
      assert.equal(await client.rev(`${await fetched(`named-${i}`)}^`), parent)
    }
  })

  it('makes the first commit of an empty repository', async () => {
    await host.repo('virgin', 'trunk')
    const { status, body } = await create({
      name: 'virgin',
      branch: 'trunk',
      changes: [put('README.md', '# Hi\n')],
    })
    assert.equal(status, 200)
    const clone = await host.clone('virgin')
    assert.equal(await clone.rev('HEAD'), body.oid)
    assert.equal(await clone.run('rev-list', '--count', 'HEAD'), '1')
    await clone.run('fsck', '--full', '--strict')
  })

  it('makes the branch of the first commit the default one', async () => {
    await host.repo('elsewhere')
    const changes = [put('README.md', '# Hi\n')]
    const { body } = await create({ name: 'elsewhere', branch: 'trunk', changes })
    assert.equal((await host.ok('repos/get', { name: 'elsewhere' })).defaultBranch, 'trunk')
    assert.equal(await (await host.clone('elsewhere')).rev('HEAD'), body.oid)
    const next = await create({ name: 'elsewhere', branch: 'main', changes: [put('other')] })
    assert.equal(next.status, 200)
    assert.equal((await host.ok('repos/get', { name: 'elsewhere' })).defaultBranch, 'trunk')
  })

  it('says so when nothing changes, and makes no commit', async () => {
    await create({ changes: [put('same', 'same\n')] })
    const before = await head()
    const events = (await host.events(name)).length
    const { body } = await create({ changes: [put('same', 'same\n')] })
    assert.deepEqual([body.unchanged, body.oid, body.before], [true, before, before])
    assert.equal(await head(), before)
    assert.equal((await host.events(name)).length, events)
  })

  it('refuses a head that has moved and a parent that is not one', async () => {
    const ref = 'refs/heads/main'
    const changes = [put('never')]
    assertFault(await create({ changes, expectedHead: ABSENT }), 'STALE_REF', { name, ref })
    assertFault(await create({ changes, expectedHead: null }), 'STALE_REF', { name, ref })
    assertFault(await create({ changes, branch: 'n', expectedHead: await head() }), 'STALE_REF', {
      name,
      ref: 'refs/heads/n',
    })
    assertFault(await create({ changes, parent: await client.rev('side') }), 'NON_FAST_FORWARD', {
      name,
      ref,
    })
    for (const parent of [ABSENT, 'nothing', '-x', await client.rev('main^{tree}')])
      assertFault(await create({ changes, branch: 'n', parent }), 'INVALID_PARENT', { name, object: parent })
    assert.equal(await head('n'), undefined)
  })

  it('refuses trees that cannot be', async () => {
    const invalid = async (changes: object[], object: string) => {
      const { code, status, data } = asEnvelope(await create({ changes }))
      assert.deepEqual([code, status, data], ['INVALID_TREE', 422, { name, object }])
    }
    await invalid([{ op: 'delete', path: 'nothing' }], 'nothing')
    await invalid([{ op: 'move', from: 'nothing', to: 'x' }], 'nothing')
    await invalid([{ op: 'move', from: 'file-2.txt', to: 'file-3.txt' }], 'file-3.txt')
    await invalid([put('file-2.txt/below')], 'file-2.txt/below')
    await invalid([put('moved')], 'moved')
    for (const path of [
      '.git/config',
      '../escape',
      '/absolute',
      'a//b',
      'a/../b',
      '.GIT/hooks/x',
      'git~1/x',
      'a\\.git\\x',
      'a/.git',
    ])
      await invalid([put(path)], path)
    await invalid([put('.gitmodules', 'target', { mode: '120000' })], '.gitmodules')
    assert.equal((await create({ changes: [put('ok')], branch: 'a..b' })).status, 400)
    const author = { name: 'A', email: 'a@example.com', timestamp: -5 }
    assertInvalid(await create({ changes: [put('x')], author }), ['author', 'timestamp'])
    assertFault(
      await create({ changes: [put('x')], branch: 'main/sub' }),
      'REF_ALREADY_EXISTS',
      { name, ref: 'refs/heads/main/sub' },
      'Git ref already exists: its name is inside, or contains, the name of another ref',
    )
    assertInvalid(await create({ changes: [put('x', 'not base64!', { encoding: 'base64' })] }), [
      'changes',
      0,
      'content',
    ])
    assertInvalid(await create({ changes: [] }), ['changes'])
  })

  it('puts a thousand files in one commit', async () => {
    const changes = Array.from({ length: 1000 }, (_, i) => put(`many/${i % 37}/file-${i}`, `${i}\n`))
    assert.equal((await create({ changes })).status, 200)
    const listing = await client.run('ls-tree', '-r', '--name-only', await fetched(), 'many/')
    assert.equal(listing.split('\n').length, 1000)
    assert.equal((await host.events(name)).at(-1)?.payload.paths.length, 1000)
  })

  it('refuses what leads into too many directories, and does not take long to', async () => {
    const deep = (i: number, depth: number) =>
      `${Array.from({ length: depth }, (_, j) => (i >> (j % 14)) & 1).join('/')}/f${i}`
    for (const [count, depth] of [
      [30, 1900],
      [5000, 1900],
    ] as const) {
      const changes = Array.from({ length: count }, (_, i) => put(deep(i, depth)))
      const { code, data } = asEnvelope(await create({ branch: 'deep', changes }))
      assert.equal(code, 'PAYLOAD_TOO_LARGE')
      assert.equal((data as { scope: string }).scope, 'git_workspace_memory')
    }
    const { status } = await create({ branch: 'deep', changes: [put(deep(1, 1900))] })
    assert.equal(status, 200)
  })

  it('knows an id in capital letters', async () => {
    const expectedHead = (await head())?.toUpperCase()
    assert.equal((await host.call('git/commits/get', { name, ref: expectedHead })).status, 200)
    assert.equal((await create({ expectedHead, changes: [put('capital')] })).status, 200)
    const absent = await host.call('git/commits/get', { name, ref: ABSENT.toUpperCase() })
    assertFault(absent, 'GIT_OBJECT_NOT_FOUND', { name, object: ABSENT.toUpperCase() })
  })

  it('lets exactly one of several win the same head, and the others know', async () => {
    const expectedHead = await head()
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, i) => create({ expectedHead, changes: [put('contended', `${i}\n`)] })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    for (const answer of answers)
      if (answer.status !== 200) assertFault(answer, 'STALE_REF', { name, ref: 'refs/heads/main' })
  })

  it('takes 50 MB and no more', async () => {
    const content = Buffer.alloc(60 * 1024 * 1024, 'a').toString()
    const refused = await create({ changes: [put('large', content)] })
    const { code, data } = asEnvelope(refused)
    assert.equal(code, 'PAYLOAD_TOO_LARGE')
    const { scope, limit } = data as { scope: string; limit: number }
    assert.deepEqual([scope, limit], ['workspace_commit', 50 * 1024 * 1024])
    const { status } = await create({ changes: [put('large', content.slice(0, 20_000_000))] })
    assert.equal(status, 200)
  })
})

describe('git/merge', () => {
  let client: Client
  const name = 'merges'
  let main: string
  before(async () => {
    ;({ client } = await host.filled(name))
    main = await client.rev('main')
    await client.run('branch', 'base')
    await client.run('checkout', '-q', '-b', 'feature')
    await client.commit({ 'feature.txt': 'feature\n' }, 'feature')
    await client.commit({ 'file-1.txt': 'changed by feature\n' }, 'change')
    await client.run('checkout', '-q', '-b', 'clash', 'main')
    await client.commit({ 'file-1.txt': 'changed by clash\n', 'file-2.txt': null }, 'clash')
    await client.run('checkout', '-q', '-b', 'quiet', 'main')
    await client.commit({ 'quiet.txt': 'quiet\n' }, 'quiet')
    await client.run('checkout', '-q', '--orphan', 'stranger')
    await client.commit({ 'stranger.txt': 's\n' }, 'stranger')
    await client.run('push', '-q', host.remote(name), 'feature', 'clash', 'quiet', 'stranger', 'base')
  })
  let branches = 0
  /** A branch of its own at `from`, and a merge into it. */
  async function merge(into: string, from: string, input: object = {}) {
    const branch = `into-${++branches}`
    await host.ok('git/branches/create', { name, branch, from: into })
    const answer = await host.call('git/merge', { name, branch, from, ...input })
    const at = (await host.refs(name))[`refs/heads/${branch}`]
    await client.run('fetch', '-q', host.remote(name), `${branch}:refs/seen/${branch}`)
    return { ...answer, branch, at, ref: `refs/seen/${branch}` }
  }

  it('moves the branch along when that is enough', async () => {
    const { body, branch, at } = await merge('base', 'feature')
    const oid = await client.rev('feature')
    assert.deepEqual(body, { outcome: 'fast-forward', branch, oid, conflicts: [], conflictsTruncated: false })
    assert.equal(at, oid)
  })

  it('has nothing to do when everything is there', async () => {
    const itself = await merge('feature', 'feature', { strategy: 'fast-forward' })
    assert.equal(itself.body.outcome, 'up-to-date')
    const { body, at } = await merge('feature', 'base')
    assert.equal(body.outcome, 'up-to-date')
    assert.equal(at, await client.rev('feature'))
  })

  it('makes a commit with both parents when both went on, or when asked to', async () => {
    const both = await merge('quiet', 'feature', { message: 'bring it in' })
    assert.equal(both.body.outcome, 'merged')
    assert.equal(both.body.oid, both.at)
    assert.equal(
      await client.run('log', '-1', '--format=%P %s', both.ref),
      `${await client.rev('quiet')} ${await client.rev('feature')} bring it in`,
    )
    assert.equal(await client.run('show', `${both.ref}:quiet.txt`), 'quiet')
    assert.equal(await client.run('show', `${both.ref}:feature.txt`), 'feature')
    const asked = await merge('base', 'feature', { strategy: 'merge' })
    assert.equal(asked.body.outcome, 'merged')
    assert.equal(
      await client.run('log', '-1', '--format=%P', asked.ref),
      `${main} ${await client.rev('feature')}`,
    )
    await client.run('fsck', '--full', '--strict')
  })

  it('squashes everything into one commit', async () => {
    const { body, ref } = await merge('quiet', 'feature', { strategy: 'squash', message: 'one' })
    assert.equal(body.outcome, 'merged')
    assert.equal(await client.run('log', '-1', '--format=%P %s', ref), `${await client.rev('quiet')} one`)
    assert.equal(await client.run('show', `${ref}:feature.txt`), 'feature')
  })

  it('gives conflicts as data and moves nothing', async () => {
    const { status, body, at } = await merge('clash', 'feature')
    assert.equal(status, 200)
    assert.equal(body.outcome, 'conflict')
    assert.equal(body.oid, await client.rev('clash'))
    assert.equal(at, await client.rev('clash'))
    assert.deepEqual(body.conflicts, [{ path: 'file-1.txt', kinds: ['contents'] }])
    assert.equal(body.conflictsTruncated, false)
  })

  it('says that two histories have nothing in common', async () => {
    const { body, at } = await merge('base', 'stranger')
    assert.equal(body.outcome, 'unrelated')
    assert.equal(at, main)
  })

  it('refuses a branch that has moved or is not there, and a revision that is not', async () => {
    const call = (input: object) =>
      host.call('git/merge', { name, branch: 'base', from: 'feature', ...input })
    assertFault(await call({ expectedHead: ABSENT }), 'STALE_REF', { name, ref: 'refs/heads/base' })
    assertFault(await call({ branch: 'nothing' }), 'GIT_OBJECT_NOT_FOUND', { name, object: 'nothing' })
    assertFault(await call({ from: 'nothing' }), 'GIT_OBJECT_NOT_FOUND', { name, object: 'nothing' })
    assertInvalid(await call({ branch: 'a..b' }), ['branch'])
    assert.equal((await host.refs(name))['refs/heads/base'], main)
  })
})
