import type { RefName } from '../git/names.ts'
import { globProblem, globs } from '../platform/globs.ts'

/** The default branch, whichever that is. */
export const DEFAULT_BRANCH = 'HEAD'

const BRANCHES = 'refs/heads/'

/** Longer names are compared with no pattern: that would take too long. */
const MAX_COMPARED = 255

/** Undefined for a name that is too long to be compared. */
type MatchesRef = (ref: RefName, defaultBranch: RefName) => boolean | undefined

/** What is wrong with a pattern, or undefined. */
export const refPatternProblem = (pattern: string): string | undefined => globProblem(pattern)

/**
 * Whether a ref matches one of the patterns and none of those that begin with `!`. One that begins with `refs/` is
 * compared with full names, any other with the names of branches.
 */
export function compileRefPatterns(patterns: readonly string[]): MatchesRef {
  const parts = patterns.map((pattern) => {
    const isNegated = pattern.startsWith('!')
    return { isNegated, matches: compileOne(isNegated ? pattern.slice(1) : pattern) }
  })
  const wanted = parts.filter(({ isNegated }) => !isNegated)
  const unwanted = parts.filter(({ isNegated }) => isNegated)
  return (ref, defaultBranch) => {
    if (ref.length > MAX_COMPARED) return undefined
    const isMatch = ({ matches }: (typeof parts)[number]) => matches(ref, defaultBranch)
    return (wanted.length === 0 || wanted.some(isMatch)) && !unwanted.some(isMatch)
  }
}

function compileOne(pattern: string): (ref: RefName, defaultBranch: RefName) => boolean {
  if (pattern === DEFAULT_BRANCH) return (ref, defaultBranch) => ref === defaultBranch
  const isMatch = globs([pattern])
  if (pattern.startsWith('refs/')) return (ref) => isMatch(ref)
  return (ref) => ref.startsWith(BRANCHES) && isMatch(ref.slice(BRANCHES.length))
}
