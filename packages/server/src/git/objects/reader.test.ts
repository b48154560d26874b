import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestRepo, oid, path } from '../../testing/git-repo.ts'
import type { Oid, RefName } from '../names.ts'
import { ObjectTooLarge, resolveRevision, withObjects } from './reader.ts'

const missing = 'f'.repeat(40) as Oid

test('reads commits with people, times, parents and message', async () => {
  using t = createTestRepo()
  const first = t.commit({ a: 'x' })
  const second = t.commit({ a: 'y' }, first)
  await withObjects(t.repo, async (objects) => {
    const ann = { name: 'Ann', email: 'ann@example.org', time: 1_700_000_000_000, timezone: '+0100' }
    assert.deepEqual(await objects.findCommit(second), {
      tree: t.git(['rev-parse', `${second}^{tree}`]),
      parents: [first],
      author: ann,
      committer: ann,
      message: 'commit 2\n',
      signed: false,
    })
    assert.deepEqual((await objects.findCommit(first))?.parents, [])
  })
})

test('says nothing for what is missing or of another type, and goes on answering', async () => {
  using t = createTestRepo()
  const commit = t.commit({ a: 'x' })
  const blob = oid(t.git(['rev-parse', `${commit}:a`]))
  await withObjects(t.repo, async (objects) => {
    assert.deepEqual(await objects.listInfo([missing]), [undefined])
    assert.equal(await objects.findCommit(missing), undefined)
    assert.equal(await objects.findCommit(blob), undefined)
    assert.equal(await objects.findTree(commit), undefined)
    assert.equal(await objects.findBlob(commit, 100), undefined)
    assert.equal((await objects.findBlob(blob, 100))?.toString(), 'x')
    const infos = await objects.listInfo([blob, missing, commit])
    assert.deepEqual(
      infos.map((info) => info?.type),
      ['blob', undefined, 'commit'],
    )
  })
})

test('bounds blobs, and streams those of any size', async () => {
  using t = createTestRepo()
  const content = Buffer.alloc(300_000, 'binary\0\n')
  const blob = oid(t.git(['hash-object', '-w', '--stdin'], content))
  await withObjects(t.repo, async (objects) => {
    await assert.rejects(objects.findBlob(blob, content.length - 1), ObjectTooLarge)
    assert.deepEqual(await objects.findBlob(blob, content.length), content)
  })
})

test('reads trees with all kinds of entries and names', async () => {
  using t = createTestRepo()
  const blob = t.git(['hash-object', '-w', '--stdin'], 'x')
  const sub = t.git(['mktree'], `100644 blob ${blob}\tinner\n`)
  const raw = Buffer.from('caf\xe9', 'latin1')
  const lines = [
    `100644 blob ${blob}\tnl\n"\0`,
    `100755 blob ${blob}\tünï\0`,
    `120000 blob ${blob}\tlink\0`,
    `040000 tree ${sub}\tdir\0`,
    `160000 commit ${'1'.repeat(40)}\tmodule\0`,
  ].map((line) => Buffer.from(line))
  const odd = Buffer.concat([Buffer.from(`100644 blob ${blob}\t`), raw, Buffer.from('\0')])
  const tree = oid(t.git(['mktree', '-z', '--missing'], Buffer.concat([...lines, odd])))
  await withObjects(t.repo, async (objects) => {
    const entries = (await objects.findTree(tree)) ?? []
    assert.deepEqual(
      entries.map(({ mode, type, name }) => `${mode} ${type} ${name}`),
      [
        '100644 blob caf\ufffd',
        '040000 tree dir',
        '120000 blob link',
        '160000 commit module',
        '100644 blob nl\n"',
        '100755 blob ünï',
      ],
    )
    assert.deepEqual(entries[0]?.rawName, raw)
    assert.equal(entries[5]?.rawName, undefined)
    assert.equal((await objects.findAt(tree, path('dir/inner')))?.oid, blob)
    assert.equal((await objects.findAt(tree, path('nl\n"')))?.oid, blob)
    for (const none of ['none', 'dir/none', 'link/x', 'module/x', 'DIR', 'caf\ufffd']) {
      assert.equal(await objects.findAt(tree, path(none)), undefined, none)
    }
  })
})

test('lists directories of a commit with the sizes of their files', async () => {
  using t = createTestRepo()
  const commit = t.commit({ a: 'four', 'd/e/f': 'sixsix', 'd/g': '' })
  await withObjects(t.repo, async (objects) => {
    const listed = async (at?: string) => {
      const entries = await objects.findDirectory(commit, at === undefined ? undefined : path(at))
      return entries && (await objects.addSizes(entries)).map(({ name, size }) => `${name} ${size}`)
    }
    assert.deepEqual(await listed(), ['a 4', 'd undefined'])
    assert.deepEqual(await listed('d'), ['e undefined', 'g 0'])
    assert.deepEqual(await listed('d/e'), ['f 6'])
    assert.equal(await listed('a'), undefined)
    assert.equal(await listed('none'), undefined)
  })
})

