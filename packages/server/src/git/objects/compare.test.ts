import assert from 'node:assert/strict'
import test from 'node:test'
import { createPlaces } from '../../platform/places.ts'
import { createTestRepo, oid, type TestRepo } from '../../testing/git-repo.ts'
import { createDice, createRandomHistories, pick } from '../../testing/random-histories.ts'
import { countTurns } from '../../testing/turns.ts'
import type { Oid } from '../names.ts'
import { createGit, type OpenRepo, openRepo } from '../process/command.ts'
import { compareCommits, compareObjects, completeComparison } from './compare.ts'
import { type FilePatch, listChangedFiles } from './diff.ts'
import { withObjects } from './reader.ts'

type Limits = Omit<Parameters<typeof compareCommits>[1], 'base' | 'head' | 'mode'>

const diff = (repo: OpenRepo, base: Oid, head: Oid, limits: Limits = {}) =>
  compareCommits(repo, { base, head, mode: 'two-dot', ...limits })

const brief = (files: readonly FilePatch[]) =>
  files.map(({ path, status, additions, deletions }) => `${status} ${path} +${additions} -${deletions}`)

/** A commit of a tree given as mktree lines, with names as bytes. */
function commitOf(
  t: TestRepo,
  entries: [mode: string, content: string | Buffer, name: string | Buffer][],
): Oid {
  const lines = entries.map(([mode, content, name]) => {
    const blob = mode === '160000' ? String(content) : t.git(['hash-object', '-w', '--stdin'], content)
    const type = mode === '160000' ? 'commit' : 'blob'
    return Buffer.concat([Buffer.from(`${mode} ${type} ${blob}\t`), Buffer.from(name), Buffer.from('\0')])
  })
  return oid(t.git(['commit-tree', t.git(['mktree', '-z', '--missing'], Buffer.concat(lines))], 'm'))
}

test('tells added, modified, deleted and renamed files with counts and patches', async () => {
  using t = createTestRepo()
  const text = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join('')
  const a = t.commit({ changed: '1\n2\n3\n', gone: 'x\n', 'old name': text })
  const b = t.commit(
    { changed: '1\n3\n4\n5\n', gone: undefined, 'old name': undefined, 'd/new': `${text}end\n`, add: '' },
    a,
  )
  const { files, truncated, total } = await diff(t.repo, a, b)
  assert.deepEqual(brief(files), [
    'added add +0 -0',
    'modified changed +2 -1',
    'renamed d/new +1 -0',
    'deleted gone +0 -1',
  ])
  assert.equal(truncated, false)
  assert.deepEqual(total, { files: 4, additions: 3, deletions: 2 })
  assert.equal(files[2]?.from, 'old name')
  assert.equal(files.map(({ patch }) => patch).join(''), `${t.git(['diff', '-M', a, b])}\n`)
  for (const file of files) assert(file.patch?.startsWith(`diff --git a/${file.from ?? file.path} `))
})

test('keeps patches with their files across changes of type, mode, submodules and binaries', async () => {
  using t = createTestRepo()
  const a = commitOf(t, [
    ['100644', 'text\n', 'a'],
    ['100644', 'same\n', 'b'],
    ['160000', '1'.repeat(40), 'c'],
    ['100644', Buffer.from([0, 1, 2]), 'd'],
    ['120000', 'target', 'e'],
  ])
  const b = commitOf(t, [
    ['120000', 'target', 'a'],
    ['100755', 'same\n', 'b'],
    ['160000', '2'.repeat(40), 'c'],
    ['100644', Buffer.from([0, 1, 3]), 'd'],
    ['160000', '3'.repeat(40), 'e'],
    ['100644', 'last\n', 'f'],
  ])
  const { files } = await diff(t.repo, a, b)
  assert.deepEqual(
    files.map(({ path, status, binary }) => [path, status, binary]),
    [
      ['a', 'type-changed', false],
      ['b', 'modified', false],
      ['c', 'modified', false],
      ['d', 'modified', true],
      ['e', 'type-changed', false],
      ['f', 'added', false],
    ],
  )
  assert.deepEqual([files[1]?.oldMode, files[1]?.newMode], ['100644', '100755'])
  for (const { path, patch } of files) assert(patch?.startsWith(`diff --git a/${path} b/${path}\n`), path)
  assert.equal(files[0]?.patch?.match(/^diff --git/gm)?.length, 2)
  assert.match(files[3]?.patch ?? '', /Binary files .* differ/)
})

