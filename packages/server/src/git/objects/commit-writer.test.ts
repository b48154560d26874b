import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import { type Oid, parseTagName, type TagName } from '../names.ts'
import { type Change, checkSubmodules, InvalidParent, makeCommit, makeTag } from './commit-writer.ts'
import type { GitPerson } from './format.ts'
import { type PackBytes, writePack } from './pack-writer.ts'
import { withObjects } from './reader.ts'
import { InvalidTree } from './tree-editor.ts'

const ann: GitPerson = { name: 'Ann', email: 'ann@example.org', time: 1_700_000_000_000, timezone: '+0100' }
const put = (path: string, text: string, mode?: '100644' | '100755' | '120000'): Change => ({
  op: 'put',
  path,
  bytes: Buffer.from(text),
  ...(mode && { mode }),
})

/** Makes it of what is in the repository, and lets git look where the server would. */
async function make(t: TestRepo, wanted: Parameters<typeof makeCommit>[0]) {
  const made = await withObjects(t.repo, (objects) => makeCommit(wanted, objects))
  if (!made.unchanged && made.submodulesFile)
    await checkSubmodules(t.repo, t.quarantine(), { pack: made.pack, path: made.submodulesFile })
  return made
}

/** Takes a pack into the repository, and gives the folder where its files are too. */
async function adopt(t: TestRepo, pack: PackBytes): Promise<string> {
  const objectsDir = t.quarantine()
  await writePack(objectsDir, pack)
  t.adopt(join(objectsDir, 'pack'))
  return join(objectsDir, 'pack')
}

async function commit(t: TestRepo, changes: Change[], parent?: Oid, message = 'made') {
  const wanted = { ...(parent && { parent }), changes, author: ann, committer: ann, message }
  const made = await make(t, wanted)
  assert(!made.unchanged)
  const packDir = await adopt(t, made.pack)
  t.git(['update-ref', 'refs/heads/main', made.commit])
  t.git(['fsck', '--strict', '--full'])
  return { ...made, packDir }
}

const listing = (t: TestRepo, commit: Oid) =>
  t.git(['ls-tree', '-r', '-z', commit]).split('\0').filter(Boolean)
const names = (t: TestRepo, commit: Oid) =>
  listing(t, commit).map((line) => line.slice(line.indexOf('\t') + 1))

async function refused(
  t: TestRepo,
  parent: Oid | undefined,
  changes: Change[],
  reason: string,
  path: string,
) {
  const wanted = { ...(parent && { parent }), changes, author: ann, committer: ann, message: 'm' }
  await assert.rejects(make(t, wanted), (error) => {
    assert(error instanceof InvalidTree, String(error))
    assert.deepEqual([error.reason, error.path], [reason, path])
    return true
  })
}

test('makes the same commit that stock git makes', async () => {
  using t = createTestRepo()
  const first = t.commit({ 'a.txt': 'one\n', 'dir/b.txt': 'two\n', 'dir-x': 'x', 'dir.y': 'y' })
  const expected = t.commit({ 'dir/sub/c.txt': 'three\n', 'dir/b.txt': undefined }, first)
  const changes: Change[] = [put('dir/sub/c.txt', 'three\n'), { op: 'delete', path: 'dir/b.txt' }]
  const made = await commit(t, changes, first, 'commit 2\n')
  assert.equal(made.commit, expected)
  assert.equal(made.tree, t.git(['rev-parse', `${expected}^{tree}`]))
})

test('puts, deletes and moves files and directories of several modes in one commit', async () => {
  using t = createTestRepo()
  const first = await commit(t, [
    put('run.sh', '#!/bin/sh\n', '100755'),
    put('link', 'run.sh', '120000'),
    put('deep/er/file', 'x'),
    put('deep/other', 'y'),
    put('gone', 'z'),
  ])
  assert.deepEqual(
    listing(t, first.commit).map((line) => line.slice(0, 6)),
    ['100644', '100644', '100644', '120000', '100755'],
  )
  const second = await commit(
    t,
    [
      { op: 'move', from: 'deep', to: 'moved/deep' },
      { op: 'delete', path: 'gone' },
      put('gone/now-a-directory', 'x'),
      { op: 'move', from: 'moved/deep/other', to: 'run2' },
      put('run.sh', 'new content'),
      { op: 'move', from: 'run.sh', to: '-rf' },
    ],
    first.commit,
  )
  assert.deepEqual(names(t, second.commit), [
    '-rf',
    'gone/now-a-directory',
    'link',
    'moved/deep/er/file',
    'run2',
  ])
  assert.match(listing(t, second.commit)[0] ?? '', /^100755/)
  const third = await commit(t, [{ op: 'delete', path: 'moved/deep/er/file' }], second.commit)
  assert.equal(t.git(['ls-tree', third.commit, 'moved']), '', 'a directory without files is gone')
})

