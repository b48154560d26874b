import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import { createTestRepo, path } from '../../testing/git-repo.ts'
import { startKeeping } from '../../testing/kept-bytes.ts'
import type { Oid } from '../names.ts'
import { GitError, type GitProcess, type OpenRepo, OutputTooLarge } from '../process/command.ts'
import { blameLines } from './blame.ts'
import { countAheadBehind, findMergeBases, isAncestor, listCommitOids, readCommits } from './history.ts'

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

test('commits with long messages are read as far as one answer may go', async () => {
  const person = { name: 'Ann', email: 'ann@example.org', time: 0, timezone: '+0000' }
  const oids = Array.from({ length: 40 }, (_, i) => i.toString(16).padStart(40, '0') as Oid)
  let asked = 0
  const reader = (message: string) => ({
    async findCommit(oid: Oid) {
      asked++
      if (oid === oids[2]) return undefined
      return { tree: oid, parents: [], author: person, committer: person, message, signed: false }
    },
  })
  const long = await readCommits(reader('x'.repeat(1024 * 1024)), oids)
  assert.deepEqual([long.commits.length, long.read, asked], [8, 9, 16])
  assert.deepEqual(long.commits.at(-1)?.oid, oids[8])
  const short = await readCommits(reader('x'), oids)
  assert.deepEqual([short.commits.length, short.read], [39, 40])
})

/** A repository in which git says this, in parts that end anywhere. */
function saying(output: string): OpenRepo {
  const parts = output.match(/[\s\S]{1,50000}/g) ?? []
  const process: GitProcess = {
    stdout: Readable.from(parts.map((part) => Buffer.from(part))),
    stdin: undefined,
    done: Promise.resolve(0),
    stop: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
  return { start: async () => process } as Partial<OpenRepo> as OpenRepo
}

test('of what git says of lines, only where they come from is kept', async () => {
  const commit = 'c'.repeat(40) as Oid
  const long = `${'a'.repeat(100)}/f`
  const query = { commit, path: path('f'), startLine: 1, endLine: 3 }
  const said = (subject: string) =>
    `${commit} 2 3 1\nauthor A\nsummary ${subject}\nfilename ${long}\n${commit} 1 1 2\nfilename "a\\tb"\n`
  const wordy = said('x'.repeat(3_000_000))
  const measure = startKeeping()
  const kept = []
  for (let i = 0; i < 5; i++) kept.push(await blameLines(saying(wordy), query))
  const bytes = measure()
  assert.ok(bytes < 6_000_000, `${bytes} bytes are kept`)
  assert.equal(kept.length, 5)
  assert.deepEqual(kept[4], [
    { startLine: 1, endLine: 2, commit, originalPath: 'a\tb', originalLine: 1 },
    { startLine: 3, endLine: 3, commit, originalPath: long, originalLine: 2 },
  ])
  await assert.rejects(blameLines(saying(said('x'.repeat(17 * 1024 * 1024))), query), OutputTooLarge)
  const path100k = `${commit} 1 1 1\nfilename ${'p'.repeat(100_000)}\n`
  await assert.rejects(blameLines(saying(path100k), query), OutputTooLarge)
})
