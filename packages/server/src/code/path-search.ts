import { createPauses } from '../platform/pauses.ts'

/** A path that matches: the smaller, the better. */
interface Found {
  path: string
  rank: number
}

const MAX_WORDS = 16
const AT_ONCE = 500

/**
 * The paths that match a query best. All its words are in a path that matches, in any order, whether large or small; one
 * word alone may also be spread over it. What is in the name of the file itself counts more, and so does a short path.
 */
export async function searchPaths(
  paths: readonly string[],
  { query, limit, signal }: { query: string; limit: number; signal: AbortSignal },
): Promise<{ paths: string[]; truncated: boolean }> {
  const words = query.toLowerCase().trim().split(/\s+/).slice(0, MAX_WORDS)
  const pause = createPauses()
  let best: Found[] = []
  let count = 0
  for (const [i, path] of paths.entries()) {
    if (i % AT_ONCE === 0) {
      await pause()
      signal.throwIfAborted()
    }
    const rank = rankOf(path.toLowerCase(), words)
    if (rank === undefined) continue
    count++
    best.push({ path, rank })
    if (best.length >= 4 * limit) best = cut(best, limit)
  }
  return { paths: cut(best, limit).map(({ path }) => path), truncated: count > limit }
}

/** Those of one rank stay as they are: the shorter first, then in the order of the tree. */
const cut = (found: readonly Found[], limit: number): Found[] =>
  found.toSorted((a, b) => a.rank - b.rank || a.path.length - b.path.length).slice(0, limit)

function rankOf(path: string, words: readonly string[]): number | undefined {
  const start = path.lastIndexOf('/') + 1
  const [first = ''] = words
  if (words.every((word) => path.includes(word))) {
    if (words.length === 1 && path.length - start === first.length && path.endsWith(first)) return 0
    const last = words.at(-1) ?? ''
    if (path.startsWith(last, start)) return 1
    return words.every((word) => path.includes(word, start)) ? 2 : 3
  }
  if (words.length > 1 || !isSpreadOver(first, path, 0)) return undefined
  return isSpreadOver(first, path, start) ? 4 : 5
}

/** Whether its characters are all there, in their order. */
function isSpreadOver(word: string, path: string, start: number): boolean {
  let at = start
  for (const character of word) {
    const found = path.indexOf(character, at)
    if (found < 0) return false
    at = found + character.length
  }
  return true
}
