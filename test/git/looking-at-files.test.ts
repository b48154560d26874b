// What pages and agents look at to find their way in files: directories, addresses, names, lines.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertFault, assertInvalid, createSqlite } from '@trellis/server/testing'
import { type Client, useHost } from './harness.ts'

const ABSENT = 'a'.repeat(40)

const host = useHost(createSqlite)

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

describe('git/locate', () => {
  const name = 'addressed'
  let client: Client
  let main: string
  before(async () => {
    ;({ client } = await host.filled(name))
    await client.commit({ 'dir/sub/a.txt': 'one\n' }, 'Add a file')
    main = await client.rev('main')
    // One of them is what another one begins with.
    for (const [kind, ref] of [
      ['branch', 'work/in/hand'],
      ['tag', 'main/dir'],
    ] as const)
      await client.run(kind, ref)
    await client.run('push', '-q', host.remote(name), 'main', 'work/in/hand', 'refs/tags/main/dir')
  })
  const locate = (address: string) => host.ok('git/locate', { name, address })

  it('takes a ref and a path apart, whatever slashes are in the ref', async () => {
    const file = await locate('work/in/hand/dir/sub/a.txt')
    assert.deepEqual(
      [file.ref, file.type, file.commit, file.path],
      ['work/in/hand', 'branch', main, 'dir/sub/a.txt'],
    )
    assert.deepEqual([file.entry.type, file.entry.mode, file.entry.size], ['blob', '100644', 4])
    const found = async (address: string) => {
      const { ref, type, path, entry } = await locate(address)
      return [ref, type, path, entry?.type ?? null]
    }
    assert.deepEqual(await found('main'), ['main', 'branch', '', null])
    assert.deepEqual(await found('refs/heads/main/dir'), ['refs/heads/main', 'branch', 'dir', 'tree'])
    assert.deepEqual(await found(`${main}/dir/sub`), [main, 'commit', 'dir/sub', 'tree'])
    assert.deepEqual(await found('main/none'), ['main', 'branch', 'none', null])
    // The longest ref that there is.
    assert.deepEqual(await found('main/dir/sub/a.txt'), ['main/dir', 'tag', 'sub/a.txt', null])
  })

  it('refuses what begins with no ref', async () => {
    for (const address of ['work/in', 'none/dir', `${ABSENT}/dir`])
      assertFault(await host.call('git/locate', { name, address }), 'GIT_OBJECT_NOT_FOUND', {
        name,
        object: address === `${ABSENT}/dir` ? ABSENT : address,
      })
  })
})

