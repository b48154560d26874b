// What pages and agents look at beside files and commits: branches, directories, changes.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertFault, createSqlite } from '@trellis/server/testing'
import { type Client, useHost } from './harness.ts'

const ABSENT = 'a'.repeat(40)

const host = useHost(createSqlite)

describe('git/branches/compare', () => {
  const name = 'apart'
  let client: Client
  before(async () => {
    ;({ client } = await host.filled(name))
    await client.run('checkout', '-q', '-b', 'work', 'side')
    await client.commit({ 'added.txt': 'one\n' }, 'Add a line\n\nand say why')
    await client.run('push', '-q', host.remote(name), 'work')
  })
  const compare = (input: object) => host.ok('git/branches/compare', { name, ...input })

  it('tells how far branches are from the default one, and what was done last on each', async () => {
    const { base, items } = await compare({ branches: ['work', 'main', 'side', 'gone', 'work', '..'] })
    assert.deepEqual(base, { name: 'main', oid: await client.rev('main') })
    assert.deepEqual(
      items.map((item: { name: string; ahead: number; behind: number }) => [
        item.name,
        item.ahead,
        item.behind,
      ]),
      [
        ['work', 1, 3],
        ['main', 0, 0],
        ['side', 0, 3],
      ],
    )
    assert.equal(items[0].oid, await client.rev('work'))
    const { time, ...said } = items[0].lastCommit
    const [author, email, committed] = (await client.run('log', '-1', '--format=%an%n%ae%n%ct')).split('\n')
    assert.deepEqual(said, {
      oid: await client.rev('work'),
      summary: 'Add a line',
      author: { name: author, email },
    })
    assert.equal(time, Number(committed) * 1000)
    const other = await compare({ base: 'work', branches: ['main'] })
    assert.deepEqual([other.base.name, other.items[0].ahead, other.items[0].behind], ['work', 3, 1])
  })

  it('has nothing to hold them against before there is a default branch', async () => {
    const url = await host.repo('no-default')
    await client.run('push', '-q', url, 'work')
    await host.ok('repos/update', { name: 'no-default', defaultBranch: 'trunk' })
    const { base, items } = await host.ok('git/branches/compare', { name: 'no-default', branches: ['work'] })
    assert.equal(base, null)
    assert.deepEqual([items[0].name, items[0].ahead, items[0].behind], ['work', null, null])
    for (const object of ['nothing', ABSENT])
      assertFault(
        await host.call('git/branches/compare', { name, base: object, branches: ['main'] }),
        'GIT_OBJECT_NOT_FOUND',
        { name, object },
      )
  })
})

describe('git/trees/lastChanges', () => {
  const name = 'changed'
  let client: Client
  before(async () => {
    ;({ client } = await host.filled(name))
    await client.commit({ 'dir/a': '1', 'dir/sub/b': '1', top: '1' }, 'Begin the directory')
    await client.commit({ 'dir/a': '2' }, 'Change a')
    await client.run('push', '-q', host.remote(name), 'main')
  })
  const list = (input: object) => host.ok('git/trees/lastChanges', { name, ...input })
  interface Item {
    name: string
    commit: { oid: string; summary: string } | null
  }

  it('tells for each entry of a directory the commit that changed it last', async () => {
    const { commit, items, complete, nextCursor } = await list({ path: 'dir' })
    assert.deepEqual([commit, complete, nextCursor], [await client.rev('main'), true, null])
    assert.deepEqual(
      items.map((item: Item) => [item.name, item.commit?.summary]),
      [
        ['a', 'Change a'],
        ['sub', 'Begin the directory'],
      ],
    )
    assert.equal(items[0].commit.oid, await client.rev('main'))
    const before = await list({ path: 'dir', ref: await client.rev('main~1') })
    assert.deepEqual(
      before.items.map((item: Item) => item.commit?.summary),
      ['Begin the directory', 'Begin the directory'],
    )
  })

  it('has the pages of the directory', async () => {
    const tree = await host.ok('git/trees/get', { name, limit: 4 })
    const first = await list({ limit: 4 })
    const rest = await list({ cursor: tree.nextCursor, limit: 100 })
    const all = await host.ok('git/trees/get', { name, limit: 100 })
    assert.deepEqual(
      [...first.items, ...rest.items].map((item: Item) => item.name),
      all.items.map((item: { name: string }) => item.name),
    )
    for (const item of [...first.items, ...rest.items] as Item[])
      assert.equal(
        item.commit?.oid,
        await client.run('log', '-1', '--format=%H', 'main', '--', item.name),
        item.name,
      )
    // Asked twice, and by two at once.
    assert.deepEqual(await Promise.all([list({ limit: 4 }), list({ limit: 4 })]), [first, first])
  })

  it('refuses what is no directory', async () => {
    for (const at of ['top', 'nowhere'])
      assertFault(await host.call('git/trees/lastChanges', { name, path: at }), 'GIT_OBJECT_NOT_FOUND', {
        name,
        object: at,
      })
  })
})
