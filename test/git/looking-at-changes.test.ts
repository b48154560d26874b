// What pages and agents look at to see how things changed: branches, diffs, merges.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertFault, assertInvalid, createSqlite } from '@trellis/server/testing'
import { type Client, useHost } from './harness.ts'

const ABSENT = 'a'.repeat(40)

const host = useHost(createSqlite)

describe('git/refs/search', () => {
  const name = 'called'
  before(async () => {
    const { client } = await host.filled(name)
    const at = await client.rev('main')
    const branches = ['Fix', 'fixes/one', 'team/fix-two', 'unfixed', 'größe/FIX', 'odd_%']
    const many = Array.from({ length: 700 }, (_, i) => `many/${String(i).padStart(3, '0')}`)
    for (const [kind, names] of [
      ['heads', [...branches, ...many]],
      ['tags', ['fix', 'v1-fix']],
    ] as const) {
      const lines = names.map((short) => `create refs/${kind}/${short} ${at}\n`)
      await client.feed(lines.join(''), 'update-ref', '--stdin')
    }
    await client.run('push', '-q', host.remote(name), 'refs/heads/*', 'refs/tags/*')
  })
  const found = async (input: object) => {
    const { items, truncated } = await host.ok('git/refs/search', { name, ...input })
    return [items.map((ref: { name: string; type: string }) => `${ref.type} ${ref.name}`), truncated]
  }

  it('finds branches and tags by a part of their names, the best first', async () => {
    assert.deepEqual(await found({ query: ' FIX ' }), [
      [
        ...['branch Fix', 'tag fix', 'branch fixes/one', 'branch größe/FIX', 'branch team/fix-two'],
        ...['branch unfixed', 'tag v1-fix'],
      ],
      false,
    ])
    assert.deepEqual(await found({ query: 'fix', type: 'tag' }), [['tag fix', 'tag v1-fix'], false])
    assert.deepEqual(await found({ query: 'fix', type: 'branch', limit: 2 }), [
      ['branch Fix', 'branch fixes/one'],
      true,
    ])
    assert.deepEqual(await found({ query: 'many/699' }), [['branch many/699'], false])
    assert.deepEqual(await found({ query: '_%' }), [['branch odd_%'], false])
    assert.deepEqual(await found({ query: 'refs/heads' }), [[], false])
  })

  it('is told what to look for, and where', async () => {
    assertInvalid(await host.call('git/refs/search', { name, query: ' ' }), ['query'])
    assertInvalid(await host.call('git/refs/search', { name, query: 'x', type: 'other' }), ['type'])
    assertFault(await host.call('git/refs/search', { name: 'absent', query: 'x' }), 'REPO_NOT_FOUND', {
      name: 'absent',
    })
  })
})

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