describe('git/files', () => {
  const name = 'found'
  let client: Client
  before(async () => {
    ;({ client } = await host.filled(name))
    const stream = [`commit refs/heads/wide\ncommitter Ann <a@b.c> 1800000000 +0000\ndata 2\nx\n`]
    for (let i = 0; i < 3000; i++) stream.push(`M 100644 inline d${i}/f${i}\ndata 2\nx\n`)
    stream.push(`M 160000 ${ABSENT} submodule\n`)
    await client.feed(stream.join('\n'), 'fast-import', '--quiet')
    await client.commit({ 'dir/größe.txt': '1', 'dir/sub/File.ts': '2' })
    await client.run('push', '-q', host.remote(name), 'main', 'wide')
  })
  const find = (input: object = {}) => host.ok('git/files', { name, ...input })

  it('tells all who ask at once, though the first of them leaves', async () => {
    const leaving = new AbortController()
    const left = fetch(`${host.app.url}/api/v1/git/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, ref: 'wide' }),
      signal: leaving.signal,
    })
    const others = Promise.all(Array.from({ length: 20 }, () => find({ ref: 'wide' })))
    setTimeout(() => leaving.abort(), 20)
    await left.catch((error) => assert.equal(error.name, 'AbortError'))
    for (const { total } of await others) assert.equal(total, 3000)
  })

  it('lists all paths, page by page, of few files and of many', async () => {
    for (const ref of ['main', 'wide']) {
      const wanted = (await client.run('-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', ref))
        .split('\n')
        .filter((path) => path !== 'submodule')
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const page = await find({ ref, limit: ref === 'main' ? 4 : 1000, ...(cursor && { cursor }) })
        assert.deepEqual(
          [page.commit, page.total, page.truncated],
          [await client.rev(ref), wanted.length, false],
        )
        seen.push(...page.paths)
        cursor = page.nextCursor
      } while (cursor)
      assert.deepEqual(seen, wanted)
    }
  })

  it('finds files by parts of their names, the best first', async () => {
    assert.deepEqual((await find({ query: 'file.ts' })).paths, ['dir/sub/File.ts'])
    assert.deepEqual((await find({ query: 'größe dir' })).paths, ['dir/größe.txt'])
    const { paths, truncated, nextCursor } = await find({ ref: 'wide', query: 'f299', limit: 5 })
    assert.deepEqual(paths, ['d299/f299', 'd2990/f2990', 'd2991/f2991', 'd2992/f2992', 'd2993/f2993'])
    assert.deepEqual([truncated, nextCursor], [true, null])
    assertFault(await host.call('git/files', { name, ref: 'nothing' }), 'GIT_OBJECT_NOT_FOUND', {
      name,
      object: 'nothing',
    })
  })
})

describe('git/blame', () => {
  const name = 'blamed'
  const ODD = 'tab\tand "quote"'
  let client: Client
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `${i}\n`).join('')
  before(async () => {
    ;({ client } = await host.filled(name))
    await client.commit({ [ODD]: lines(20), long: lines(2500), binary: 'a\0b', empty: '' }, 'Begin')
    await client.run('mv', ODD, 'plain')
    await client.commit({}, 'Move')
    await client.commit({ plain: lines(20).replace('7\n8\n', 'seven\neight\n') }, 'Say it in words')
    await client.run('push', '-q', host.remote(name), 'main')
  })
  const read = (input: object) => host.ok('git/blame', { name, ...input })

  it('tells where each line comes from, through renames', async () => {
    const found = await read({ path: 'plain' })
    const [begun, worded] = [await client.rev('main~2'), await client.rev('main')]
    assert.deepEqual([found.commit, found.lines, found.nextLine], [worded, 20, null])
    assert.equal(found.oid, await client.rev('main:plain'))
    assert.deepEqual(found.ranges, [
      { startLine: 1, endLine: 7, commit: begun, originalPath: ODD, originalLine: 1 },
      { startLine: 8, endLine: 9, commit: worded, originalPath: 'plain', originalLine: 8 },
      { startLine: 10, endLine: 20, commit: begun, originalPath: ODD, originalLine: 10 },
    ])
    assert.deepEqual(
      found.commits
        .map((commit: { oid: string; summary: string }) => [commit.oid, commit.summary])
        .toSorted(),
      [
        [begun, 'Begin'],
        [worded, 'Say it in words'],
      ].toSorted(),
    )
    assert.deepEqual(await read({ path: 'plain' }), found)
    const before = await read({ path: 'plain', ref: await client.rev('main~1'), startLine: 3, endLine: 8 })
    assert.deepEqual(before.ranges, [
      { startLine: 3, endLine: 8, commit: begun, originalPath: ODD, originalLine: 3 },
    ])
  })

  it('goes through a long file in pieces', async () => {
    const ends: [number, number | null][] = []
    for (let next: number | null = 1; next !== null; ) {
      const page: { ranges: { endLine: number }[]; nextLine: number | null } = await read({
        path: 'long',
        startLine: next,
      })
      ends.push([page.ranges.at(-1)?.endLine ?? 0, page.nextLine])
      next = page.nextLine
    }
    assert.deepEqual(ends, [
      [1000, 1001],
      [2000, 2001],
      [2500, null],
    ])
    assert.deepEqual((await read({ path: 'long', startLine: 2501 })).ranges, [])
    assert.deepEqual((await read({ path: 'empty' })).ranges, [])
  })

  it('says in words what it does not do', async () => {
    const call = (input: object) => host.call('git/blame', { name, ...input })
    assertInvalid(await call({ path: 'binary' }), ['path'])
    assertInvalid(await call({ path: '../x' }), ['path'])
    assertInvalid(await call({ path: 'plain', startLine: 4, endLine: 3 }), ['endLine'])
    for (const object of ['nowhere', 'plain/x'])
      assertFault(await call({ path: object }), 'GIT_OBJECT_NOT_FOUND', { name, object })
    const blob = 'x'.repeat(3 * 1024 * 1024)
    await client.commit({ large: blob })
    await client.run('push', '-q', host.remote(name), 'main:large')
    const { status, body } = await call({ path: 'large', ref: 'large' })
    assert.deepEqual([status, body.code, body.data.observed], [413, 'PAYLOAD_TOO_LARGE', blob.length])
  })
})

describe('git/grep', () => {
  const name = 'searched'
  let client: Client
  const long = `${'é'.repeat(400)} Needle ${'x'.repeat(100_000)}`
  before(async () => {
    ;({ client } = await host.filled(name))
    await client.commit({
      'a.txt': 'one\nNeedle in a.*\r\nneedle and needle\n',
      'dir/b.ts': 'const needle = 1\n',
      'dir/odd\nname': 'needle\n',
      'dir/sub/c.ts': `${long}\n`,
      binary: 'needle\0',
      many: 'straw\n'.repeat(1200),
      'very/many': 'chaff\n'.repeat(100_001),
      'few/one': 'chaff\n',
    })
    await client.run('push', '-q', host.remote(name), 'main')
  })
  const grep = (input: object) => host.ok('git/grep', { name, query: 'needle', ...input })
  interface Item {
    path: string
    line: number
    text: string
    clipped: boolean
  }
  const places = ({ items }: { items: Item[] }) => items.map(({ path, line }) => `${path}:${line}`)

  it('finds lines, whatever stands in them, in their order', async () => {
    const found = await grep({})
    assert.deepEqual(places(found), ['a.txt:2', 'a.txt:3', 'dir/b.ts:1', 'dir/odd\nname:1', 'dir/sub/c.ts:1'])
    assert.deepEqual(
      [found.commit, found.nextCursor, found.truncated],
      [await client.rev('main'), null, false],
    )
    assert.deepEqual(found.items[0], { path: 'a.txt', line: 2, text: 'Needle in a.*', clipped: false })
    const { text, clipped } = found.items.at(-1)
    assert.match(text, /^é+ Needle x+$/)
    assert.ok(clipped && text.length < 500)
    assert.deepEqual(places(await grep({ query: 'in a.*' })), ['a.txt:2'])
    assert.deepEqual(places(await grep({ query: 'in a.+' })), [])
    assert.deepEqual(places(await grep({ query: '-e' })), [])
  })

  it('looks only where it is told to', async () => {
    assert.deepEqual(places(await grep({ caseSensitive: true, globs: ['*.txt'] })), ['a.txt:3'])
    assert.deepEqual(places(await grep({ path: 'dir/sub' })), ['dir/sub/c.ts:1'])
    assert.deepEqual(places(await grep({ path: 'nowhere' })), [])
    assert.deepEqual(places(await grep({ globs: ['**/*.ts', '!dir/sub/**'] })), ['dir/b.ts:1'])
    assert.deepEqual(places(await grep({ ref: 'side' })), [])
    assertInvalid(await host.call('git/grep', { name, query: 'a\nb' }), ['query'])
    assertInvalid(await host.call('git/grep', { name, query: 'a', globs: ['(a|b)'] }), ['globs', 0])
    assertFault(await host.call('git/grep', { name, query: 'a', ref: 'none' }), 'GIT_OBJECT_NOT_FOUND', {
      name,
      object: 'none',
    })
  })

  it('ends where much was found that nobody wanted, and looks only where patterns may match', async () => {
    const nowhere = await grep({ query: 'chaff', globs: ['**/*.none'] })
    assert.deepEqual([nowhere.items, nowhere.nextCursor, nowhere.truncated], [[], null, true])
    const few = await grep({ query: 'chaff', globs: ['few/*', '!few/none', 'none/**/x'] })
    assert.deepEqual([places(few), few.truncated], [['few/one:1'], false])
    const below = await grep({ query: 'chaff', globs: ['none'] })
    assert.deepEqual([places(below), below.truncated], [[], false])
  })

  it('has pages, up to a thousand lines', async () => {
    const seen: string[] = []
    let page: { items: Item[]; nextCursor: string | null; truncated: boolean }
    let cursor: string | null = null
    do {
      page = await grep({ query: 'straw', limit: 99, ...(cursor && { cursor }) })
      seen.push(...places(page))
      cursor = page.nextCursor
      assert.equal(page.truncated, cursor === null)
    } while (cursor)
    assert.deepEqual(
      seen,
      Array.from({ length: 1000 }, (_, i) => `many:${i + 1}`),
    )
    const some = await grep({ limit: 2 })
    assert.deepEqual([places(some), some.truncated], [['a.txt:2', 'a.txt:3'], false])
    const rest = await grep({ cursor: some.nextCursor })
    assert.deepEqual([rest.items.length, rest.nextCursor, rest.truncated], [3, null, false])
  })
})
