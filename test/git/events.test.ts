// What a push leaves behind besides its refs.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase } from '@trellis/server/testing'
import { type Client, pushRaw, type RefEvent, useHost } from './harness.ts'

onEachDatabase('events of pushes', (create) => {
  const host = useHost(create)

  /** Does it, and gives what was logged by it. */
  async function logged(name: string, work: () => Promise<unknown>): Promise<Omit<RefEvent, 'seq'>[]> {
    const before = await host.events(name)
    await work()
    const events = await host.events(name)
    // Numbers go on where they were, without a gap.
    assert.deepEqual(
      events.map(({ seq }) => seq),
      Array.from({ length: events.length }, (_, i) => i + 1),
    )
    return events.slice(before.length).map(({ seq: _seq, ...event }) => event)
  }

  async function fresh(name: string): Promise<{ client: Client; url: string; main: string }> {
    const url = await host.repo(name)
    const client = host.client()
    await client.run('init', '-q')
    const main = await client.commit({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n' })
    return { client, url, main }
  }

  it('tell of a first push, with every path in it', async () => {
    const { client, url, main } = await fresh('first')
    const ref = 'refs/heads/main'
    assert.deepEqual(await logged('first', () => client.run('push', '-q', url, 'main')), [
      {
        type: 'git.push',
        subject: ref,
        payload: {
          ref,
          before: null,
          after: main,
          created: true,
          deleted: false,
          forced: false,
          commitCount: 1,
          paths: ['a.txt', 'dir/b.txt'],
          pathsTruncated: false,
        },
      },
      { type: 'git.branch.created', subject: 'main', payload: { ref, oid: main } },
    ])
  })

  it('tell of an update, a forced one, a new branch and its end', async () => {
    const { client, url, main } = await fresh('moves')
    const ref = 'refs/heads/main'
    await client.run('push', '-q', url, 'main')
    await client.commit({ 'a.txt': 'changed\n' })
    await client.commit({ 'c/d.txt': 'new\n', 'dir/b.txt': null })
    const third = await client.rev('HEAD')
    const moved = { ref, created: false, deleted: false, forced: false, pathsTruncated: false }
    assert.deepEqual(await logged('moves', () => client.run('push', '-q', url, 'main')), [
      {
        type: 'git.push',
        subject: ref,
        payload: {
          ...moved,
          before: main,
          after: third,
          commitCount: 2,
          paths: ['a.txt', 'c/d.txt', 'dir/b.txt'],
        },
      },
    ])

    await client.run('reset', '-q', '--hard', main)
    const other = await client.commit({ 'e.txt': 'e\n' })
    assert.deepEqual(await logged('moves', () => client.run('push', '-q', '--force', url, 'main')), [
      {
        type: 'git.push',
        subject: ref,
        payload: {
          ...moved,
          before: third,
          after: other,
          forced: true,
          commitCount: 1,
          paths: ['a.txt', 'c/d.txt', 'dir/b.txt', 'e.txt'],
        },
      },
    ])

    const onTopic = await client.commit({ 'f.txt': 'f\n' })
    const topic = 'refs/heads/topic/x'
    const created = await logged('moves', () => client.run('push', '-q', '-o', 'why', url, `main:${topic}`))
    assert.deepEqual(created, [
      {
        type: 'git.push',
        subject: topic,
        payload: {
          ...moved,
          ref: topic,
          created: true,
          before: null,
          after: onTopic,
          commitCount: 1,
          // Against where it left the default branch.
          paths: ['f.txt'],
          options: ['why'],
        },
      },
      { type: 'git.branch.created', subject: 'topic/x', payload: { ref: topic, oid: onTopic } },
    ])
    assert.deepEqual(await logged('moves', () => client.run('push', '-q', url, `:${topic}`)), [
      {
        type: 'git.push',
        subject: topic,
        payload: { ref: topic, before: onTopic, after: null, created: false, deleted: true },
      },
      { type: 'git.branch.deleted', subject: 'topic/x', payload: { ref: topic, oid: onTopic } },
    ])
  })

  it('tell of tags of both kinds, of refs of no kind, and of several refs in one push', async () => {
    const { client, url, main } = await fresh('tags')
    await client.run('push', '-q', url, 'main')
    await client.run('tag', 'light')
    await client.run('tag', '-a', '-m', 'x', 'annotated')
    const annotated = await client.rev('annotated')
    const push = (ref: string, before: string | null, after: string | null) => ({
      type: 'git.push',
      subject: ref,
      payload: { ref, before, after, created: before === null, deleted: after === null },
    })
    assert.deepEqual(
      await logged('tags', () => client.run('push', '-q', url, 'light', 'annotated', 'main:refs/notes/x')),
      [
        push('refs/tags/light', null, main),
        { type: 'git.tag.created', subject: 'light', payload: { ref: 'refs/tags/light', oid: main } },
        push('refs/tags/annotated', null, annotated),
        {
          type: 'git.tag.created',
          subject: 'annotated',
          payload: { ref: 'refs/tags/annotated', oid: annotated },
        },
        push('refs/notes/x', null, main),
      ],
    )
    await client.run('tag', '-f', 'light', annotated)
    assert.deepEqual(await logged('tags', () => client.run('push', '-q', '-f', url, 'light')), [
      push('refs/tags/light', main, annotated),
    ])
    assert.deepEqual(await logged('tags', () => client.run('push', '-q', url, ':refs/tags/light')), [
      push('refs/tags/light', annotated, null),
      { type: 'git.tag.deleted', subject: 'light', payload: { ref: 'refs/tags/light', oid: annotated } },
    ])
  })

  it('tell nothing of what was refused, and only of what moved in a push that half succeeded', async () => {
    const { client, url, main } = await fresh('refused')
    await client.run('push', '-q', url, 'main')
    const before = await host.ok('repos/get', { name: 'refused' })
    await client.commit({ 'g.txt': 'g\n' })
    const refusals = [
      ['push', url, 'main:refs/trellis/x'],
      ['push', url, 'main:refs/heads/main/below'],
      ['push', url, `${main}^{tree}:refs/heads/tree`],
      ['push', '--atomic', url, 'main:refs/heads/good', 'main:refs/trellis/x'],
    ]
    assert.deepEqual(
      await logged('refused', async () => {
        for (const args of refusals) await client.fails(...args)
      }),
      [],
    )
    assert.deepEqual(await host.ok('repos/get', { name: 'refused' }), before)
    const half = await logged('refused', () =>
      client.fails('push', url, 'main:refs/heads/good', 'main:refs/trellis/x'),
    )
    assert.deepEqual(
      half.map(({ type, subject }) => `${type} ${subject}`),
      ['git.push refs/heads/good', 'git.branch.created good'],
    )
  })

  it('count paths to a thousand and say that there are more', async () => {
    const { client, url } = await fresh('paths')
    await client.commit(
      Object.fromEntries(
        Array.from({ length: 1200 }, (_, i) => [`many/${String(i).padStart(4, '0')}`, `${i}\n`]),
      ),
    )
    const [push] = await logged('paths', () => client.run('push', '-q', url, 'main'))
    assert.equal(push?.payload.paths.length, 1000)
    assert.equal(push?.payload.pathsTruncated, true)
    assert.equal(push?.payload.commitCount, 2)
  })

  it('tell of many refs in a few, and of five as always', async () => {
    const { client, url, main } = await fresh('many')
    const tags = Array.from({ length: 30 }, (_, i) => `refs/tags/v${i}`)
    const branches = Array.from({ length: 600 }, (_, i) => `refs/heads/b/${String(i).padStart(3, '0')}`)
    const commands = [...tags, ...branches, 'refs/heads/main', 'refs/notes/x'].map((ref) => ({
      ref,
      after: main,
    }))
    await client.run('push', '-q', url, 'main:refs/other/first')
    const told = await logged('many', () => pushRaw(host, 'many', commands))
    const one = told.filter(({ subject }) => subject !== null)
    assert.equal(one.length, 10)
    assert.ok(one.some(({ subject, payload }) => subject === 'refs/heads/main' && payload.commitCount === 0))
    // Among them those whose history was looked at: branches.
    assert.ok(
      one.every(({ subject }) => /^(refs\/heads\/)?b\/\d{3}$|^(refs\/heads\/)?main$/.test(subject ?? '')),
    )
    const many = told.filter(({ subject }) => subject === null)
    assert.deepEqual(
      many.map(({ type, payload }) => [type, payload.refs.length, payload.refsTruncated]),
      [
        ['git.push', 500, false],
        ['git.tag.created', 30, false],
        ['git.branch.created', 470, false],
        ['git.push', 127, false],
        ['git.branch.created', 126, false],
      ],
    )
    assert.deepEqual(many[0]?.payload.refs[0], { ref: 'refs/tags/v0', before: null, after: main })
    assert.deepEqual(many[1]?.payload.refs[0], { ref: 'refs/tags/v0', oid: main })
    const listedRefs = many.filter(({ type }) => type === 'git.push').flatMap(({ payload }) => payload.refs)
    const all = [
      ...one.flatMap(({ type, subject }) => (type === 'git.push' ? [subject] : [])),
      ...listedRefs.map(({ ref }) => ref),
    ]
    assert.deepEqual(all.toSorted(), commands.map(({ ref }) => ref).toSorted())

    const moved = await logged('many', () =>
      pushRaw(
        host,
        'many',
        branches.map((ref) => ({ ref, before: main })),
      ),
    )
    assert.deepEqual(
      moved.slice(-4).map(({ type, payload }) => [type, payload.refs.length]),
      [
        ['git.push', 500],
        ['git.branch.deleted', 500],
        ['git.push', 95],
        ['git.branch.deleted', 95],
      ],
    )
    assert.equal(Object.keys(await host.refs('many')).length, 33)
  })

  it('come with a larger size and the time of the push', async () => {
    const { client, url } = await fresh('size')
    const empty = await host.ok('repos/get', { name: 'size' })
    assert.deepEqual([empty.sizeBytes, empty.lastPushAt], [0, null])
    const before = Date.now()
    await client.run('push', '-q', url, 'main')
    const first = await host.ok('repos/get', { name: 'size' })
    assert.ok(first.sizeBytes > 100 && first.sizeBytes < 10_000, `${first.sizeBytes} bytes`)
    const at = Date.parse(first.lastPushAt)
    assert.ok(at >= before && at <= Date.now())
    await client.commit({ 'h.txt': 'h\n' })
    await client.run('push', '-q', url, 'main')
    const second = await host.ok('repos/get', { name: 'size' })
    assert.ok(second.sizeBytes > first.sizeBytes)
    assert.ok(Date.parse(second.lastPushAt) > at)
    // A branch at a commit that is there costs nothing.
    await client.run('push', '-q', url, 'main:refs/heads/same')
    const third = await host.ok('repos/get', { name: 'size' })
    assert.equal(third.sizeBytes, second.sizeBytes)
    assert.ok(Date.parse(third.lastPushAt) >= Date.parse(second.lastPushAt))
  })

  it('are the same for what the operations do to refs', async () => {
    const { client, url, main } = await fresh('operations')
    await client.run('push', '-q', url, 'main')
    const name = 'operations'
    const made = await logged(name, () =>
      host.ok('git/commits/create', {
        name,
        branch: 'main',
        message: 'by the server',
        changes: [{ op: 'put', path: 'z.txt', content: 'z\n' }],
      }),
    )
    const [push] = made
    assert.equal(made.length, 1)
    assert.equal(push?.type, 'git.push')
    assert.deepEqual(
      { ...push?.payload, after: undefined },
      {
        ref: 'refs/heads/main',
        before: main,
        after: undefined,
        created: false,
        deleted: false,
        forced: false,
        commitCount: 1,
        paths: ['z.txt'],
        pathsTruncated: false,
      },
    )
    const types = async (path: string, input: object) =>
      (await logged(name, () => host.ok(path, { name, ...input }))).map(
        ({ type, subject }) => `${type} ${subject}`,
      )
    assert.deepEqual(await types('git/branches/create', { branch: 'b' }), [
      'git.push refs/heads/b',
      'git.branch.created b',
    ])
    const [updated] = await logged(name, () =>
      host.ok('git/refs/update', { name, ref: 'refs/heads/u', oid: main }),
    )
    const { commitCount, paths } = updated?.payload ?? {}
    assert.deepEqual([commitCount, paths], [0, []])
    assert.deepEqual(await types('git/branches/delete', { branch: 'b' }), [
      'git.push refs/heads/b',
      'git.branch.deleted b',
    ])
    assert.deepEqual(await types('git/tags/create', { tag: 't', oid: main, message: 'm' }), [
      'git.push refs/tags/t',
      'git.tag.created t',
    ])
    assert.deepEqual(await types('git/tags/delete', { tag: 't' }), [
      'git.push refs/tags/t',
      'git.tag.deleted t',
    ])
    assert.deepEqual(await types('git/branches/delete', { branch: 'nothing' }), [])
    assert.deepEqual(await types('git/refs/update', { ref: 'refs/heads/main', oid: main, force: true }), [
      'git.push refs/heads/main',
    ])
  })
})