test('is not confused by hostile names or content', async () => {
  using t = createTestRepo()
  const raw = Buffer.from('caf\xe9', 'latin1')
  const nasty = 'x\ndiff --git y y\n@@ -1 +1 @@'
  const a = commitOf(t, [['100644', 'keep', 'keep']])
  const b = commitOf(t, [
    ['100644', 'keep', 'keep'],
    ['100644', 'n\n', nasty],
    ['100644', 'r\n', raw],
    ['100644', 'diff --git a/q b/q\n\n:100644 0 0 M\n', '"quoted"\t'],
    ['100644', 'o\n', ':100644 100644'],
    ['100644', 'l\n', '\tleading'],
    ['100644', 'p\n', '-\t-\tü'],
    ['100644', 'no newline at the end', '--all'],
  ])
  const { files } = await diff(t.repo, a, b)
  const byPath = new Map(files.map((file) => [file.path, file]))
  assert.deepEqual(
    new Set(byPath.keys()),
    new Set([nasty, 'caf\ufffd', '"quoted"\t', ':100644 100644', '-\t-\tü', '--all', '\tleading']),
  )
  assert.match(byPath.get(nasty)?.patch ?? '', /\+n\n$/)
  assert.match(byPath.get('caf\ufffd')?.patch ?? '', /^diff --git "a\/caf\\351" .*\+r\n$/s)
  assert.match(byPath.get('"quoted"\t')?.patch ?? '', /\+diff --git a\/q b\/q\n/)
  assert.equal(byPath.get('\tleading')?.additions, 1)
  assert.match(byPath.get('--all')?.patch ?? '', /No newline/)
  assert.match(byPath.get('-\t-\tü')?.patch ?? '', /\+p\n$/)
})

test('bounds files, single patches and their sum', async () => {
  using t = createTestRepo()
  const files = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, `${i}\n`]))
  const a = t.commit({})
  const b = t.commit({ ...files, f3: 'long line\n'.repeat(50_000) }, a)
  const few = await diff(t.repo, a, b, { maxFiles: 2 })
  assert.deepEqual([few.files.length, few.truncated, few.total.files], [2, true, 10])
  const capped = await diff(t.repo, a, b, { maxPatchBytes: 1000 })
  assert.deepEqual(
    capped.files.filter((file) => file.patch === undefined).map((file) => file.path),
    ['f3'],
  )
  assert.equal(capped.files[3]?.additions, 50_000)
  assert.match(capped.files[9]?.patch ?? '', /\+9\n$/)
  const small = await diff(t.repo, a, b, { maxPatchBytes: 1000, maxTotalBytes: 300 })
  assert.deepEqual(small.files.map((file) => file.patch !== undefined).slice(0, 4), [
    true,
    true,
    false,
    false,
  ])
})

test('takes very large text as binary instead of comparing it by line', async () => {
  using t = createTestRepo()
  const line = 'x'.repeat(79)
  const a = t.commit({ big: `${line}\n`.repeat(110_000) })
  const b = t.commit({ big: `${line}y\n`.repeat(110_000) }, a)
  const { files } = await diff(t.repo, a, b)
  assert.equal(files[0]?.binary, true)
})

test('compares two branches since they parted, or as they are', async () => {
  using t = createTestRepo()
  const base = t.commit({ f: '1\n' })
  const main = t.commit({ m: 'm\n' }, base)
  const one = t.commit({ f: '2\n' }, base)
  const two = t.commit({ g: 'g\n' }, one)
  const since = await compareCommits(t.repo, { base: main, head: two })
  assert.deepEqual([since.ahead, since.behind, since.mergeBase], [2, 1, base])
  assert.deepEqual(
    since.commits.map((commit) => commit.oid),
    [two, one],
  )
  assert.deepEqual(brief(since.files), ['modified f +1 -1', 'added g +1 -0'])
  const direct = await compareCommits(t.repo, { base: main, head: two, mode: 'two-dot', maxCommits: 1 })
  assert.deepEqual(brief(direct.files), ['modified f +1 -1', 'added g +1 -0', 'deleted m +0 -1'])
  assert.deepEqual([direct.commits.length, direct.moreCommits], [1, true])
})

