import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import {
  parseBranchName,
  parseFilePath,
  parseOid,
  parseRefName,
  parseTagName,
  parseTreePath,
  type RefName,
  shortRef,
} from './names.ts'

const gitAccepts = (name: string) => {
  try {
    execFileSync('git', ['check-ref-format', name], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('takes and refuses the same ref names as git', () => {
  const tails = [
    'main',
    'a/b',
    'ünïcode',
    'a.b',
    '-dash',
    '@',
    'a@b',
    '.a',
    'a.',
    'a/.b',
    'a.lock',
    'a.lock/b',
  ]
  tails.push(
    'a..b',
    'a b',
    'a~b',
    'a^b',
    'a:b',
    'a?b',
    'a*b',
    'a[b',
    'a\\b',
    'a@{b',
    'a//b',
    '/a',
    'a/',
    'a\tb',
  )
  tails.push('a\x7fb', '{', 'a.lockb', 'refs/heads/x', 'a\nb', "quote'", '$(id)', ';id', '日本/語')
  for (const tail of tails) {
    const name = `refs/heads/${tail}`
    assert.equal(parseRefName(name) !== undefined, gitAccepts(name), JSON.stringify(name))
  }
})

test('wants full ref names of bounded length', () => {
  for (const bad of ['main', 'heads/main', 'refs/main', 'HEAD', '', '-refs/heads/a', 'refs/heads/a\0b']) {
    assert.equal(parseRefName(bad), undefined, JSON.stringify(bad))
  }
  assert.equal(parseRefName(`refs/heads/${'x'.repeat(1013)}`)?.length, 1024)
  assert.equal(parseRefName(`refs/heads/${'x'.repeat(1014)}`), undefined)
  assert.equal(parseRefName(`refs/heads/${'é'.repeat(600)}`), undefined)
  assert.equal(parseRefName('refs/heads/\ud800'), undefined)
})

test('short names never look like options or HEAD', () => {
  for (const parse of [parseBranchName, parseTagName]) {
    assert.equal(parse('feature/x-1'), 'feature/x-1')
    for (const bad of ['-x', '--all', 'HEAD', '', '.x', 'x.lock', 'a..b']) assert.equal(parse(bad), undefined)
  }
})

test('an object id is whole, and in small letters', () => {
  const oid = 'a'.repeat(40)
  assert.equal(parseOid(oid), oid)
  assert.equal(parseOid(oid.toUpperCase()), undefined)
  assert.equal(parseOid(`${oid}\n`), undefined)
})

test('a tree path stays inside the tree and never reaches a git directory', () => {
  for (const good of [
    'a',
    'a/b',
    '-x',
    '.gitignore',
    '.github/x',
    'git',
    'git~2',
    '..a',
    'a\nb',
    'é',
    'a\\b',
    '.git2',
  ]) {
    assert.equal(parseTreePath(good), good)
  }
  const bad = [
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    './a',
    'a\0b',
    '.git',
    'a/.GIT/b',
    '.Git/config',
    '\ud800',
  ]
  bad.push(
    '.git ',
    '.git.',
    '.git. .',
    'git~1',
    'GIT~1',
    '.git:x',
    '.git::$INDEX_ALLOCATION',
    '.git\\config',
    'a\\.git',
    'a\\git~1\\b',
    'a\\.git .:x',
  )
  bad.push('.g\u200cit', '\ufeff.git', '.gi\u206at/x', 'x'.repeat(4097))
  for (const path of bad) assert.equal(parseTreePath(path), undefined, JSON.stringify(path))
})

test('a file path is absolute', () => {
  assert.equal(parseFilePath('/a b'), '/a b')
  for (const bad of ['a', '-a', '', '/a\0']) assert.equal(parseFilePath(bad), undefined)
})

test('branches and tags have short names, other refs their full one', () => {
  const short = (name: string) => shortRef(parseRefName(name) as RefName)
  assert.deepEqual(short('refs/heads/a/b'), { name: 'a/b', type: 'branch' })
  assert.deepEqual(short('refs/tags/v1'), { name: 'v1', type: 'tag' })
  assert.deepEqual(short('refs/notes/commits'), { name: 'refs/notes/commits', type: 'other' })
})
