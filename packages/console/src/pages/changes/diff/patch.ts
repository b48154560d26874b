/** A line of a patch, with its number in the file before and after. */
export interface Line {
  kind: 'same' | 'added' | 'removed'
  text: string
  before?: number
  after?: number
  /** The last of a file, and nothing ends it. */
  unended?: true
}

/** Lines that stand together. */
export interface Hunk {
  /** The first line of each side, also where that side has none. */
  before: number
  after: number
  /** What git says the lines are in, such as a function. */
  heading: string
  lines: Line[]
}

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/

/** Reads the unified diff of a file. What stands before its first hunk is known otherwise. */
export function parsePatch(patch: string): Hunk[] {
  const hunks: Hunk[] = []
  let hunk: Hunk | undefined
  let [before, after] = [0, 0]
  for (const row of patch.split('\n')) {
    const head = HEAD.exec(row)
    if (head) {
      const [, from, to, heading = ''] = head
      // A side without lines is numbered by the line before it.
      before = Math.max(1, Number(from))
      after = Math.max(1, Number(to))
      hunk = { before, after, heading, lines: [] }
      hunks.push(hunk)
      continue
    }
    if (row.startsWith('diff --git ')) hunk = undefined
    if (!hunk) continue
    const text = row.slice(1)
    if (row[0] === '+') hunk.lines.push({ kind: 'added', text, after: after++ })
    else if (row[0] === '-') hunk.lines.push({ kind: 'removed', text, before: before++ })
    else if (row[0] === ' ') hunk.lines.push({ kind: 'same', text, before: before++, after: after++ })
    else if (row[0] === '\\') markUnended(hunk)
  }
  return hunks
}

function markUnended({ lines }: Hunk): void {
  const last = lines.at(-1)
  if (last) last.unended = true
}

/** Lines of the file as it is now, from one up to another. */
export interface Range {
  from: number
  to: number
}

/**
 * The same change with more around it: what the hunks show, and lines that were asked for besides. `whole` is the same
 * file with as much around its changes as there is.
 */
export function widen(hunks: readonly Hunk[], whole: readonly Hunk[], asked: readonly Range[]): Hunk[] {
  const shown = [...hunks.map(rangeOf), ...asked]
  const isShown = (line: Line) =>
    line.kind !== 'same' ||
    shown.some(({ from, to }) => Number(line.after) >= from && Number(line.after) < to)
  return whole.flatMap((hunk) => cut(hunk, isShown, hunks))
}

/** The runs of lines of a hunk that are shown. */
function cut(whole: Hunk, isShown: (line: Line) => boolean, hunks: readonly Hunk[]): Hunk[] {
  const runs: Hunk[] = []
  let run: Hunk | undefined
  let [before, after] = [whole.before, whole.after]
  for (const line of whole.lines) {
    if (isShown(line)) {
      if (!run) {
        const heading = hunks.find((hunk) => hunk.after === after)?.heading ?? ''
        run = { before, after, heading, lines: [] }
        runs.push(run)
      }
      run.lines.push(line)
    } else run = undefined
    if (line.before !== undefined) before = line.before + 1
    if (line.after !== undefined) after = line.after + 1
  }
  return runs
}

export function rangeOf({ after, lines }: Hunk): Range {
  return { from: after, to: after + lines.filter(({ kind }) => kind !== 'removed').length }
}

/** Git shows so many lines around a change, unless the file begins or ends there. */
export const CONTEXT = 3

/** Whether a file goes on after its last hunk. */
export function goesOn({ lines }: Hunk): boolean {
  const last = lines.findLastIndex(({ kind }) => kind !== 'same')
  return lines.length - 1 - last >= CONTEXT && !lines.at(-1)?.unended
}
