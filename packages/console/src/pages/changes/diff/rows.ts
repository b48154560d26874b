import { goesOn, type Hunk, type Line, type Range, rangeOf } from './patch.ts'

/** A part of a line that differs from the line it stands against. */
export interface Mark {
  from: number
  to: number
}

export interface Cell {
  line: Line
  mark?: Mark
}

/** Lines that are not shown: up to `to`, or to the end of the file. */
export interface Gap {
  from: number
  to: number | undefined
  heading: string
}

export type Row =
  | { kind: 'gap'; gap: Gap }
  | { kind: 'line'; cell: Cell }
  | { kind: 'pair'; before?: Cell; after?: Cell }

export type View = 'split' | 'unified'

interface Shape {
  view: View
  /** Whether there can be lines that are not shown: not in a file that is new or gone. */
  hasGaps: boolean
  /** The line after the last, where the whole file was read. */
  end?: number | undefined
}

/** What is drawn of a file, a row a line. */
export function toRows(hunks: readonly Hunk[], { view, hasGaps, end }: Shape): Row[] {
  const rows: Row[] = []
  let next = 1
  for (const hunk of hunks) {
    if (hasGaps && hunk.after > next)
      rows.push({ kind: 'gap', gap: { from: next, to: hunk.after, heading: hunk.heading } })
    for (const run of runsOf(hunk.lines)) rows.push(...(view === 'split' ? toPairs(run) : toLines(run)))
    next = rangeOf(hunk).to
  }
  const last = hunks.at(-1)
  if (hasGaps && last && (end === undefined ? goesOn(last) : next < end))
    rows.push({ kind: 'gap', gap: { from: next, to: end, heading: '' } })
  return rows
}

/** Lines that are the same, or lines removed and the lines added in their place. */
interface Run {
  same: Line[]
  removed: Line[]
  added: Line[]
}

function runsOf(lines: readonly Line[]): Run[] {
  const runs: Run[] = []
  let run: Run = { same: [], removed: [], added: [] }
  const start = () => {
    run = { same: [], removed: [], added: [] }
    runs.push(run)
  }
  start()
  for (const line of lines) {
    const isChange = line.kind !== 'same'
    const isOver = isChange
      ? run.same.length > 0 || (line.kind === 'removed' && run.added.length > 0)
      : run.removed.length + run.added.length > 0
    if (isOver) start()
    run[line.kind].push(line)
  }
  return runs
}

function toLines({ same, removed, added }: Run): Row[] {
  const cells = pair({ removed, added })
  return [
    ...same.map((line): Row => ({ kind: 'line', cell: { line } })),
    ...cells.flatMap(({ before }): Row[] => (before ? [{ kind: 'line', cell: before }] : [])),
    ...cells.flatMap(({ after }): Row[] => (after ? [{ kind: 'line', cell: after }] : [])),
  ]
}

const toPairs = ({ same, removed, added }: Run): Row[] => [
  ...same.map((line): Row => ({ kind: 'pair', before: { line }, after: { line } })),
  ...pair({ removed, added }).map((cells): Row => ({ kind: 'pair', ...cells })),
]

function pair({ removed, added }: Pick<Run, 'removed' | 'added'>): { before?: Cell; after?: Cell }[] {
  // Where as many came as went, each is likely to have become the one at its place.
  const areAlike = removed.length === added.length
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, i) => {
    const [before, after] = [removed[i], added[i]]
    const marks = areAlike && before && after ? markDifference(before.text, after.text) : undefined
    return {
      ...(before && { before: { line: before, ...(marks && { mark: marks.before }) } }),
      ...(after && { after: { line: after, ...(marks && { mark: marks.after }) } }),
    }
  })
}

/** Longer ones are not looked at closely. */
const MAX_LENGTH = 1_000
const WORD = /[\p{L}\p{N}_]/u

/** What differs between two lines, by whole words; undefined where they have little in common. */
export function markDifference(before: string, after: string): { before: Mark; after: Mark } | undefined {
  const least = Math.min(before.length, after.length)
  if (Math.max(before.length, after.length) > MAX_LENGTH) return undefined
  let start = 0
  while (start < least && before[start] === after[start]) start++
  let end = 0
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++
  if ((start + end) * 3 < Math.max(before.length, after.length)) return undefined
  const isWord = (text: string, at: number) => WORD.test(text.charAt(at))
  const splitsStart = () =>
    isWord(before, start - 1) && (isWord(before, start) || isWord(after, start)) && start > 0
  while (splitsStart()) start--
  const splitsEnd = () =>
    end > 0 &&
    isWord(before, before.length - end) &&
    (isWord(before, before.length - end - 1) || isWord(after, after.length - end - 1))
  while (splitsEnd()) end--
  return { before: { from: start, to: before.length - end }, after: { from: start, to: after.length - end } }
}

/** How many columns the longest line takes, tabs counted as they are shown. */
export function widthOf(rows: readonly Row[]): number {
  let most = 0
  for (const row of rows)
    for (const cell of row.kind === 'line' ? [row.cell] : row.kind === 'pair' ? [row.before, row.after] : [])
      if (cell) most = Math.max(most, columnsOf(cell.line.text))
  return most
}

const TAB = 4
function columnsOf(text: string): number {
  if (!text.includes('\t')) return text.length
  let columns = 0
  for (const letter of text) columns += letter === '\t' ? TAB - (columns % TAB) : 1
  return columns
}

/** The row a line of the file is in, or -1. */
export const rowOf = (rows: readonly Row[], { side, line }: { side: 'L' | 'R'; line: number }): number =>
  rows.findIndex((row) => {
    if (row.kind === 'gap') return false
    const cell = row.kind === 'line' ? row.cell : side === 'L' ? row.before : row.after
    return (side === 'L' ? cell?.line.before : cell?.line.after) === line
  })

const STEP = 20

/** The lines a gap gives way to first: all of a small one, else those next to what is shown above or below it. */
export function nextOf({ from, to }: Gap, side: 'above' | 'below'): Range {
  if (to !== undefined && to - from <= 2 * STEP) return { from, to }
  return side === 'above' || to === undefined ? { from, to: from + STEP } : { from: to - STEP, to }
}
