import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePatch, rangeOf, widen } from '../../packages/console/src/pages/changes/diff/patch.ts'
import { markDifference, type Row, toRows } from '../../packages/console/src/pages/changes/diff/rows.ts'

const HEAD = 'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n'
const PATCH = `${HEAD}@@ -8,7 +8,8 @@ function f
 8
 9
 10
-eleven
+11
+more
 12
 13
 14
`
/** The same with everything around it, of 40 lines. */
const WHOLE = `${HEAD}@@ -1,40 +1,41 @@
${Array.from({ length: 40 }, (_, i) => (i === 10 ? '-eleven\n+11\n+more' : ` ${i + 1}`)).join('\n')}
`

const seen = (row: Row): string =>
  row.kind === 'gap'
    ? `${row.gap.from}..${row.gap.to ?? ''}`
    : row.kind === 'line'
      ? `${row.cell.line.before ?? ''}|${row.cell.line.after ?? ''} ${row.cell.line.text}`
      : `${row.before?.line.text ?? ''} | ${row.after?.line.text ?? ''}`

describe('a patch', () => {
  it('is read with the numbers of its lines on both sides', () => {
    const rows = toRows(parsePatch(PATCH), { view: 'unified', hasGaps: true })
    assert.deepEqual(rows.map(seen), [
      '1..8',
      ...[
        '8|8 8',
        '9|9 9',
        '10|10 10',
        '11| eleven',
        '|11 11',
        '|12 more',
        '12|13 12',
        '13|14 13',
        '14|15 14',
      ],
      '16..',
    ])
  })

  it('stands side by side, what came in the place of what went', () => {
    const rows = toRows(parsePatch(PATCH), { view: 'split', hasGaps: false })
    assert.deepEqual(rows.slice(2, 6).map(seen), ['10 | 10', 'eleven | 11', ' | more', '12 | 12'])
  })

  it('shows more around its changes, and ends where the file does', () => {
    const whole = parsePatch(WHOLE)
    const end = rangeOf(whole[0] ?? assert.fail()).to
    const rows = toRows(widen(parsePatch(PATCH), whole, [{ from: 4, to: 8 }]), {
      ...{ view: 'unified', hasGaps: true, end },
    })
    assert.deepEqual(rows.slice(0, 3).map(seen), ['1..4', '4|4 4', '5|5 5'])
    assert.equal(seen(rows.at(-1) ?? assert.fail()), '16..42')
    const all = toRows(widen(parsePatch(PATCH), whole, [{ from: 1, to: 42 }]), {
      ...{ view: 'unified', hasGaps: true, end },
    })
    assert.equal(all.length, 42)
    assert.ok(all.every(({ kind }) => kind === 'line'))
  })

  it('takes lines that look like heads for what they are, and knows an end without a line break', () => {
    const [hunk] = parsePatch(`${HEAD}@@ -1 +1 @@\n--- a\n+++ b\n\\ No newline at end of file\n`)
    assert.deepEqual(hunk?.lines, [
      { kind: 'removed', text: '-- a', before: 1 },
      { kind: 'added', text: '++ b', after: 1, unended: true },
    ])
  })

  it('marks what differs in a line by whole words', () => {
    const [before, after] = ['const total = count + 1', 'const total = counter + 1']
    const marks = markDifference(before, after) ?? assert.fail()
    assert.equal(before.slice(marks.before.from, marks.before.to), 'count')
    assert.equal(after.slice(marks.after.from, marks.after.to), 'counter')
    assert.equal(markDifference('one thing', 'something else entirely'), undefined)
  })
})