test('compares what shares no history, and equal commits', async () => {
  using t = createTestRepo()
  const a = t.commit({ a: 'a\n' })
  const b = t.commit({ b: 'b\n' })
  const apart = await compareCommits(t.repo, { base: a, head: b })
  assert.equal(apart.mergeBase, undefined)
  assert.deepEqual(brief(apart.files), ['deleted a +0 -1', 'added b +1 -0'])
  const same = await compareCommits(t.repo, { base: a, head: a })
  assert.deepEqual([same.files, same.commits, same.ahead, same.behind], [[], [], 0, 0])
})

test('needs no more than one process at a time', async () => {
  using t = createTestRepo()
  const pool = createPlaces({ size: 1 })
  const repo = openRepo(createGit({ pool }), t.gitDir, { owner: { id: 'a' }, timeoutMs: 10_000 })
  const a = t.commit({ a: '1\n' })
  const b = t.commit({ a: '2\n' }, a)
  const compared = await compareCommits(repo, { base: a, head: b })
  assert.deepEqual([compared.files.length, compared.commits.length, compared.ahead], [1, 1, 1])
})

test('finds in objects alone what git says, or leaves it to git', async () => {
  const dice = createDice(3)
  using t = await createRandomHistories(dice, 12)
  let found = 0
  for (const commits of t.histories) {
    const request = { base: pick(dice, commits), head: pick(dice, commits), maxTotalBytes: 0 }
    const known = await withObjects(t.repo, (objects) => compareObjects(objects, request))
    const told = await compareCommits(t.repo, request)
    assert.ok(known.relation)
    const complete = completeComparison(request, known)
    if (complete) found++
    assert.deepEqual(complete ?? (await compareCommits(t.repo, request, known)), told)
  }
  assert.ok(found > 2, `${found}`)
})

test('finds changes of type, mode, submodules and binaries in objects alone', async () => {
  using t = createTestRepo()
  const a = commitOf(t, [
    ['100644', 'text\n', 'a'],
    ['100644', 'same\n', 'b'],
    ['160000', '1'.repeat(40), 'c'],
    ['100644', Buffer.from([0, 1, 2]), 'd'],
    ['120000', 'target', 'e'],
    ['100755', Buffer.from([0, 1]), 'g'],
  ])
  const b = commitOf(t, [
    ['120000', 'target', 'a'],
    ['100755', 'same\n', 'b'],
    ['160000', '2'.repeat(40), 'c'],
    ['100644', Buffer.from([0, 1, 3]), 'd'],
    ['160000', '3'.repeat(40), 'e'],
    ['100644', 'last\nline', Buffer.from('f\xe9', 'latin1')],
    ['100644', Buffer.from([0, 1]), 'g'],
  ])
  for (const [base, head] of [
    [a, b],
    [b, a],
  ] as const) {
    const request = { base, head, mode: 'two-dot' as const, maxTotalBytes: 0 }
    const known = await withObjects(t.repo, (objects) => compareObjects(objects, request))
    assert.deepEqual(completeComparison(request, known), await compareCommits(t.repo, request))
  }
})

test('keeps the first of very many changes, counts them all, and lets others in while it reads them', async () => {
  using t = createTestRepo()
  const oids = `${'a'.repeat(40)} ${'b'.repeat(40)}`
  const each = (line: (path: string) => string) =>
    Array.from({ length: 100_000 }, (_, i) => line(`dir/file-${i}`)).join('')
  const stdout = Buffer.from(
    each((path) => `:100644 100644 ${oids} M\0${path}\0`) + each((path) => `2\t1\t${path}\0`),
  )
  const repo: OpenRepo = { ...t.repo, run: async () => ({ stdout, exitCode: 0, truncated: false }) }
  const ends = ['c'.repeat(40) as Oid, 'd'.repeat(40) as Oid] as const
  using turns = countTurns()
  const { files, truncated, total } = await listChangedFiles(repo, ...ends, { maxFiles: 2 })
  assert.deepEqual(brief(files), ['modified dir/file-0 +2 -1', 'modified dir/file-1 +2 -1'])
  assert.equal(truncated, true)
  assert.deepEqual(total, { files: 100_000, additions: 200_000, deletions: 100_000 })
  assert.ok(turns.count > 3, `${turns.count} turns`)
  const blanks = await listChangedFiles(repo, ...ends, { maxFiles: 2, ignoreWhitespace: true })
  assert.deepEqual([blanks.files.length, blanks.total.files], [2, 100_000])
})