test('removing the last file gives the empty tree', async () => {
  using t = createTestRepo()
  const first = await commit(t, [put('a/b', 'x')])
  const second = await commit(t, [{ op: 'delete', path: 'a' }], first.commit)
  assert.equal(second.tree, '4b825dc642cb6eb9a060e54bf8d69288fbee4904')
})

test('keeps entries it does not touch, whatever their names', async () => {
  using t = createTestRepo()
  const blob = t.git(['hash-object', '-w', '--stdin'], 'x')
  const line = (name: Buffer) =>
    Buffer.concat([Buffer.from(`100644 blob ${blob}\t`), name, Buffer.from('\0')])
  const odd = [Buffer.from('caf\xe9', 'latin1'), Buffer.from('caf\xe8', 'latin1'), Buffer.from('"quo\nted"')]
  const tree = t.git(['mktree', '-z'], Buffer.concat(odd.map(line)))
  const parent = t.git(['commit-tree', tree], 'odd') as Oid
  const made = await commit(t, [put('new', 'n')], parent)
  const changed = t.git(['diff-tree', '-r', '--name-status', parent, made.commit])
  assert.equal(changed, 'A\tnew')
})

test('hostile but legal names and contents survive', async () => {
  using t = createTestRepo()
  const files = [
    '-x',
    '--all',
    'a b',
    'tab\t',
    'nl\nnl',
    '"',
    "'",
    'ünï',
    '日本',
    '$(id)',
    '*',
    '.gitignore',
    'a\\b',
  ]
  const bytes = Buffer.from([0, 255, 10, 13, 0, 0x80])
  const made = await commit(
    t,
    files.map((path) => ({ op: 'put', path, bytes })),
  )
  assert.deepEqual(new Set(names(t, made.commit)), new Set(files))
  const blob = listing(t, made.commit)[0]?.slice(12, 52) ?? ''
  assert.equal(t.git(['cat-file', '-s', blob]), '6')
})

test('refuses paths, conflicts and changes to what is not there', async () => {
  using t = createTestRepo()
  const first = t.commit({ file: 'x', 'dir/inner': 'y' })
  for (const path of ['', '/a', 'a//b', '../a', 'a/.GIT/hooks/x', '.git', 'a\0b', 'git~1/config']) {
    await refused(t, first, [put(path, 'x')], 'bad_path', path)
  }
  await refused(t, first, [put('file/below', 'x')], 'parent_is_not_a_directory', 'file/below')
  await refused(t, first, [put('dir', 'x')], 'is_a_directory', 'dir')
  await refused(t, first, [{ op: 'delete', path: 'none' }], 'not_found', 'none')
  await refused(t, first, [{ op: 'delete', path: 'dir/none/x' }], 'not_found', 'dir/none/x')
  await refused(t, first, [{ op: 'move', from: 'none', to: 'x' }], 'not_found', 'none')
  await refused(t, first, [{ op: 'move', from: 'file', to: 'dir/inner' }], 'already_exists', 'dir/inner')
  await refused(t, first, [{ op: 'move', from: 'dir', to: 'dir/sub' }], 'moved_into_itself', 'dir/sub')
  await refused(t, first, [put('link', '', '120000')], 'bad_symlink', 'link')
  await refused(t, undefined, [{ op: 'delete', path: 'a' }], 'not_found', 'a')
})

test('a submodule file that a push would be refused for is refused here too', async () => {
  using t = createTestRepo()
  const bad = '[submodule "../../x"]\n\tpath = x\n\turl = https://example.org/x\n'
  await refused(t, undefined, [put('.gitmodules', bad)], 'bad_submodules_file', '.gitmodules')
  await refused(
    t,
    undefined,
    [put('.gitmodules', '/etc/passwd', '120000')],
    'bad_submodules_file',
    '.gitmodules',
  )
  const hidden = put('m', bad)
  const move: Change = { op: 'move', from: 'm', to: '.gitmodules' }
  await refused(t, undefined, [hidden, move], 'bad_submodules_file', '.gitmodules')
  const good = '[submodule "x"]\n\tpath = x\n\turl = https://example.org/x\n'
  const made = await commit(t, [put('.gitmodules', good)])
  assert.equal(made.submodulesFile, '.gitmodules')
})

test('reports an unchanged tree and makes nothing', async () => {
  using t = createTestRepo()
  const first = t.commit({ a: 'x', b: 'y' })
  const changes: Change[] = [
    put('a', 'x'),
    { op: 'move', from: 'b', to: 'c' },
    { op: 'move', from: 'c', to: 'b' },
  ]
  const wanted = { parent: first, changes, author: ann, committer: ann, message: 'm' }
  const made = await make(t, wanted)
  assert.deepEqual(made, { unchanged: true, tree: t.git(['rev-parse', `${first}^{tree}`]) })
})

