import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestRepo, path } from '../../testing/git-repo.ts'
import type { Oid } from '../names.ts'
import { GitError } from '../process/command.ts'
import { countAheadBehind, findMergeBases, isAncestor, listCommitOids } from './history.ts'

function branchedRepo() {
  const t = createTestRepo()
  const a = t.commit({ f: '1' })
  const b = t.commit({ g: '1' }, a)
  const left = t.commit({ f: '2' }, b)
  const right = t.commit({ 'd/x': '1' }, t.commit({ g: '2' }, b))
  const merged = t.commit({}, left, right)
  return { t, a, b, left, right, merged }
}

test('lists commits in the order of git log, all or of a path, or that another commit has not', async () => {
  const { t, a, b, left, right, merged } = branchedRepo()
  using _ = t
  const expected = t.git(['log', '--format=%H', merged]).split('\n')
  const of = (query: Partial<Parameters<typeof listCommitOids>[1]>) =>
    listCommitOids(t.repo, { from: merged, limit: 10, ...query })
  assert.deepEqual(await of({}), expected)
  assert.deepEqual(await of({ skip: 2, limit: 2 }), expected.slice(2, 4))
  assert.deepEqual(await of({ skip: 100 }), [])
  assert.deepEqual(await of({ path: path('f') }), [left, a])
  assert.deepEqual(await of({ from: right, path: path('d') }), [right])
  assert.deepEqual(await of({ path: path('*') }), [])
  assert.deepEqual(await of({ from: left, notIn: a }), [left, b])
})

test('knows ancestors, common ancestors and distances', async () => {
  const { t, a, b, left, right, merged } = branchedRepo()
  using _ = t
  assert.equal(await isAncestor(t.repo, a, merged), true)
  assert.equal(await isAncestor(t.repo, a, a), true)
  assert.equal(await isAncestor(t.repo, left, right), false)
  assert.deepEqual(await findMergeBases(t.repo, left, right), [b])
  assert.deepEqual(await findMergeBases(t.repo, left, t.commit({ z: 'z' })), [])
  assert.deepEqual(await countAheadBehind(t.repo, left, right), { ahead: 2, behind: 1 })
})

test('a missing commit is an error and not an answer', async () => {
  const { t, a } = branchedRepo()
  using _ = t
  const missing = 'f'.repeat(40) as Oid
  await assert.rejects(isAncestor(t.repo, a, missing), GitError)
  await assert.rejects(listCommitOids(t.repo, { from: missing, limit: 1 }), GitError)
})
