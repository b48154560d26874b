// Branches, tags and other refs through the operations.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertFault, assertInvalid, onEachDatabase } from '@trellis/server/testing'
import { type Client, listed, useHost } from './harness.ts'

const ABSENT = 'a'.repeat(40)

onEachDatabase('operations on refs', (create) => {
  const host = useHost(create)
  let client: Client
  let main: string
  let side: string
  before(async () => {
    ;({ client } = await host.filled('repo'))
    main = await client.rev('main')
    side = await client.rev('side')
  })
  const name = 'repo'

  describe('git/branches/list', () => {
    before(async () => {
      await host.filled('listed')
      await client.run(
        'push',
        '-q',
        host.remote('listed'),
        ...['a', 'b', 'c/d', 'z'].map((b) => `main:refs/heads/${b}`),
      )
    })
    const list = (input: object = {}) => host.ok('git/branches/list', { name: 'listed', ...input })
    const names = (page: { items: { name: string }[] }) => page.items.map((item) => item.name)

    it('gives short names in order, with type and id, and says that this is all', async () => {
      assert.deepEqual(await list(), {
        items: [
          ...['a', 'b', 'c/d', 'main'].map((branch) => ({ name: branch, oid: main, type: 'branch' })),
          { name: 'side', oid: side, type: 'branch' },
          { name: 'z', oid: main, type: 'branch' },
        ],
        nextCursor: null,
        hasMore: false,
      })
    })

    it('gives pages that go on where the last one ended', async () => {
      const first = await list({ limit: 2 })
      assert.deepEqual([names(first), first.hasMore], [['a', 'b'], true])
      const second = await list({ limit: 2, cursor: first.nextCursor })
      assert.deepEqual([names(second), second.hasMore], [['c/d', 'main'], true])
      const third = await list({ limit: 2, cursor: second.nextCursor })
      assert.deepEqual([names(third), third.hasMore, third.nextCursor], [['side', 'z'], false, null])
    })

    it('starts over with a cursor that is garbage or belongs to another listing', async () => {
      const tags = await host.ok('git/tags/list', { name: 'listed', limit: 1 })
      const foreign = Buffer.from('c1:refs/tags/v1').toString('base64url')
      for (const cursor of ['garbage', '', '!!!', '{"a":1}', foreign, tags.nextCursor ?? 'x'])
        assert.deepEqual(names(await list({ limit: 2, cursor })), ['a', 'b'], cursor)
    })

    it('gives an empty page when the branch it would go on from is gone', async () => {
      await client.run('push', '-q', host.remote('listed'), 'main:refs/heads/aa')
      const page = await list({ limit: 2 })
      assert.deepEqual(names(page), ['a', 'aa'])
      await client.run('push', '-q', host.remote('listed'), ':aa')
      assert.deepEqual(await list({ limit: 2, cursor: page.nextCursor }), {
        items: [],
        nextCursor: null,
        hasMore: false,
      })
    })

    it('is empty for an empty repository, and 404 for none', async () => {
      await host.repo('nothing-yet')
      assert.deepEqual(await host.ok('git/branches/list', { name: 'nothing-yet' }), {
        items: [],
        nextCursor: null,
        hasMore: false,
      })
      assertFault(await host.call('git/branches/list', { name: 'absent' }), 'REPO_NOT_FOUND', {
        name: 'absent',
      })
      assertInvalid(await host.call('git/branches/list', { name: 'listed', limit: 0 }), ['limit'])
      assertInvalid(await host.call('git/branches/list', { name: 'listed', limit: 101 }), ['limit'])
    })

    it('is git/tags/list for tags, and git/refs/list for all by full name', async () => {
      const tag = await client.rev('v1')
      assert.deepEqual((await host.ok('git/tags/list', { name })).items, [
        { name: 'v1', oid: tag, type: 'tag' },
      ])
      await client.run('push', '-q', host.remote(name), 'main:refs/other/x')
      assert.deepEqual((await host.ok('git/refs/list', { name })).items, [
        { name: 'main', oid: main, type: 'branch' },
        { name: 'side', oid: side, type: 'branch' },
        { name: 'refs/other/x', oid: main, type: 'other' },
        { name: 'v1', oid: tag, type: 'tag' },
      ])
      await client.run('push', '-q', host.remote(name), ':refs/other/x')
    })
  })

  describe('git/tags/create', () => {
    const tagged = (input: object) => host.call('git/tags/create', { name, oid: main, ...input })
    const read = async (tag: string) => {
      await client.run('fetch', '-q', '--tags', '--force', host.remote(name))
      return client.run('cat-file', 'tag', tag)
    }

    it('makes a lightweight tag without a message', async () => {
      const { status, body } = await tagged({ tag: 'light' })
      assert.deepEqual([status, body], [200, { name: 'light', oid: main, type: 'tag' }])
      assert.equal((await listed(client, host.remote(name)))['refs/tags/light'], main)
    })

    it('makes an annotated tag with one, by the caller and now', async () => {
      const { body } = await tagged({ tag: 'annotated', message: 'first line\n\nmore' })
      const seen = await listed(client, host.remote(name))
      assert.equal(seen['refs/tags/annotated'], body.oid)
      assert.equal(seen['refs/tags/annotated^{}'], main)
      const [, ...lines] =
        /^object (\w+)\ntype (\w+)\ntag (\S+)\ntagger ann <(\S+)> (\d+) ([+-]\d+)\n\n(.*)$/s.exec(
          await read('annotated'),
        ) ?? []
      const [object, type, tag, email, time, zone, message] = lines
      assert.deepEqual(
        [object, type, tag, email, zone],
        [main, 'commit', 'annotated', host.owner.email, '+0000'],
      )
      assert.ok(Math.abs(Number(time) * 1000 - Date.now()) < 60_000)
      assert.equal(message?.trimEnd(), 'first line\n\nmore')
      await client.run('fsck', '--full', '--strict')
    })

    it('takes the tagger, the time in milliseconds or seconds, and the timezone given', async () => {
      const tagger = { name: 'Bob B', email: 'bob@example.com' }
      const cases = [
        [{ timestamp: 1_700_000_000_000, timezoneOffset: -120 }, '1700000000 +0200'],
        [{ timestamp: 1_700_000_000, timezoneOffset: 330 }, '1700000000 -0530'],
        [{ timestamp: 1_700_000_000_000 }, '1700000000 +0000'],
        [{ timestamp: 0, timezoneOffset: 0 }, '0 +0000'],
      ] as const
      for (const [i, [when, written]] of cases.entries()) {
        const { status, body } = await tagged({
          tag: `dated-${i}`,
          message: 'm',
          tagger: { ...tagger, ...when },
        })
        assert.equal(status, 200, JSON.stringify(body))
        assert.match(
          await read(`dated-${i}`),
          new RegExp(`^tagger Bob B <bob@example.com> ${written.replace('+', '\\+')}$`, 'm'),
        )
      }
      const odd = await tagged({ tag: 'x', message: 'm', tagger: { ...tagger, timezoneOffset: 5000 } })
      assertInvalid(odd, ['tagger', 'timezoneOffset'])
      assertInvalid(await tagged({ tag: 'x', message: 'm', tagger: { ...tagger, name: 'B<o>b' } }), [
        'tagger',
        'name',
      ])
      assertInvalid(await tagged({ tag: 'x', message: 'm', tagger: { name: 'Bob', email: 'no' } }), [
        'tagger',
        'email',
      ])
    })

    it('wants a message from whoever names a tagger, and takes an id in capitals', async () => {
      const tagger = { name: 'Bob', email: 'bob@example.com' }
      assertInvalid(await tagged({ tag: 'no-message', tagger }), ['message'])
      assertInvalid(await tagged({ name: 'nothing', tag: 'no-message', tagger }), ['message'])
      const { status, body } = await tagged({ tag: 'capitals', oid: main.toUpperCase() })
      assert.deepEqual([status, body.oid], [200, main])
      await host.ok('git/tags/delete', { name, tag: 'capitals' })
    })

    it('tags any kind of object, also a tag', async () => {
      const blob = await client.rev('main:file-1.txt')
      assert.equal((await tagged({ tag: 'of-blob', oid: blob })).body.oid, blob)
      const nested = await tagged({ tag: 'of-tag', oid: await client.rev('v1'), message: 'nested' })
      const seen = await listed(client, host.remote(name))
      assert.equal(seen['refs/tags/of-tag'], nested.body.oid)
      assert.equal(seen['refs/tags/of-tag^{}'], await client.rev('v1^{}'))
    })

    it('refuses a bad name, an object that is not there, and a tag that is', async () => {
      for (const tag of [
        'a b',
        'a..b',
        '.a',
        'a.lock',
        '-a',
        'a/',
        '/a',
        'a~1',
        'HEAD',
        '@{',
        'a\u0000',
        'x'.repeat(1025),
      ])
        assertInvalid(await tagged({ tag }), ['tag'])
      assertInvalid(await tagged({ tag: '' }), ['tag'])
      for (const oid of [ABSENT, main.slice(0, 10), 'main', 'HEAD', '--all'])
        assertFault(await tagged({ tag: 'new', oid }), 'GIT_OBJECT_NOT_FOUND', { name, object: oid })
      assertFault(await tagged({ tag: 'v1' }), 'REF_ALREADY_EXISTS', { name, ref: 'refs/tags/v1' })
      assertFault(await tagged({ tag: 'v1', message: 'again' }), 'REF_ALREADY_EXISTS', {
        name,
        ref: 'refs/tags/v1',
      })
      // In the folder of another there is no place either.
      assertFault(await tagged({ tag: 'v1/x' }), 'REF_ALREADY_EXISTS', { name, ref: 'refs/tags/v1/x' })
      assert.equal((await host.refs(name))['refs/tags/new'], undefined)
    })

    it('lets exactly one of many make the same tag', async () => {
      const answers = await Promise.all(
        Array.from({ length: 5 }, (_, i) => tagged({ tag: 'contended', message: `by ${i}` })),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 1)
      for (const answer of answers)
        if (answer.status !== 200)
          assertFault(answer, 'REF_ALREADY_EXISTS', { name, ref: 'refs/tags/contended' })
    })

    it('is undone by git/tags/delete, once', async () => {
      await tagged({ tag: 'gone' })
      const remove = (input: object) => host.call('git/tags/delete', { name, tag: 'gone', ...input })
      assertFault(await remove({ expectedOid: side }), 'STALE_REF', { name, ref: 'refs/tags/gone' })
      assert.deepEqual((await remove({ expectedOid: main })).body, { deleted: true })
      assert.deepEqual((await remove({})).body, { deleted: false })
    })
  })

  describe('git/refs/update', () => {
    const ref = 'refs/heads/moving'
    const update = (input: object) => host.call('git/refs/update', { name, ref, ...input })

    it('creates, moves and deletes a ref that is where the caller thinks', async () => {
      const older = await client.rev('main~2')
      const shown = (oid: string | null) => ({ name: 'moving', type: 'branch', oid })
      assertFault(await update({ oid: older, expectedOid: main }), 'STALE_REF', { name, ref })
      assert.deepEqual((await update({ oid: older, expectedOid: null })).body, shown(older))
      assertFault(await update({ oid: main, expectedOid: null }), 'STALE_REF', { name, ref })
      assert.deepEqual((await update({ oid: main, expectedOid: older })).body, shown(main))
      assertFault(await update({ oid: older }), 'NON_FAST_FORWARD', { name, ref })
      assert.deepEqual((await update({ oid: older, force: true })).body, shown(older))
      assert.deepEqual((await update({ oid: older })).body, shown(older))
      assert.deepEqual((await update({ oid: null, expectedOid: older })).body, shown(null))
      assert.equal((await host.refs(name))[ref], undefined)
    })

    it('refuses names that are not whole, the refs of the server, and what a branch cannot be', async () => {
      for (const bad of ['moving', 'refs/heads/', 'refs/heads/a b', 'HEAD', '-x'])
        assertInvalid(await update({ ref: bad, oid: main }), ['ref'])
      assertInvalid(await update({ ref: 'refs/trellis/canonical', oid: main }), ['ref'])
      assertFault(await update({ oid: ABSENT }), 'GIT_OBJECT_NOT_FOUND', { name, object: ABSENT })
      assertInvalid(await update({ oid: await client.rev('main^{tree}') }), ['oid'])
      assertFault(
        await update({ ref: 'refs/heads/main/x', oid: main }),
        'REF_ALREADY_EXISTS',
        { name, ref: 'refs/heads/main/x' },
        'Git ref already exists: its name is inside, or contains, the name of another ref',
      )
    })

    it('lets exactly one of two move a ref from where both saw it', async () => {
      await update({ oid: await client.rev('main~4') })
      const expectedOid = await client.rev('main~4')
      const [a, b] = await Promise.all([
        update({ oid: await client.rev('main~3'), expectedOid }),
        update({ oid: await client.rev('main~1'), expectedOid }),
      ])
      const answers = [a, b].toSorted((x, y) => x.status - y.status)
      assert.equal(answers[0]?.status, 200)
      assertFault(answers[1] ?? a, 'STALE_REF', { name, ref })
    })
  })

  describe('git/branches/create and delete', () => {
    it('make a branch from an id, a branch, a tag or the default branch', async () => {
      const create = (branch: string, from?: string) =>
        host.ok('git/branches/create', { name, branch, ...(from && { from }) })
      assert.deepEqual(await create('plain'), { name: 'plain', oid: main, type: 'branch' })
      assert.equal((await create('by-id', side)).oid, side)
      assert.equal((await create('by-branch', 'side')).oid, side)
      assert.equal((await create('by-tag', 'v1')).oid, await client.rev('v1^{}'))
      assert.equal((await create('by-ref', 'refs/heads/side')).oid, side)
    })

    it('refuse what is there, what is not, and a name that is none', async () => {
      const call = (input: object) => host.call('git/branches/create', { name, ...input })
      assertFault(await call({ branch: 'main' }), 'REF_ALREADY_EXISTS', { name, ref: 'refs/heads/main' })
      assertFault(await call({ branch: 'n', from: 'nothing' }), 'GIT_OBJECT_NOT_FOUND', {
        name,
        object: 'nothing',
      })
      assertFault(await call({ branch: 'n', from: '--all' }), 'GIT_OBJECT_NOT_FOUND', {
        name,
        object: '--all',
      })
      assertInvalid(await call({ branch: 'a..b' }), ['branch'])
    })

    it('delete a branch once, if it is where the caller thinks', async () => {
      await host.ok('git/branches/create', { name, branch: 'short' })
      const remove = (input: object) => host.call('git/branches/delete', { name, branch: 'short', ...input })
      assertFault(await remove({ expectedOid: side }), 'STALE_REF', { name, ref: 'refs/heads/short' })
      assert.deepEqual((await remove({ expectedOid: main })).body, { deleted: true })
      assert.deepEqual((await remove({})).body, { deleted: false })
      assertFault(await remove({ expectedOid: main }), 'STALE_REF', { name, ref: 'refs/heads/short' })
    })
  })
})