test('an abort is the answer to whoever waits for one', async () => {
  using t = createTestRepo()
  const controller = new AbortController()
  const reading = withObjects(t.repo.with({ signal: controller.signal }), async (objects) => {
    await objects.listInfo([missing])
    controller.abort(new Error('gone away'))
    return objects.listInfo([missing])
  })
  await assert.rejects(reading, /gone away/)
})

test('understands commits that other tools made badly, and those with another encoding or a signature', async () => {
  using t = createTestRepo()
  const tree = t.git(['mktree'], '')
  const write = (text: string | Buffer) =>
    oid(t.git(['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], text))
  const latin = write(
    Buffer.from(
      `tree ${tree}\nauthor J\xf6rg <j@x> 5 -0330\ncommitter J <j@x> 6 +0000\nencoding ISO-8859-1\n\ngr\xfc\xdfe`,
      'latin1',
    ),
  )
  const signed = write(
    `tree ${tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\ngpgsig -----BEGIN\n tree x\n \n -----END\n\nm\n`,
  )
  const bad = write(`tree ${tree}\nauthor nobody\n\nm`)
  const huge = write(
    `tree ${tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n${'long '.repeat(500_000)}`,
  )
  await withObjects(t.repo, async (objects) => {
    const read = async (commit: Oid) => {
      const found = await objects.findCommit(commit)
      assert(found)
      return found
    }
    assert.deepEqual((await read(latin)).author, {
      name: 'Jörg',
      email: 'j@x',
      time: 5000,
      timezone: '-0330',
    })
    assert.equal((await read(latin)).message, 'grüße')
    assert.deepEqual([(await read(signed)).signed, (await read(signed)).message], [true, 'm\n'])
    assert.equal((await read(signed)).tree, tree)
    assert.deepEqual((await read(bad)).author, { name: 'nobody', email: '', time: 0, timezone: '+0000' })
    assert((await read(huge)).message.length <= 1024 * 1024)
    assert.equal((await read(latin)).tree, tree, 'reading goes on after a cut one')
  })
})

test('follows tags of tags to what they mean', async () => {
  using t = createTestRepo()
  const commit = t.commit({ a: 'x' })
  t.git(['tag', '-a', '-m', 'one', 'one', commit])
  t.git(['tag', '-a', '-m', 'two', 'two', 'one'])
  const outer = oid(t.git(['rev-parse', 'refs/tags/two']))
  await withObjects(t.repo, async (objects) => {
    assert.equal((await objects.peel(outer))?.oid, commit)
    assert.equal((await objects.peel(commit))?.type, 'commit')
    assert.equal(await objects.peel(missing), undefined)
  })
})

test('a repository that is not there fails every question', async () => {
  using t = createTestRepo()
  t.git(['symbolic-ref', 'HEAD', 'refs/heads/x'])
  const gone = t.repo.with({ timeoutMs: 5000 })
  t[Symbol.dispose]()
  await assert.rejects(
    withObjects(gone, (objects) => objects.listInfo([missing])),
    { name: 'GitError' },
  )
})

test('resolves a revision by rows: full names, HEAD, branches before tags', async () => {
  const rows = new Map<string, Oid>([
    ['HEAD', '1'.repeat(40) as Oid],
    ['refs/heads/main', '2'.repeat(40) as Oid],
    ['refs/tags/main', '3'.repeat(40) as Oid],
    ['refs/tags/v1', '4'.repeat(40) as Oid],
    ['refs/heads/refs/heads/x', '5'.repeat(40) as Oid],
  ])
  const resolve = (text: string) => resolveRevision(text, async (name: RefName | 'HEAD') => rows.get(name))
  assert.equal(await resolve('HEAD'), '1'.repeat(40))
  assert.equal(await resolve('main'), '2'.repeat(40))
  assert.equal(await resolve('refs/tags/main'), '3'.repeat(40))
  assert.equal(await resolve('v1'), '4'.repeat(40))
  assert.equal(await resolve('refs/heads/x'), '5'.repeat(40))
  assert.equal(await resolve('none'), undefined)
  assert.equal(await resolve(missing), missing)
  assert.equal(await resolve(missing.toUpperCase()), missing)
})

test('looks nothing up for what is no name of anything', async () => {
  const asked: string[] = []
  const expressions = ['-x', '--output=/tmp/x', 'a..b', 'a^', 'main~1', 'main:file', ':/text', 'main@{1}', '']
  for (const text of expressions)
    await resolveRevision(text, async (name) => {
      asked.push(name)
      return undefined
    })
  assert.deepEqual(asked, [])
})
