import assert from 'node:assert/strict'
import test from 'node:test'
import { searchPaths } from './path-search.ts'

const { signal } = new AbortController()
const PATHS = [
  'README.md',
  'docs/readme-first.txt',
  'lib/Reader.ts',
  'lib/reader.test.ts',
  'lib/reader/index.ts',
  'reader',
  'src/old/threads.ts',
]
const search = async (query: string, limit = 10) => (await searchPaths(PATHS, { query, limit, signal })).paths

test('ranks names before folders, and what is near before what is spread', async () => {
  assert.deepEqual(await search('reader'), [
    'reader',
    'lib/Reader.ts',
    'lib/reader.test.ts',
    'lib/reader/index.ts',
    // re-a-d-e-r, one after the other.
    'docs/readme-first.txt',
  ])
  assert.deepEqual(await search('read'), [
    'reader',
    'README.md',
    'lib/Reader.ts',
    'lib/reader.test.ts',
    'docs/readme-first.txt',
    'src/old/threads.ts',
    'lib/reader/index.ts',
  ])
  assert.deepEqual(await search('rdme'), ['README.md', 'docs/readme-first.txt'])
  assert.deepEqual(await search('  TEST reader '), ['lib/reader.test.ts'])
  assert.deepEqual(await search('lib index'), ['lib/reader/index.ts'])
  assert.deepEqual(await search('nowhere'), [])
})

test('gives no more than is wanted, says so, and stops when nobody waits', async () => {
  const many = Array.from({ length: 10_000 }, (_, i) => `dir/${i % 7}/file-${i}`)
  const found = await searchPaths(many, { query: 'file', limit: 3, signal })
  assert.deepEqual(found, { paths: ['dir/0/file-0', 'dir/1/file-1', 'dir/2/file-2'], truncated: true })
  assert.equal((await searchPaths(many, { query: 'file-77 dir', limit: 200, signal })).truncated, false)
  const gone = AbortSignal.abort(new Error('nobody waits'))
  await assert.rejects(searchPaths(many, { query: 'file', limit: 3, signal: gone }), /nobody waits/)
})
