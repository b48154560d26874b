import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo, oid, type TestRepo } from '../../testing/git-repo.ts'
import { GitOverLimit } from '../process/allowances.ts'
import { GitError } from '../process/command.ts'
import { checkOutTree } from './checkout.ts'

type Entry = [mode: string, type: 'blob' | 'tree' | 'commit', id: string, name: string]

const within = { maxBytes: 1_000_000, maxFiles: 100 }

/** Also of entries that git itself would refuse to make. */
function commitOf(t: TestRepo, entries: Entry[]) {
  const raw = entries.map(([mode, , id, name]) =>
    Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`), Buffer.from(id, 'hex')]),
  )
  const tree = t.git(['hash-object', '-t', 'tree', '--literally', '-w', '--stdin'], Buffer.concat(raw))
  return oid(t.git(['commit-tree', tree], 'message\n'))
}

function emptyDirectory(t: TestRepo): string {
  const directory = join(t.root, 'out')
  mkdirSync(directory)
  return directory
}

test('writes files, links and modes, and runs nothing of the commit', async () => {
  using t = createTestRepo()
  const directory = emptyDirectory(t)
  const blob = (text: string) => t.git(['hash-object', '-w', '--stdin'], text)
  // What is configured for a name would be run, if repositories had a configuration of their own.
  const inner = t.git(['mktree'], `100644 blob ${blob('x')}\tfile\n`)
  const commit = commitOf(t, [
    ['100644', 'blob', blob('* filter=lfs diff=lfs merge=lfs ident\n'), '.gitattributes'],
    ['100644', 'blob', blob('[submodule "m"]\n\tpath = module\n\turl = ext::sh -c false\n'), '.gitmodules'],
    ['100644', 'blob', blob('a'), '-rf'],
    ['040000', 'tree', inner, 'folder'],
    ['120000', 'blob', blob('/etc/shadow'), 'link'],
    ['160000', 'commit', '1'.repeat(40), 'module'],
    ['100644', 'blob', blob('b'), 'new\nline'],
    ['100755', 'blob', blob('#!/bin/sh\n'), 'program'],
  ])
  await checkOutTree(t.repo, { commit, directory, ...within })
  assert.deepEqual(readdirSync(t.root).toSorted(), ['out', 'repo.git'])
  assert.equal(readFileSync(join(directory, '-rf'), 'utf8'), 'a')
  assert.equal(readFileSync(join(directory, 'new\nline'), 'utf8'), 'b')
  assert.equal(readFileSync(join(directory, 'folder/file'), 'utf8'), 'x')
  assert.equal(readlinkSync(join(directory, 'link')), '/etc/shadow')
  assert.deepEqual(readdirSync(join(directory, 'module')), [])
  assert.ok(lstatSync(join(directory, 'program')).mode & 0o100)
  assert.ok(!(lstatSync(join(directory, 'folder/file')).mode & 0o100))
})

test('refuses what leads out of the tree', async () => {
  using t = createTestRepo()
  const directory = emptyDirectory(t)
  const blob = t.git(['hash-object', '-w', '--stdin'], 'x')
  const link = t.git(['hash-object', '-w', '--stdin'], '/tmp')
  const inner = t.git(['mktree'], `100644 blob ${blob}\tescaped\n`)
  const ways: Entry[][] = [
    [['040000', 'tree', inner, '..']],
    [['100644', 'blob', blob, '../escaped']],
    [['100644', 'blob', blob, '/escaped']],
    [['040000', 'tree', inner, '.git']],
  ]
  for (const entries of ways)
    await assert.rejects(
      checkOutTree(t.repo, { commit: commitOf(t, entries), directory, ...within }),
      GitError,
    )
  // One name for a link, and for a folder below it.
  const twice: Entry[] = [
    ['120000', 'blob', link, 'twice'],
    ['040000', 'tree', inner, 'twice'],
  ]
  await checkOutTree(t.repo, { commit: commitOf(t, twice), directory, ...within }).catch(() => {})
  assert.deepEqual(readdirSync(t.root).toSorted(), ['out', 'repo.git'])
  assert.throws(() => lstatSync('/tmp/escaped'))
})

test('refuses trees that are larger than they look, before it writes anything', async () => {
  using t = createTestRepo()
  const directory = emptyDirectory(t)
  let tree = t.git(
    ['mktree'],
    `100644 blob ${t.git(['hash-object', '-w', '--stdin'], 'x'.repeat(1000))}\tf\n`,
  )
  for (let depth = 0; depth < 8; depth++) {
    const lines = Array.from({ length: 10 }, (_, i) => `040000 tree ${tree}\t${i}\n`)
    tree = t.git(['mktree'], lines.join(''))
  }
  const commit = oid(t.git(['commit-tree', tree], 'bomb\n'))
  await assert.rejects(checkOutTree(t.repo, { commit, directory, ...within }), GitOverLimit)
  const many = { maxBytes: 1e15, maxFiles: 5_000 }
  await assert.rejects(checkOutTree(t.repo, { commit, directory, ...many }), /more than 5000 files/)
  assert.deepEqual(readdirSync(directory), [])
})
