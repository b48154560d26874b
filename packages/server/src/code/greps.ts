import type { Caller } from '../access/caller.ts'
import { parseTreePath, type TreePath } from '../git/names.ts'
import { type FoundLine, grepLines } from '../git/objects/grep.ts'
import { invalid } from '../platform/fault.ts'
import { type Effort, globProblem, globs } from '../platform/globs.ts'
import { type BrowsingDeps, type Paged, readPlace, requirePath, writePlace } from './browsing.ts'

interface GrepInput extends Paged {
  name: string
  ref?: string | undefined
  query: string
  path?: string | undefined
  globs?: readonly string[] | undefined
  caseSensitive: boolean
}

/** Of all pages. */
const MAX_FOUND = 1_000
/** Found by git, for one answer, whether they are wanted or not. */
const MAX_LOOKED_AT = 100_000
/** Of comparing paths with patterns, for one answer: some hundred milliseconds. */
const MAX_STEPS = 10_000_000

export type GrepsService = ReturnType<typeof createGrepsService>

/** Finding text in the files of a commit. */
export function createGrepsService({ repos, repositories, revisions }: BrowsingDeps) {
  return {
    async search(caller: Caller, input: GrepInput, signal: AbortSignal) {
      const path = input.path === undefined ? undefined : requirePath(input.path)
      const effort: Effort = { steps: MAX_STEPS }
      const isWanted = pathFilter(input.globs ?? [], effort)
      const repo = await repos.open(caller, input.name, 'repo:read')
      const place = readPlace(input.cursor)
      const commit = await revisions.commitAt(repo, place?.oid ?? input.ref, signal)
      const offset = place?.offset ?? 0
      const end = Math.min(offset + input.limit, MAX_FOUND)

      const found: FoundLine[] = []
      let count = 0
      let lookedAt = 0
      // One more than is wanted tells that there are more.
      const take = (line: FoundLine) => {
        if (isWanted(line.path) && count++ >= offset) found.push(line)
        return count <= end && effort.steps >= 0 && ++lookedAt < MAX_LOOKED_AT
      }
      const { query: text, caseSensitive } = input
      const paths = path ? [path] : leadsOf(input.globs ?? [])
      const isAll = await repositories.withGit(repo, signal, (opened) =>
        grepLines(opened, { commit, text, caseSensitive, paths }, take),
      )
      const hasMore = count > end && end < MAX_FOUND
      return {
        commit,
        items: found.slice(0, end - offset),
        nextCursor: hasMore ? writePlace({ oid: commit, offset: end }) : null,
        truncated: !isAll && !hasMore,
      }
    },
  }
}

function pathFilter(patterns: readonly string[], effort: Effort): (path: string) => boolean {
  for (const [i, pattern] of patterns.entries()) {
    const problem = globProblem(pattern)
    if (problem) throw invalid(['globs', i], problem)
  }
  if (patterns.length === 0) return () => true
  const matches = globs(patterns)
  // All lines of a file come together.
  let last: { path: string; isWanted: boolean } | undefined
  return (path) => {
    if (last?.path !== path) last = { path, isWanted: matches(path, effort) }
    return last.isWanted
  }
}

/** Below which paths everything is that patterns match, where they say so: git need not look elsewhere. */
function leadsOf(patterns: readonly string[]): TreePath[] {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'))
  const leads = wanted.map((pattern) => {
    const parts = pattern.split('/')
    const special = parts.findIndex((part) => /[*?[{]/.test(part))
    return parseTreePath((special < 0 ? parts : parts.slice(0, special)).join('/'))
  })
  return leads.every((lead) => lead !== undefined) ? leads : []
}
