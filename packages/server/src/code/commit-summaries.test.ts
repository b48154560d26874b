import assert from 'node:assert/strict'
import test from 'node:test'
import type { Oid } from '../git/names.ts'
import type { BlamedRange } from '../git/objects/blame.ts'
import type { FileChange } from '../git/objects/diff.ts'
import { OutputTooLarge } from '../git/process/command.ts'
import { refuseLarge } from './browsing.ts'
import { summarizeAll } from './commit-summaries.ts'
import { weighChanges, weighRanges } from './weights.ts'

const person = { name: 'Ann', email: 'ann@example.org', time: 1_700_000_000_000, timezone: '+0000' }

test('many commits are read a few at a time, and of each one line is kept', async () => {
  const oids = Array.from({ length: 100 }, (_, i) => i.toString(16).padStart(40, '0') as Oid)
  let reading = 0
  let most = 0
  const summaries = await summarizeAll(
    {
      async findCommit(oid) {
        most = Math.max(most, ++reading)
        await new Promise(setImmediate)
        reading--
        if (oid === oids[7]) return undefined
        return {
          tree: oid,
          parents: [],
          author: person,
          committer: person,
          message: `${oid}${'x'.repeat(1000)}\n\nmore`,
          signed: false,
        }
      },
    },
    oids,
  )
  assert.ok(most <= 16, `${most} at once`)
  assert.deepEqual(
    summaries.map(({ oid }) => oid),
    oids.filter((oid) => oid !== oids[7]),
  )
  assert.deepEqual(
    summaries.map(({ oid, summary }) => [summary.length, summary.startsWith(oid)]),
    summaries.map(() => [256, true]),
  )
})

test('where lines come from weighs what its paths do', () => {
  const range = (originalPath: string): BlamedRange => ({
    startLine: 1,
    endLine: 1,
    commit: '0'.repeat(40) as Oid,
    originalPath,
    originalLine: 1,
  })
  assert.ok(weighRanges([range('x'.repeat(10_000)), range('y'.repeat(10_000))]) >= 40_000)
  assert.ok(weighRanges([range('x')]) > weighRanges([]))
})

test('a list of changed files weighs what its paths do', () => {
  const oid = '0'.repeat(40) as Oid
  const file = (path: string): FileChange => ({
    path,
    from: path,
    status: 'renamed',
    ...{ oldMode: '100644', newMode: '100644', oldOid: oid, newOid: oid },
    ...{ additions: 0, deletions: 0, binary: false },
  })
  const list = (...files: FileChange[]) => ({
    files,
    truncated: false,
    total: { files: files.length, additions: 0, deletions: 0 },
  })
  assert.ok(weighChanges(list(file('x'.repeat(10_000)))) >= 40_000)
  assert.ok(weighChanges(list(file('x'))) > weighChanges(list()))
})

test('what git says too much of is refused in words', () => {
  assert.throws(() => refuseLarge(new OutputTooLarge('blame', 5)), { code: 'PAYLOAD_TOO_LARGE' })
  assert.throws(() => refuseLarge(new Error('other')), { message: 'other' })
})
