// How many lines a change adds and takes away, as git counts them. That takes no diff, only the smallest number of lines
// that can make one text out of another: where git finds that number too, the counts are the same.

interface LineCounts {
  additions: number
  deletions: number
}

/** Git gives up looking for the smallest change at more than twice this. */
const MAX_CHANGES = 200
/** Equal lines passed on the way: what nobody waits for too long. */
const MAX_PASSED = 2_000_000
/** Git takes what is so frequent for noise. */
const FREQUENT = 1024

/** Undefined where git may find a larger change than the smallest. */
export function countLines(before: Buffer, after: Buffer): LineCounts | undefined {
  const ids = new Map<string, number>()
  const [olds, news] = [numbered(before, ids), numbered(after, ids)]
  let start = 0
  while (start < olds.length && start < news.length && olds[start] === news[start]) start++
  let [oldEnd, newEnd] = [olds.length, news.length]
  while (oldEnd > start && newEnd > start && olds[oldEnd - 1] === news[newEnd - 1]) {
    oldEnd--
    newEnd--
  }
  const [gone, come] = [olds.slice(start, oldEnd), news.slice(start, newEnd)]
  const kept = withoutUnmatched(gone, news, olds.length)
  const found = withoutUnmatched(come, olds, news.length)
  if (!kept || !found) return undefined
  const distance = distanceOf(kept, found)
  if (distance === undefined) return undefined
  // Of those that both have, each one that goes away or comes in is a step.
  const shared = (kept.length + found.length - distance) / 2
  return { additions: come.length - shared, deletions: gone.length - shared }
}

/** A number for each line, equal where the lines are. */
function numbered(text: Buffer, ids: Map<string, number>): number[] {
  const lines = text.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []
  return lines.map((line) => {
    const id = ids.get(line) ?? ids.size
    ids.set(line, id)
    return id
  })
}

/**
 * The lines that the other text has too. Git leaves out frequent ones as well, when they stand among those it leaves out
 * anyway; then the change it finds may not be the smallest, and this gives undefined.
 */
function withoutUnmatched(
  lines: readonly number[],
  other: readonly number[],
  lineCount: number,
): number[] | undefined {
  const counts = new Map<number, number>()
  for (const line of other) counts.set(line, (counts.get(line) ?? 0) + 1)
  const isUnmatched = (line: number) => !counts.has(line)
  const isFrequent = (line: number) => {
    const count = counts.get(line) ?? 0
    return count >= FREQUENT || count * count >= lineCount
  }
  let afterUnmatched = false
  let frequentAfterUnmatched = false
  for (const line of lines) {
    if (isUnmatched(line)) {
      if (frequentAfterUnmatched) return undefined
      afterUnmatched = true
    } else if (isFrequent(line)) frequentAfterUnmatched = afterUnmatched
    else {
      afterUnmatched = false
      frequentAfterUnmatched = false
    }
  }
  return lines.filter((line) => !isUnmatched(line))
}

/** The smallest number of insertions and deletions; undefined beyond the bound. */
function distanceOf(a: readonly number[], b: readonly number[]): number | undefined {
  /** How far into `a` one gets on each diagonal, with as many steps as have been made. */
  const reached = new Int32Array(2 * MAX_CHANGES + 3)
  const middle = MAX_CHANGES + 1
  const at = (diagonal: number) => reached[middle + diagonal] ?? 0
  let passed = 0
  for (let steps = 0; steps <= MAX_CHANGES; steps++)
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      const isDown = diagonal === -steps || (diagonal < steps && at(diagonal - 1) < at(diagonal + 1))
      const start = steps === 0 ? 0 : isDown ? at(diagonal + 1) : at(diagonal - 1) + 1
      let x = start
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++
      passed += x - start
      if (passed > MAX_PASSED) return undefined
      if (x >= a.length && x - diagonal >= b.length) return steps
      reached[middle + diagonal] = x
    }
  return undefined
}