describe('git/diff', () => {
  const name = 'different'
  let client: Client
  const lines = (count: number, word: string) =>
    Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join('')
  before(async () => {
    ;({ client } = await host.filled(name))
    await client.commit({
      code: lines(100, 'line'),
      blanks: 'a b\nc\n',
      moved: lines(20, 'moved'),
      'turns/into': 'a directory\n',
      odd: 'x',
    })
    await client.run('mv', 'moved', 'found')
    await client.run('rm', '-q', '-r', 'turns')
    await client.commit(
      {
        code: lines(100, 'line').replace('line 50\n', 'line fifty\n'),
        blanks: 'a  b\nc\n',
        found: lines(21, 'moved'),
        turns: 'a file\n',
        'größe "x"': 'ü\n',
        large: lines(60_000, 'large'),
      },
      'Change much',
    )
    await client.run('push', '-q', host.remote(name), 'main')
  })
  interface File {
    path: string
    status: string
    previousPath?: string
    patch?: string
    binary: boolean
  }
  const read = (input: object = {}) => host.ok('git/diff', { name, head: 'main', ...input })
  const named = (files: File[], path: string) => files.find((file) => file.path === path)

  it('tells what a commit changed, as git does', async () => {
    const { base, head, files, total, nextCursor, filesTruncated } = await read()
    assert.deepEqual([base, head], [await client.rev('main~1'), await client.rev('main')])
    assert.deepEqual([nextCursor, filesTruncated], [null, false])
    assert.deepEqual(
      files.map((file: File) => [file.path, file.status]),
      [
        ['blanks', 'modified'],
        ['code', 'modified'],
        ['found', 'renamed'],
        ['größe "x"', 'added'],
        ['large', 'added'],
        ['turns', 'added'],
        ['turns/into', 'deleted'],
      ],
    )
    const patchOf = (path: string, ...args: string[]) =>
      client.run('-c', 'core.quotePath=true', 'diff', '-M', ...args, 'main~1', 'main', '--', path)
    for (const path of ['blanks', 'code', 'turns/into'])
      assert.equal(named(files, path)?.patch?.trimEnd(), await patchOf(path))
    assert.match(named(files, 'turns')?.patch ?? '', /new file mode[\s\S]*\+a file\n$/)
    assert.doesNotMatch(named(files, 'turns')?.patch ?? '', /turns\/into/)
    assert.match(named(files, 'größe "x"')?.patch ?? '', /\+ü\n$/)
    const found = named(files, 'found')
    assert.equal(found?.previousPath, 'moved')
    assert.match(found?.patch ?? '', /rename from moved\nrename to found\n[\s\S]*\+moved 20\n$/)
    assert.equal(named(files, 'large')?.patch, undefined, 'too large for a page')
    assert.deepEqual(total, { files: 7, additions: 1 + 1 + 1 + 1 + 60_000 + 1, deletions: 1 + 1 + 1 })
  })

  it('gives one file with a longer patch, with more or less around it', async () => {
    const { files, total } = await read({ path: 'large' })
    assert.deepEqual([files.length, total.files], [1, 7])
    assert.equal(
      files[0].patch.split('\n').filter((line: string) => line.startsWith('+large')).length,
      60_000,
    )
    const context = async (input: object) => {
      const { patch } = (await read({ path: 'code', ...input })).files[0]
      return patch.split('\n').filter((line: string) => line.startsWith(' ')).length
    }
    assert.deepEqual(
      [await context({}), await context({ context: 0 }), await context({ context: 1000 })],
      [6, 0, 99],
    )
    assert.deepEqual((await read({ path: 'moved' })).files[0].path, 'found')
    assert.deepEqual((await read({ path: 'odd' })).files, [])
  })

  it('has pages, between the same commits whatever happens', async () => {
    const first = await read({ limit: 3 })
    await client.run('push', '-q', '--force', host.remote(name), 'main~1:main')
    const rest = await read({ limit: 100, cursor: first.nextCursor })
    await client.run('push', '-q', host.remote(name), 'main')
    assert.deepEqual([...first.files, ...rest.files], (await read()).files)
    assert.equal(rest.nextCursor, null)
    const bare = await read({ patches: false, limit: 3 })
    assert.deepEqual(
      bare.files,
      first.files.map(({ patch: _, ...file }: File) => file),
    )
    const forged = (text: string) => Buffer.from(`c1:${text}`).toString('base64url')
    for (const cursor of ['garbage', forged(`${ABSENT}:${ABSENT}:3`), forged(`${first.base}:${ABSENT}:3`)])
      assert.deepEqual(await read({ limit: 3, cursor }), first)
  })

  it('leaves out what differs in blanks alone', async () => {
    const { files, total } = await read({ ignoreWhitespace: true })
    assert.equal(named(files, 'blanks'), undefined)
    assert.equal(total.files, 6)
    assert.match(named(files, 'code')?.patch ?? '', /^diff --git a\/code b\/code\n/)
    assert.match(named(files, 'turns/into')?.patch ?? '', /^diff --git a\/turns\/into /)
    assert.deepEqual((await read({ ignoreWhitespace: true, path: 'blanks' })).files, [])
  })

  it('compares two revisions, and a first commit with nothing', async () => {
    await client.run('checkout', '-q', '-b', 'topic', 'main~1')
    await client.commit({ odd: 'y' })
    await client.run('push', '-q', host.remote(name), 'topic')
    await client.run('checkout', '-q', 'main')
    const since = await read({ head: 'topic', base: 'main' })
    assert.deepEqual(
      [since.base, since.files.map((file: File) => file.path)],
      [await client.rev('main~1'), ['odd']],
    )
    const asTheyAre = await read({ head: 'topic', base: 'main', mode: 'two-dot' })
    assert.equal(asTheyAre.total.files, 8)
    const root = await client.run('rev-list', '--max-parents=0', 'main')
    const whole = await read({ head: root })
    assert.equal(whole.base, null)
    assert.ok(whole.files.every((file: File) => file.status === 'added' && file.patch))
    assertFault(await host.call('git/diff', { name, head: 'nothing' }), 'GIT_OBJECT_NOT_FOUND', {
      name,
      object: 'nothing',
    })
  })
})

describe('git/mergePreview', () => {
  const name = 'merging'
  let client: Client
  before(async () => {
    ;({ client } = await host.filled(name))
    for (const [branch, files] of [
      ['clean', { 'clean.txt': '1' }],
      ['clash', { 'same.txt': 'theirs' }],
    ] as const) {
      await client.run('checkout', '-q', '-b', branch, 'main')
      await client.commit(files)
    }
    await client.run('checkout', '-q', '--orphan', 'stranger')
    await client.commit({ 'stranger.txt': '1' })
    await client.run('checkout', '-q', 'main')
    await client.commit({ 'same.txt': 'ours' })
    await client.run('push', '-q', host.remote(name), '--all')
  })
  const preview = (from: string, branch = 'main') => host.ok('git/mergePreview', { name, branch, from })

  it('tells what a merge would come to, and changes nothing', async () => {
    const [refs, packs] = [await host.refs(name), await host.packs(name)]
    assert.deepEqual(await preview('clash'), {
      outcome: 'conflict',
      branch: 'main',
      oid: await client.rev('main'),
      from: await client.rev('clash'),
      conflicts: [{ path: 'same.txt', kinds: ['contents'] }],
      conflictsTruncated: false,
    })
    assert.equal((await preview('clean')).outcome, 'merged')
    assert.equal((await preview('side')).outcome, 'up-to-date')
    assert.equal((await preview('main', 'side')).outcome, 'fast-forward')
    assert.equal((await preview('stranger')).outcome, 'unrelated')
    assert.deepEqual([await host.refs(name), await host.packs(name)], [refs, packs])
    for (const input of [
      { branch: 'none', from: 'main' },
      { branch: 'main', from: 'none' },
    ])
      assertFault(await host.call('git/mergePreview', { name, ...input }), 'GIT_OBJECT_NOT_FOUND', {
        name,
        object: 'none',
      })
  })
})
