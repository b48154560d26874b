import type { Caller } from '../access/caller.ts'
import { type BlamedRange, blameLines } from '../git/objects/blame.ts'
import { ObjectMissing } from '../git/objects/reader.ts'
import { Fault, invalid } from '../platform/fault.ts'
import { createRecent } from '../platform/recent.ts'
import { type BrowsingDeps, refuseLarge, requirePath } from './browsing.ts'
import { summarizeAll } from './commit-summaries.ts'
import { directoryName } from './repositories.ts'
import { weighRanges } from './weights.ts'

interface BlameInput {
  name: string
  ref?: string | undefined
  path: string
  startLine: number
  endLine?: number | undefined
}

const MAX_FILE_BYTES = 2 * 1024 * 1024
/** Of one answer. */
const MAX_LINES = 1_000
const MAX_ANSWERS = 500
/** Of all answers that are kept. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024
/** How far git looks for a zero, which is in no text. */
const LOOKED_AT = 8_000

export type BlamesService = ReturnType<typeof createBlamesService>

/** Which commit each line of a file comes from. */
export function createBlamesService({ repos, repositories, revisions }: BrowsingDeps) {
  /** Of one commit it is always the same, and git goes far for it. */
  const kept = createRecent<string, readonly BlamedRange[]>({
    maxEntries: MAX_ANSWERS,
    weight: { of: weighRanges, max: MAX_KEPT_BYTES },
  })

  return {
    async read(caller: Caller, input: BlameInput, signal: AbortSignal) {
      const path = requirePath(input.path)
      const { startLine } = input
      if (input.endLine !== undefined && input.endLine < startLine)
        throw invalid(['endLine'], 'It ends before it begins')
      const repo = await repos.open(caller, input.name, 'repo:read')
      const { commit, oid, lines } = await repositories.withObjects(repo, signal, async (objects) => {
        const commit = await revisions.commitIn(objects, repo, input.ref)
        const entry = await objects.findAt(commit, path)
        if (entry?.type !== 'blob')
          throw new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: input.path })
        const bytes = await objects.findBlob(entry.oid, MAX_FILE_BYTES).catch(refuseLarge)
        if (!bytes) throw new ObjectMissing(entry.oid)
        if (bytes.subarray(0, LOOKED_AT).includes(0))
          throw invalid(['path'], 'This is a binary file, which has no lines')
        return { commit, oid: entry.oid, lines: countLines(bytes) }
      })
      const endLine = Math.min(lines, input.endLine ?? lines, startLine + MAX_LINES - 1)
      const answer = { commit, path: input.path, oid, lines }
      if (startLine > lines) return { ...answer, ranges: [], commits: [], nextLine: null }

      const key = [directoryName(repo), commit, startLine, endLine, path].join(' ')
      const ranges =
        kept.get(key) ??
        (await repositories.withGit(repo, signal, (opened) =>
          blameLines(opened, { commit, path, startLine, endLine }).catch(refuseLarge),
        ))
      kept.set(key, ranges)
      const oids = new Set(ranges.map((range) => range.commit))
      const commits = await repositories.withObjects(repo, signal, (objects) =>
        summarizeAll(objects, [...oids]),
      )
      const hasMore = endLine < Math.min(lines, input.endLine ?? lines)
      return {
        ...answer,
        ranges: [...ranges],
        commits,
        nextLine: hasMore ? endLine + 1 : null,
      }
    },
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++
  return bytes.length > 0 && bytes.at(-1) !== 0x0a ? lines + 1 : lines
}