test('refuses a parent that is missing or no commit', async () => {
  using t = createTestRepo()
  const blob = t.git(['hash-object', '-w', '--stdin'], 'x') as Oid
  for (const parent of [blob, 'f'.repeat(40) as Oid]) {
    const wanted = { parent, changes: [put('a', 'x')], author: ann, committer: ann, message: 'm' }
    await assert.rejects(make(t, wanted), InvalidParent)
  }
})

test('people and messages that would break a commit are made harmless', async () => {
  using t = createTestRepo()
  const evil: GitPerson = { name: 'A <b>\nparent 0\0,', email: 'x>\n\0y', time: -5, timezone: '+99xx' }
  const wanted = {
    changes: [put('a', 'x')],
    author: evil,
    committer: { ...ann, name: '' },
    message: '\n\n a  \r\n\n\n\nb\0\n\n',
  }
  const made = await makeCommit(wanted)
  assert(!made.unchanged)
  await adopt(t, made.pack)
  t.git(['update-ref', 'refs/heads/main', made.commit])
  t.git(['fsck', '--strict'])
  const shown = t.git(['log', '-1', '--format=%an|%ae|%ad|%cn|%B', '--date=raw', made.commit])
  assert.equal(shown, 'A bparent 0|xy|0 +0000|ann@example.org| a\n\nb\n')
})

test('writes an annotated tag that stock git accepts', async () => {
  using t = createTestRepo()
  const target = t.commit({ a: 'x' })
  const name = parseTagName('v1.0') as TagName
  const made = await makeTag({ name, target, targetType: 'commit', tagger: ann, message: 'first  ' })
  await adopt(t, made.pack)
  t.git(['update-ref', 'refs/tags/v1.0', made.oid])
  t.git(['fsck', '--strict'])
  t.git(['tag', '-a', '-m', 'first', 'stock', target])
  const body = (rev: string) => t.git(['cat-file', 'tag', rev]).replace('tag stock', 'tag v1.0')
  assert.equal(body(made.oid), body('stock'))
})

test('a large file and many files make a sound pack', async () => {
  using t = createTestRepo()
  const big = Buffer.alloc(5_000_000, 'abcdefgh')
  const many = Array.from({ length: 2000 }, (_, i) => put(`d${i % 40}/f${i}`, `content ${i}\n`))
  const made = await commit(t, [{ op: 'put', path: 'big', bytes: big }, ...many])
  assert.equal(names(t, made.commit).length, 2001)
  t.git(['verify-pack', `${made.packDir}/${readdirSync(made.packDir).find((f) => f.endsWith('.idx'))}`])
})

test('any row of changes gives the tree that stock git gives for the files that should be there', async () => {
  using t = createTestRepo()
  let seed = 7
  const below = (n: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * n)
  }
  const names = ['a', 'b', 'a.', 'a-', 'B', 'é']
  const somePath = () => Array.from({ length: 1 + below(3) }, () => names[below(names.length)]).join('/')
  for (let round = 0; round < 30; round++) {
    const model = new Map<string, string>()
    const isDirectory = (path: string) => [...model.keys()].some((key) => key.startsWith(`${path}/`))
    const isFree = (path: string) =>
      !isDirectory(path) &&
      path.split('/').every((_, i, all) => i === all.length - 1 || !model.has(all.slice(0, i + 1).join('/')))
    const changes: Change[] = []
    for (let i = 0; i < 12; i++) {
      const path = somePath()
      const to = somePath()
      const within = [...model.keys()].filter((key) => key === path || key.startsWith(`${path}/`))
      if (below(3) > 0 && isFree(path)) {
        model.set(path, `${round}.${i}`)
        changes.push(put(path, `${round}.${i}`))
      } else if (within.length > 0 && below(2) === 0) {
        for (const key of within) model.delete(key)
        changes.push({ op: 'delete', path })
      } else if (within.length > 0 && !`${to}/`.startsWith(`${path}/`)) {
        const contents = within.map((key) => [key.slice(path.length), model.get(key) ?? ''] as const)
        for (const key of within) model.delete(key)
        if (isFree(to) && !model.has(to)) {
          changes.push({ op: 'move', from: path, to })
          for (const [rest, content] of contents) model.set(to + rest, content)
        } else for (const [rest, content] of contents) model.set(path + rest, content)
      }
    }
    const expected = t.git(['rev-parse', `${t.commit(Object.fromEntries(model))}^{tree}`])
    const wanted = { changes, author: ann, committer: ann, message: 'm' }
    assert.equal((await makeCommit(wanted)).tree, expected, JSON.stringify(changes))
  }
})
